package remotetest

import (
	"net"
	"sync"
	"testing"
)

// Line is a way to an address that can die without a word.
type Line struct {
	// Address is where it begins.
	Address  string
	to       string
	listener net.Listener

	mu   sync.Mutex
	dead bool
	ends []net.Conn
}

// Lay makes a line to an address, until the test ends.
func Lay(tb testing.TB, to string) *Line {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	l := &Line{Address: listener.Addr().String(), to: to, listener: listener}
	go l.serve()
	tb.Cleanup(l.take)
	return l
}

// Die lets nothing through any more. Who talks hears nothing of it.
func (l *Line) Die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

// Heal makes it a line for those who come now.
func (l *Line) Heal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = false
}

// take takes the line away.
func (l *Line) take() {
	l.listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, end := range l.ends {
		end.Close()
	}
}

func (l *Line) serve() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.to)
		if err != nil {
			near.Close()
			continue
		}
		l.mu.Lock()
		l.ends = append(l.ends, near, far)
		l.mu.Unlock()
		go l.carry(near, far)
		go l.carry(far, near)
	}
}

// carry carries one way. What comes while the line is dead is lost, and its end too.
func (l *Line) carry(from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for lost := false; ; {
		n, err := from.Read(buffer)
		l.mu.Lock()
		lost = lost || l.dead
		l.mu.Unlock()
		if lost && err == nil {
			continue
		}
		if lost {
			return
		}
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			from.Close()
			to.Close()
			return
		}
	}
}
