package egress

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// What is written while an earlier piece is on its way comes after it in one piece, whole and in order.
func TestWhatIsWrittenMeanwhileIsHandedOnInOnePiece(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe() // which hands on what one call reads of what one call writes
	g := gather(near)
	t.Cleanup(func() { far.Close() })
	write := func(p []byte) {
		if n, err := g.Write(p); n != len(p) || err != nil {
			t.Errorf("writing %d bytes: %d, %v", len(p), n, err)
		}
	}
	read := func() string {
		b := make([]byte, 2*gatheredSize)
		n, err := far.Read(b)
		must(t, err)
		return string(b[:n])
	}
	write([]byte("first"))
	backendtest.Await(t, "the first piece is on its way", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.waiting == nil
	})
	for _, text := range []string{"a", "b", "c"} {
		write([]byte(text))
	}
	if got := read() + "," + read(); got != "first,abc" {
		t.Errorf("read %q", got)
	}
	large := bytes.Repeat([]byte("0123456789"), gatheredSize)
	go func() {
		write(large[:3])
		write(large[3:])
		g.Close()
	}()
	if got, err := io.ReadAll(far); err != nil || !bytes.Equal(got, large) {
		t.Errorf("of %d bytes %d came, %v", len(large), len(got), err)
	}
}

// A close waits for what was written, but breaks off a call that writes.
func TestACloseBreaksOffACallThatWrites(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	g := gather(near)
	t.Cleanup(func() { far.Close() })
	ended := make(chan error, 1)
	go func() {
		_, err := g.Write(make([]byte, 4*gatheredSize))
		ended <- err
	}()
	backendtest.Await(t, "a call waits for room", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.stuck > 0
	})
	must(t, g.Close())
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the call that wrote ended with %v", err)
	}
	if _, err := g.Write([]byte("more")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a later call ended with %v", err)
	}
}

// A deadline bounds what is handed on, and one that is past waits for what was written before.
func TestADeadlineThatIsPastCutsNothingOff(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	g := gather(near)
	t.Cleanup(func() { far.Close() })
	_, err := g.Write([]byte("the last word"))
	must(t, err)
	set := make(chan error, 1)
	go func() { set <- g.SetWriteDeadline(time.Now()) }()
	b := make([]byte, 100)
	if n, err := far.Read(b); err != nil || string(b[:n]) != "the last word" {
		t.Errorf("read %q, %v", b[:n], err)
	}
	must(t, <-set)
	_, err = g.Write([]byte("too late"))
	must(t, err)
	g.flush()
	if _, err := g.Write([]byte("more")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline writing ended with %v", err)
	}
}
