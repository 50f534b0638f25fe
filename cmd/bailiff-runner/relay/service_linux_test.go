package relay

import (
	"io"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// spoken is a service with one connection, of which program is the other end; frames are what it says.
func spoken(t *testing.T) (s *service, program net.Conn, frames *wire.Reader) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	backendtest.Must(t, err)
	defer listener.Close()
	program, err = net.Dial("tcp4", listener.Addr().String())
	backendtest.Must(t, err)
	accepted, err := listener.Accept()
	backendtest.Must(t, err)
	ours, err := accepted.(*net.TCPConn).File()
	backendtest.Must(t, err)
	defer accepted.Close()
	defer ours.Close()
	fd, err := unix.FcntlInt(ours.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	backendtest.Must(t, err)
	from, to := io.Pipe()
	s = newService(wire.NewWriter(to), 1, func(int) uint32 { return 1 })
	taken := make(chan bool, 1)
	go func() { taken <- s.take(fd, 1) }()
	frames = wire.NewBulkReader(from)
	if f, err := frames.Next(); err != nil || f.Kind != wire.Opened || !<-taken {
		t.Fatalf("the connection is told as %+v, %v", f, err)
	}
	t.Cleanup(func() {
		program.Close()
		from.Close()
		s.end()
	})
	return s, program, frames
}

func TestAConnectionThatCarriesMuchIsSentMoreBeforeItIsHeard(t *testing.T) {
	t.Parallel()
	s, program, frames := spoken(t)
	go func() { _, _ = io.Copy(io.Discard, program) }()
	go func() {
		for range wire.Much/wire.MaxPayload + 1 {
			s.hear(wire.Frame{Kind: wire.Carry, Stream: 1, Payload: make([]byte, wire.MaxPayload)})
		}
	}()
	allowed := 0
	for {
		f, err := frames.Next()
		backendtest.Must(t, err)
		switch {
		case f.Kind == wire.Cut:
			t.Fatalf("it is cut: %s", f.Payload)
		case f.Kind == wire.Allow && f.Stream == 1:
			n, err := wire.Decode[wire.Number](f.Payload)
			backendtest.Must(t, err)
			allowed += int(n)
		case f.Kind == wire.Widen:
			if allowed < wire.Much-wire.ConnWindow {
				t.Errorf("its window is wide after %d bytes, want it usual for %d", allowed, wire.Much)
			}
			return
		}
	}
}
