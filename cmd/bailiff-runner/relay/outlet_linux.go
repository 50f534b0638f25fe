package relay

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/direct"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
)

// usualPort is where an outlet listens, unless something else does there already.
const usualPort = 3128

// Outlet takes connections for the client. It listens from the first time on that a
// client asks for it; while no client does, connections are refused.
type Outlet struct {
	out *wire.Writer
	// labelOf is the label of the command that a process belongs to, 0 where none does.
	labelOf func(pid int) uint32

	mu       sync.Mutex
	listener *os.File
	port     int
	serving  *service
	// number is that of the latest connection.
	number uint32

	// order collects the message that opens the outlet. Only obey touches it.
	order       []byte
	orderStream uint32
}

// New is an outlet that says by out what its connections do. It listens once a client asks for it.
func New(out *wire.Writer, labelOf func(pid int) uint32) *Outlet {
	return &Outlet{out: out, labelOf: labelOf}
}

// Hear takes a frame that concerns connections.
func (o *Outlet) Hear(f wire.Frame) {
	if f.Kind == wire.Outlet {
		o.collect(f)
		return
	}
	if s := o.service(); s != nil {
		s.hear(f)
	}
}

func (o *Outlet) service() *service {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.serving
}

// collect puts the message together that opens the outlet, and answers it.
func (o *Outlet) collect(f wire.Frame) {
	if f.Stream != o.orderStream {
		o.order, o.orderStream = nil, f.Stream
	}
	if o.order = append(o.order, f.Payload...); len(o.order) > wire.MaxOutlet {
		o.order = nil
	}
	if !f.Last {
		return
	}
	facts, err := o.openFor(o.order)
	o.order, o.orderStream = nil, 0
	if err != nil {
		facts = wire.OutletFacts{Fault: err.Error()}
	}
	_ = o.out.Send(wire.Frame{Kind: wire.OutletReady, Stream: f.Stream, Payload: wire.Encode(facts), Last: true})
	if s := o.service(); s != nil && s.direct != nil { // whose queries before that would not be heard
		s.direct.Serve()
	}
}

// openFor listens for the client that is there now.
func (o *Outlet) openFor(order []byte) (facts wire.OutletFacts, err error) {
	o.Supersede() // who asked before has not waited for the answer
	terms, err := wire.Decode[wire.OutletTerms](order)
	if err != nil {
		return facts, err
	}
	if err := loopbackOnly(); err != nil {
		return facts, err
	}
	if len(terms.CA) > 0 {
		if facts.CAFile, facts.Bundle, err = writeTrust(terms.CA, []byte(terms.Roots)); err != nil {
			return facts, fmt.Errorf("writing the certificate: %w", err)
		}
	}
	s, port, err := o.begin(terms.Most)
	if err != nil {
		return facts, err
	}
	if facts.Port = port; terms.Names {
		if err := s.nameHosts(o); err != nil {
			facts.NoNames = err.Error()
		}
	}
	return facts, nil
}

func (o *Outlet) begin(most int) (s *service, port int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.listener == nil {
		if o.listener, o.port, err = listen(); err != nil {
			return nil, 0, err
		}
		go direct.Accept(o.listener, o.take)
	}
	o.serving = newService(o.out, most, o.labelOf)
	return o.serving, o.port, nil
}

// Supersede cuts what an earlier client's connections are. Nothing is said of them when
// it has returned.
func (o *Outlet) Supersede() {
	o.mu.Lock()
	earlier := o.serving
	o.serving = nil
	o.mu.Unlock()
	o.order, o.orderStream = nil, 0
	if earlier != nil {
		earlier.end()
	}
}

// loopbackOnly is nil where no address but the loopback's can be reached. Elsewhere
// others could reach the outlet, and commands would need none.
func loopbackOnly() error {
	for _, table := range []struct {
		path     string
		heading  int
		optional bool
	}{{"/proc/net/route", 1, false}, {"/proc/net/ipv6_route", 0, true}} {
		text, err := os.ReadFile(table.path)
		if table.optional && errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("reading which networks there are: %w", err)
		}
		for number, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			fields := strings.Fields(line)
			if number < table.heading || len(fields) == 0 || fields[0] == "lo" || fields[len(fields)-1] == "lo" {
				continue
			}
			return errors.New("the sandbox has a network besides its loopback")
		}
	}
	return nil
}

// listen binds every address of IPv4 in a place that has its loopback only.
func listen() (listener *os.File, port int, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("making a socket: %w", err)
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Port: usualPort})
	if errors.Is(err, unix.EADDRINUSE) {
		err = unix.Bind(fd, &unix.SockaddrInet4{})
	}
	if err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	var bound unix.Sockaddr
	if err == nil {
		bound, err = unix.Getsockname(fd)
	}
	at, known := bound.(*unix.SockaddrInet4)
	if err != nil || !known {
		unix.Close(fd)
		return nil, 0, fmt.Errorf("listening: %w", err)
	}
	return flow.File(fd), at.Port, nil
}

// take gives a connection to the client, or resets it.
func (o *Outlet) take(fd int) {
	s, number := o.service(), o.next()
	if s == nil || !s.take(fd, number) {
		reset(fd)
	}
}

// next is the number of another connection or query.
func (o *Outlet) next() uint32 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.number++
	return o.number
}

// reset closes a socket so that its peer is told of a fault.
func reset(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	unix.Close(fd)
}
