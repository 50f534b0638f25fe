package wire_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func sent(t *testing.T, write func(*wire.Writer) error) []byte {
	t.Helper()
	var to bytes.Buffer
	backendtest.Must(t, write(wire.NewWriter(&to)))
	return to.Bytes()
}

func received(from []byte) (payloads []string) {
	in := wire.NewReader(bytes.NewReader(from))
	for {
		f, err := in.Next()
		if err != nil {
			return payloads
		}
		payloads = append(payloads, string(f.Payload))
	}
}

func TestAReaderFindsFramesWhereverItStarts(t *testing.T) {
	t.Parallel()
	send := func(text string) []byte {
		return sent(t, func(w *wire.Writer) error {
			return w.Send(wire.Frame{Kind: wire.Output, Stream: 7, Payload: []byte(text)})
		})
	}
	first, second := send("first"), send("second")
	lookalike := send(string(send("inner"))) // a frame whose payload is a frame
	damaged := slices.Clone(first)
	damaged[len(damaged)-1] ^= 1
	resync := sent(t, (*wire.Writer).Resync)
	for _, c := range []struct {
		name string
		from [][]byte
		want []string
	}{
		{"at a frame", [][]byte{first, second}, []string{"first", "second"}},
		{"in a header", [][]byte{first[3:], second}, []string{"second"}},
		{"in a payload", [][]byte{first[20:], second}, []string{"second"}},
		{"after noise", [][]byte{[]byte("Welcome!\r\n\xb5blf"), first}, []string{"first"}},
		{"before a damaged frame", [][]byte{damaged, second}, []string{"second"}},
		{"before a frame that was left unfinished", [][]byte{first[:22], resync, second}, []string{"second"}},
		{"before a header that was left unfinished", [][]byte{first[:9], resync, second}, []string{"second"}},
		{"at a payload that looks like a frame", [][]byte{lookalike, second}, []string{string(send("inner")), "second"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := received(bytes.Join(c.from, nil)); !slices.Equal(got, c.want) {
				t.Errorf("received %q, want %q", got, c.want)
			}
		})
	}
}

func TestALongMessageIsFramesOfWhichTheLastIsMarked(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, wire.MaxPayload, wire.MaxPayload + 1, 3 * wire.MaxPayload} {
		message := []byte(strings.Repeat("m", size))
		in := wire.NewReader(bytes.NewReader(sent(t, func(w *wire.Writer) error { return w.SendAll(wire.Start, 1, message) })))
		var got []byte
		for last := false; !last; {
			f, err := in.Next()
			backendtest.Must(t, err)
			got, last = append(got, f.Payload...), f.Last
		}
		if _, err := in.Next(); !bytes.Equal(got, message) || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes came as %d, then %v", size, len(got), err)
		}
	}
}

func TestAFrameBearsAnEpochBesideTheLargestPayload(t *testing.T) {
	t.Parallel()
	for _, epoch := range []int64{0, 1, 1 << 62} {
		for _, size := range []int{0, wire.MaxPayload} {
			in := wire.NewReader(bytes.NewReader(sent(t, func(w *wire.Writer) error {
				w.SetEpoch(epoch)
				return w.Send(wire.Frame{Kind: wire.Start, Stream: 7, Payload: make([]byte, size), Last: true})
			})))
			f, err := in.Next()
			if err != nil || f.Epoch != epoch || len(f.Payload) != size || !f.Last || f.Stream != 7 {
				t.Errorf("epoch %d beside %d bytes came as %d beside %d, %v", epoch, size, f.Epoch, len(f.Payload), err)
			}
		}
	}
}

func TestAGreetingOfAReleaseWithoutEpochsIsRead(t *testing.T) {
	t.Parallel()
	text := wire.Encode(wire.Greeting{Version: wire.Version, Nonce: "n", Linger: 9})
	g, err := wire.Decode[wire.Greeting](text[:len(text)-1]) // an epoch of zero is one byte, the last
	if err != nil || g.Epoch != 0 || g.Nonce != "n" || g.Linger != 9 {
		t.Errorf("it is read as %+v, %v", g, err)
	}
}

func FuzzDecoding(f *testing.F) {
	f.Add(wire.Encode(wire.Job{Argv: []string{"a", "b"}, Env: []string{"X=1"}, Dir: "/"}))
	f.Add(wire.Encode(wire.End{Code: 3, Dir: "/workspace", Dropped: 1 << 40}))
	f.Add(wire.Encode(wire.Greeting{Version: wire.Version, Nonce: "n", Linger: 1,
		Processes: []wire.Known{{Tag: "p", Over: true, End: wire.End{Code: 1}}}}))
	f.Add(wire.Encode(wire.Inquiry{Tag: "p", Asker: 7, Offset: 9, Most: 5, Data: []byte("x")}))
	f.Add(wire.Encode(wire.OutletTerms{Most: 256, CA: []byte("-----BEGIN CERTIFICATE-----")}))
	f.Add(wire.Encode(wire.OutletFacts{Port: 3128, CAFile: "/run/bailiff/ca.pem", Bundle: "/run/bailiff/bundle.pem", Fault: "none"}))
	f.Add(wire.Encode(wire.Arrival{Label: 7, Number: 300, Port: 443}))
	f.Add(wire.Encode(wire.Name{Number: 300, Ports: []int{443, 22}, Answer: "answer", Failure: "failure"}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if name, err := wire.Decode[wire.Name](b); err == nil {
			again, err := wire.Decode[wire.Name](wire.Encode(name))
			if err != nil || !slices.Equal(again.Ports, name.Ports) || again.Answer != name.Answer || again.Failure != name.Failure {
				t.Errorf("%+v became %+v, %v", name, again, err)
			}
		}
		if terms, err := wire.Decode[wire.OutletTerms](b); err == nil {
			again, err := wire.Decode[wire.OutletTerms](wire.Encode(terms))
			if err != nil || again.Most != terms.Most || !bytes.Equal(again.CA, terms.CA) {
				t.Errorf("%+v became %+v, %v", terms, again, err)
			}
		}
		if facts, err := wire.Decode[wire.OutletFacts](b); err == nil {
			if again, err := wire.Decode[wire.OutletFacts](wire.Encode(facts)); err != nil || again != facts {
				t.Errorf("%+v became %+v, %v", facts, again, err)
			}
		}
		if job, err := wire.Decode[wire.Job](b); err == nil {
			again, err := wire.Decode[wire.Job](wire.Encode(job))
			if err != nil || !slices.Equal(again.Argv, job.Argv) || again.Dir != job.Dir {
				t.Errorf("%+v became %+v, %v", job, again, err)
			}
		}
		_, _ = wire.Decode[wire.End](b)
		if g, err := wire.Decode[wire.Greeting](b); err == nil && g.Version == wire.Version {
			again, err := wire.Decode[wire.Greeting](wire.Encode(g))
			if err != nil || again.Nonce != g.Nonce || again.Linger != g.Linger || !slices.Equal(again.Processes, g.Processes) {
				t.Errorf("%+v became %+v, %v", g, again, err)
			}
		}
		_, _ = wire.Decode[wire.Known](b)
		_, _ = wire.Decode[wire.Query](b)
		_, _ = wire.Decode[wire.Arrival](b)
		_, _ = wire.DecodeTerms(b)
		_, _ = wire.Decode[wire.Inquiry](b)
		_, _ = wire.Decode[wire.Piece](b)
		_, _ = wire.Decode[wire.Refusal](b)
		received(b)
	})
}

func TestARefusalFitsInAFrameWhateverItQuotes(t *testing.T) {
	t.Parallel()
	text := wire.Encode(wire.Refusal{Reason: wire.Unfit, Text: strings.Repeat("x", 2*wire.MaxPayload)})
	if r, err := wire.Decode[wire.Refusal](text); err != nil || r.Reason != wire.Unfit || len(r.Text) == 0 || len(text) > wire.MaxPayload {
		t.Errorf("got %d bytes of text in %d, error %v", len(r.Text), len(text), err)
	}
}

// gate is a stream on which each write waits until it is let through.
type gate struct {
	through chan struct{}
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.through
	return g.Buffer.Write(p)
}

func TestWhatIsUrgentPassesWhatIsNotWithinABound(t *testing.T) {
	t.Parallel()
	const urgentFrames = 40
	g := &gate{through: make(chan struct{})}
	w := wire.NewWriter(g)
	var all sync.WaitGroup
	send := func(text string, by func(wire.Frame) error) {
		all.Go(func() {
			if err := by(wire.Frame{Kind: wire.Carry, Stream: 1, Payload: []byte(text)}); err != nil {
				t.Errorf("sending %s: %v", text, err)
			}
		})
	}
	send("first", w.Send) // which holds the stream until the others have come
	backendtest.Await(t, "the first frame is written", w.Busy)
	send("bulk", w.SendBulk)
	backendtest.Await(t, "the frame of the second lane waits", func() bool { _, patient := w.Waiting(); return patient == 1 })
	for range urgentFrames {
		send("urgent", w.Send)
	}
	backendtest.Await(t, "all frames wait", func() bool { urgent, _ := w.Waiting(); return urgent == urgentFrames })
	for range urgentFrames + 2 {
		g.through <- struct{}{}
	}
	all.Wait()
	got := received(g.Bytes())
	if at := slices.Index(got, "bulk"); len(got) != urgentFrames+2 || at != wire.Fairness+1 {
		t.Errorf("the frame of the second lane was number %d of %d, want %d of %d", at, len(got), wire.Fairness+1, urgentFrames+2)
	}
}
