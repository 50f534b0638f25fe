package gateway

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// bothLoopbacks listens at both addresses of localhost. A browser takes either, mostly that of IPv6 first: where that one
// were free, another user of the machine could listen there and be given what logs in.
type bothLoopbacks struct {
	net.Listener // at 127.0.0.1, whose address is told
	other        net.Listener
	accepted     chan acceptance
	closed       chan struct{}
	close        func() error
}

type acceptance struct {
	conn net.Conn
	err  error
}

// loopbackTries is how often another port is taken where the system chooses one that is free at one address only.
const loopbackTries = 16

// listenLocalhost listens at both addresses of localhost, or at the one that the machine has.
func listenLocalhost(port string) (l net.Listener, err error) {
	for range loopbackTries {
		if l, err = listenLoopbacks(port); port != "0" || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return l, err
}

func listenLoopbacks(port string) (net.Listener, error) {
	first, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if lacksAddress(err) {
		return net.Listen("tcp", net.JoinHostPort("::1", port))
	}
	if err != nil {
		return nil, err
	}
	_, chosen, err := net.SplitHostPort(first.Addr().String())
	if err != nil {
		return nil, errors.Join(err, first.Close())
	}
	other, err := net.Listen("tcp", net.JoinHostPort("::1", chosen))
	if lacksAddress(err) {
		return first, nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("localhost is two addresses, of which one is not free: %w", err), first.Close())
	}
	return joinLoopbacks(first, other), nil
}

// lacksAddress says whether the machine has no such address, so that no other program can listen there either.
func lacksAddress(err error) bool {
	return errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
}

func joinLoopbacks(first, other net.Listener) *bothLoopbacks {
	b := &bothLoopbacks{Listener: first, other: other, accepted: make(chan acceptance), closed: make(chan struct{})}
	b.close = sync.OnceValue(func() error {
		close(b.closed)
		return errors.Join(first.Close(), other.Close())
	})
	go b.acceptFrom(first)
	go b.acceptFrom(other)
	return b
}

// acceptFrom hands on what one address accepts, until it is closed.
func (b *bothLoopbacks) acceptFrom(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case b.accepted <- acceptance{conn, err}:
		case <-b.closed:
			if conn != nil {
				_ = conn.Close()
			}
			return
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// Accept waits for a connection to either address.
func (b *bothLoopbacks) Accept() (net.Conn, error) {
	select {
	case a := <-b.accepted:
		return a.conn, a.err
	case <-b.closed:
		return nil, net.ErrClosed
	}
}

// Close closes both.
func (b *bothLoopbacks) Close() error { return b.close() }
