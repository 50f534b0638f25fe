package runner_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// querying is a client whose runner of the test's says the frames once the outlet is open, and what the client answers.
func querying(t *testing.T, lookUp func(uint32, []byte) backends.Name, place runner.Place, says ...wire.Frame) (*runner.Client,
	backends.OutletFacts, chan wire.Frame) {
	t.Helper()
	said, isOpen := make(chan wire.Frame, 1000), make(chan struct{})
	client, err := runner.Attach(t.Context(), answering(polite(wire.Version, func(f wire.Frame, out *wire.Writer) {
		if f.Kind != wire.Outlet {
			f.Payload = append([]byte{}, f.Payload...)
			said <- f
			return
		}
		_ = out.SendAll(wire.OutletReady, f.Stream, wire.Encode(wire.OutletFacts{Port: 3128}))
		go func() { // an outlet that opens while its conversation ends may as well fail
			<-isOpen
			for _, f := range says {
				f.Last = true
				_ = out.Send(f)
			}
		}()
	})), place)
	backendtest.Must(t, err)
	t.Cleanup(func() { client.Close() })
	facts, err := client.OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 1, LookUp: lookUp},
		func(c backends.OutletConn) { c.Close() })
	close(isOpen)
	backendtest.Must(t, err)
	return client, facts, said
}

var leading = runner.Place{Outlet: true, Names: true}

func asking(stream uint32, text string) wire.Frame {
	return wire.Frame{Kind: wire.Asked, Stream: stream, Payload: wire.Encode(wire.Query{Label: 7, Text: text})}
}

func TestAQueryIsAnsweredWithWhatIsToBeReached(t *testing.T) {
	leadingTo := func(address string) backends.Name {
		return backends.Name{Answer: []byte("yes"), Failure: []byte("no"), Address: netip.MustParseAddr(address), Ports: []uint16{443}}
	}
	for name, c := range map[string]struct {
		answer backends.Name
		want   wire.Name
	}{
		"an address":            {leadingTo("127.128.1.2"), wire.Name{Number: 258, Ports: []int{443}, Answer: "yes", Failure: "no"}},
		"no address":            {backends.Name{Answer: []byte("unknown")}, wire.Name{Answer: "unknown"}},
		"nothing":               {backends.Name{}, wire.Name{}},
		"one that is no name's": {leadingTo("10.0.0.1"), wire.Name{Answer: "no"}},
		"one of IPv6":           {leadingTo("fd00::1"), wire.Name{Answer: "no"}},
		"that of the resolver":  {leadingTo(wire.Resolver), wire.Name{Answer: "no"}},
	} {
		_, facts, said := querying(t, func(label uint32, query []byte) backends.Name {
			if label != 7 || string(query) != "who" {
				t.Errorf("asked is %d, %q", label, query)
			}
			return c.answer
		}, leading, asking(3, "who"))
		f := <-said
		got, err := wire.Decode[wire.Name](f.Payload)
		if err != nil || !facts.Names || f.Kind != wire.Named || f.Stream != 3 || got.Number != c.want.Number ||
			!slices.Equal(got.Ports, c.want.Ports) || got.Answer != c.want.Answer || got.Failure != c.want.Failure {
			t.Errorf("%s is told as %+v, %v", name, got, err)
		}
	}
}

// A runner that asks more than it may, or where nothing is to be asked, is given up.
func TestARunnerThatAsksTooMuchEndsTheConversation(t *testing.T) {
	var many []wire.Frame
	for i := range uint32(70) {
		many = append(many, asking(10+i, "who"))
	}
	never := func(uint32, []byte) backends.Name { <-t.Context().Done(); return backends.Name{} }
	for name, c := range map[string]struct {
		lookUp func(uint32, []byte) backends.Name
		place  runner.Place
		says   []wire.Frame
	}{
		"many queries at once":              {never, leading, many},
		"a query that is too long":          {never, leading, []wire.Frame{asking(3, string(make([]byte, wire.MaxQuery+1)))}},
		"a query that is no message":        {never, leading, []wire.Frame{{Kind: wire.Asked, Stream: 3, Payload: []byte("x")}}},
		"one where none was allowed":        {nil, leading, []wire.Frame{asking(3, "who")}},
		"one where no program is led to it": {never, runner.Place{Outlet: true}, []wire.Frame{asking(3, "who")}},
		"a port that is none": {never, leading, []wire.Frame{{Kind: wire.Opened, Stream: 1,
			Payload: wire.Encode(wire.Arrival{Number: 300, Port: 1 << 16})}}},
	} {
		t.Run(name, func(t *testing.T) {
			client, facts, _ := querying(t, c.lookUp, c.place, c.says...)
			if facts.Names != (c.lookUp != nil && c.place.Names) {
				t.Errorf("the facts are %+v", facts)
			}
			<-client.Done()
		})
	}
}
