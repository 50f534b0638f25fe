package docker

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// openOutlet gives a sandbox an outlet, and tells of each connection once the program has said a line.
func openOutlet(t *testing.T, sb backends.Sandbox) (facts backends.OutletFacts, begun chan uint32) {
	t.Helper()
	begun = make(chan uint32, 1)
	facts, err := sb.(backends.Outlet).OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 8}, func(c backends.OutletConn) {
		defer c.Close()
		from := bufio.NewReader(c)
		if line, _ := from.ReadString('\n'); line == "echo\n" {
			_, _ = io.WriteString(c, "echoed\n")
			return
		}
		var number uint32
		if _, err := fmt.Sscanf(c.RemoteAddr().String(), "connection %d", &number); err != nil {
			t.Errorf("a connection is called %s: %v", c.RemoteAddr(), err)
		}
		begun <- number
		_, _ = io.Copy(io.Discard, from)
	})
	backendtest.Must(t, err)
	return facts, begun
}

// dialledBy is a script that says a word to an outlet, and then does more with descriptor 3.
func dialledBy(facts backends.OutletFacts, word, more string) string {
	return fmt.Sprintf("exec 3<>/dev/tcp/%s/%d && echo %s >&3 && %s", backends.OutletHost(1), facts.Port, word, more)
}

// A sidecar can die at any byte of what it says on a connection. The program gets none of it, its
// connection ends, and the next sidecar's are whole.
func TestHalfOfWhatTheFirstSidecarCarriesReachesNoProgram(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Network = backends.Egress
	sb := backendtest.Open(t, b, spec)
	facts, begun := openOutlet(t, sb)
	for _, said := range []int{1, 17, 18, 1000, wire.MaxPayload} {
		p, err := sb.Start(t.Context(), shell(dialledBy(facts, "hold", "tr -d '\\0' <&3 | head -c 100; echo over")), "held")
		backendtest.Must(t, err)
		var frame bytes.Buffer
		backendtest.Must(t, wire.NewWriter(&frame).SendBulk(wire.Frame{Kind: wire.Carry, Stream: <-begun,
			Payload: bytes.Repeat([]byte("x"), wire.MaxPayload)}))
		abandon(sb)
		sayOnly(t, b, sb.ID(), frame.Bytes()[:said])
		sb = adopt(t, b, sb.ID(), spec)
		known, err := sb.Processes(t.Context())
		if err != nil || len(known) != 1 || known[0].Tag() != p.Tag() {
			t.Fatalf("after %d bytes there are the processes %v, %v", said, known, err)
		}
		facts, begun = openOutlet(t, sb)
		if got := output(t, sb, dialledBy(facts, "echo", "cat <&3")); got != "echoed\n" {
			t.Errorf("after %d bytes of a frame the next connection brings %q", said, got)
		}
		<-known[0].Done()
		log, err := known[0].Log(t.Context(), 0, 1000)
		if err != nil || bytes.Contains(log.Data, []byte("x")) || !bytes.HasSuffix(log.Data, []byte("over\n")) {
			t.Errorf("after %d bytes the program of the first sidecar printed %.200q, %v", said, log.Data, err)
		}
		backendtest.Must(t, known[0].Forget(t.Context()))
	}
}

// Who attaches while programs send hears the runner from the middle of what a connection carries.
func TestASandboxIsAdoptedInTheMiddleOfWhatAConnectionCarries(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Network = backends.Egress
	sb := backendtest.Open(t, b, spec)
	facts, begun := openOutlet(t, sb)
	for range 10 {
		_, err := sb.Start(t.Context(), shell(dialledBy(facts, "flood", "yes >&3")), "flood")
		backendtest.Must(t, err)
		<-begun
		first := sb
		sb = adopt(t, b, first.ID(), spec)
		facts, begun = openOutlet(t, sb)
		if got := output(t, sb, dialledBy(facts, "echo", "cat <&3")); got != "echoed\n" {
			t.Errorf("the next connection brings %q", got)
		}
		abandon(first)
		known, err := sb.Processes(t.Context())
		backendtest.Must(t, err)
		for _, one := range known {
			<-one.Done() // its connection was the first sidecar's
			backendtest.Must(t, one.Forget(t.Context()))
		}
	}
}
