package carrier_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
)

// both are the two sides of a conversation over text, and what the one that asks
// hears before the other opens.
func both(t *testing.T, before string) (asking, resident io.ReadWriteCloser) {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	opened := make(chan error, 1)
	asking = carrier.Text(ours)
	go func() {
		_, _ = io.WriteString(theirs, before)
		var err error
		resident, err = carrier.TextInside(theirs)
		opened <- err
	}()
	hello := make([]byte, 5)
	go func() {
		if err := <-opened; err == nil {
			_, _ = io.WriteString(resident, "hello")
		}
	}()
	if _, err := io.ReadFull(asking, hello); err != nil || string(hello) != "hello" {
		t.Fatalf("heard %q, %v", hello, err)
	}
	return asking, resident
}

func TestBytesComeThroughAsTheyWere(t *testing.T) {
	t.Parallel()
	asking, resident := both(t, "")
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	for _, c := range []struct{ from, to io.ReadWriteCloser }{{asking, resident}, {resident, asking}} {
		go func() {
			for rest := data; len(rest) > 0; {
				n := min(len(rest), 1+rand.IntN(70000))
				_, _ = c.from.Write(rest[:n])
				rest = rest[n:]
			}
		}()
		got := make([]byte, len(data))
		if _, err := io.ReadFull(c.to, got); err != nil || !bytes.Equal(got, data) {
			t.Errorf("what came is not what was sent: %v", err)
		}
	}
}

func TestWhatAShellSaysBeforeIsPassedOver(t *testing.T) {
	t.Parallel()
	both(t, "Welcome!\r\n\x1b[?2004h$ exec runner text confine\r\n"+strings.Repeat("x", 20000)+"\r\n\x1b[?2004l\r")
}

// stream is what one side hears, and where it speaks to.
type stream struct {
	io.Reader
	io.Writer
}

func (stream) Close() error { return nil }

func TestNothingIsSaidToWhoHasNotOpened(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	w := carrier.Text(stream{strings.NewReader("login: \nbash: runner: not found\n"), &said})
	wrote := make(chan error, 1)
	go func() { _, err := w.Write([]byte("secret")); wrote <- err }()
	if _, err := w.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("it heard %v", err)
	}
	w.Close()
	if err := <-wrote; !errors.Is(err, io.ErrClosedPipe) || said.Len() > 0 {
		t.Errorf("it said %q, %v", said.String(), err)
	}
}

func TestDamageIsTheEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text string }{
		{"a line of something else", "aGk=\nkilled\n"},
		{"an empty line", "aGk=\n\naGk=\n"},
		{"a line that was cut", "aGk=\naG"},
		{"a line that is too long", "aGk=\n" + strings.Repeat("YWFh", 4000) + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := carrier.Text(stream{strings.NewReader("bailiff-text\n" + c.text), io.Discard})
			got, err := io.ReadAll(w)
			if string(got) != "hi" || err == nil {
				t.Errorf("it heard %q, %v", got, err)
			}
			if _, again := w.Read(make([]byte, 1)); again == nil {
				t.Error("it went on")
			}
		})
	}
}
