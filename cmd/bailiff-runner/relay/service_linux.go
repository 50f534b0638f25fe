package relay

import (
	"sync"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/direct"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
)

// buffers bounds how many connections are read from at once, and so what memory that
// takes, however many there are.
const buffers = 4

// shareArrived is when it is told that bytes of all connections together have arrived.
const shareArrived = wire.ConnsWindow / 8

// service is an outlet as one client has it.
type service struct {
	out  *wire.Writer
	most int
	// labelOf is the label of the command that a process belongs to, 0 where none does.
	labelOf func(pid int) uint32
	// credit is what all connections together may send.
	credit flow.Credit
	width  wire.Width
	free   chan []byte

	// speaking is held for reading while something is said, so that nothing is said any
	// more when the service is over.
	speaking sync.RWMutex
	over     bool

	mu    sync.Mutex
	conns map[uint32]*conn

	// arrived are the bytes of all connections that it was not told of, and direct the way of
	// programs that know no proxy, nil without one. Only obey touches them.
	arrived int
	direct  *direct.Way
}

func newService(out *wire.Writer, most int, labelOf func(int) uint32) *service {
	s := &service{out: out, most: most, labelOf: labelOf, free: make(chan []byte, buffers), conns: map[uint32]*conn{}}
	s.credit.Open(wire.ConnsWindow)
	for range buffers {
		s.free <- nil
	}
	return s
}

// say sends a frame, by either lane, unless the service is over.
func (s *service) say(by func(wire.Frame) error, f wire.Frame) {
	s.speaking.RLock()
	defer s.speaking.RUnlock()
	if !s.over {
		_ = by(f)
	}
}

// nameHosts has programs look names up by the client, and reach what these stand for.
func (s *service) nameHosts(o *Outlet) (err error) {
	s.direct, err = direct.Open(direct.Client{Next: o.next, Take: o.take, Label: o.labelOf, Ask: func(number uint32, query wire.Query) {
		s.say(s.out.Send, wire.Frame{Kind: wire.Asked, Stream: number, Payload: wire.Encode(query), Last: true})
	}})
	return err
}

// take makes a connection known; false means that there is no room for it.
func (s *service) take(fd int, number uint32) bool {
	arrival, ours := arrivalOf(fd)
	if !ours {
		return false
	}
	c := s.admit(fd, number)
	if c == nil {
		return false
	}
	if arrival.Port != 0 {
		program, _ := unix.Getpeername(fd)
		dialled, _ := unix.Getsockname(fd)
		arrival.Label = s.labelOf(direct.Owner("tcp", program, dialled))
	}
	s.say(s.out.Send, wire.Frame{Kind: wire.Opened, Stream: number, Payload: wire.Encode(arrival), Last: true})
	go c.pump()
	return true
}

// admit is nil where there is no room for another connection.
func (s *service) admit(fd int, number uint32) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil || len(s.conns) >= s.most {
		return nil
	}
	c := newConn(s, fd, number)
	s.conns[number] = c
	return c
}

// arrivalOf is what the address that was dialled says: which command it is of, or which name it stands for.
func arrivalOf(fd int) (a wire.Arrival, ours bool) {
	dialled, err := unix.Getsockname(fd)
	at, known := dialled.(*unix.SockaddrInet4)
	if err != nil || !known {
		return a, false
	}
	switch number, stands := wire.AddressNumber(at.Addr); {
	case stands:
		a.Number, a.Port = number, at.Port
	case at.Addr != [4]byte{127, 0, 0, 1}:
		a.Label = number
	}
	return a, true
}

// hear takes what the client says of connections.
func (s *service) hear(f wire.Frame) {
	if f.Kind == wire.Named {
		if s.direct != nil {
			s.direct.Answer(f.Stream, f.Payload)
		}
		return
	}
	if f.Kind == wire.Carry {
		s.note(len(f.Payload) + wire.Overhead)
	}
	n := 0
	if f.Kind == wire.Allow {
		allowed, err := wire.Decode[wire.Number](f.Payload)
		if n = int(allowed); err != nil || n < 0 {
			return
		}
		if f.Stream == wire.Everything {
			s.credit.Add(n)
			return
		}
	}
	c := s.conn(f.Stream)
	if c == nil {
		return
	}
	switch f.Kind {
	case wire.Allow:
		c.credit.Add(n)
	case wire.Widen:
		enlarge(toClient)
		c.credit.Add(wire.Widening)
	case wire.Carry:
		c.deliver(f.Payload, f.Last)
	case wire.Cut:
		c.cut("")
	}
}

// note counts the bytes that have arrived, read or dropped.
func (s *service) note(n int) {
	if s.arrived += n; s.arrived >= shareArrived {
		s.allow(wire.Everything, s.arrived)
		s.arrived = 0
	}
}

func (s *service) allow(stream uint32, n int) {
	s.say(s.out.Send, wire.Frame{Kind: wire.Allow, Stream: stream, Payload: wire.Encode(wire.Number(n)), Last: true})
}

// widen lets the client send more of a connection before it hears how far the program is.
func (s *service) widen(stream uint32) {
	enlarge(fromClient)
	s.say(s.out.Send, wire.Frame{Kind: wire.Widen, Stream: stream, Last: true})
}

// The descriptors of the stream to the client.
const (
	fromClient = 0
	toClient   = 1
)

// enlarge makes room in the pipe that one direction of the stream is, if it is one: its ends then wait less
// often for each other.
func enlarge(fd uintptr) {
	if size, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && size < wire.WideWindow {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, wire.WideWindow)
	}
}

func (s *service) conn(number uint32) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[number]
}

func (s *service) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c.number)
}

// end resets all connections, and returns when nothing is said of them any more.
func (s *service) end() {
	if s.direct != nil {
		s.direct.Close()
	}
	s.credit.Close()
	s.mu.Lock()
	all := s.conns
	s.conns = nil
	s.mu.Unlock()
	for _, c := range all {
		c.abandon()
	}
	s.speaking.Lock()
	defer s.speaking.Unlock()
	s.over = true
}
