package app

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// line is a way to a server that a test can cut.
type line struct {
	network, to string
	listener    net.Listener

	mu     sync.Mutex
	cut    bool
	passes chan struct{} // closed while bytes pass
	open   map[net.Conn]bool
}

// lineTo opens a way to a TCP address.
func lineTo(tb testing.TB, address string) *line {
	return openLine(tb, porttest.Address(tb), "tcp", address)
}

// socketLineTo opens a way to the socket of a PostgreSQL, and returns the folder that stands for its.
func socketLineTo(tb testing.TB, folder string) (*line, string) {
	tb.Helper()
	const name = ".s.PGSQL.5432"
	dir, err := os.MkdirTemp("", "line")
	must(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return openLine(tb, filepath.Join(dir, name), "unix", filepath.Join(folder, name)), dir
}

func openLine(tb testing.TB, at, network, to string) *line {
	tb.Helper()
	listener, err := net.Listen(network, at)
	must(tb, err)
	l := &line{network: network, to: to, listener: listener, passes: make(chan struct{}), open: map[net.Conn]bool{}}
	close(l.passes)
	tb.Cleanup(func() { _ = listener.Close(); l.sever() })
	go l.accept()
	return l
}

func (l *line) accept() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return
		}
		go l.carry(from)
	}
}

func (l *line) carry(from net.Conn) {
	defer l.forget(from)
	if !l.keep(from) {
		return
	}
	to, err := net.Dial(l.network, l.to)
	if err != nil {
		return
	}
	defer l.forget(to)
	if !l.keep(to) {
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		go func() { l.copy(way[0], way[1]); ended <- struct{}{} }()
	}
	<-ended
}

// copy stops while nothing passes, without an end of the connection.
func (l *line) copy(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		l.mu.Lock()
		passes := l.passes
		l.mu.Unlock()
		<-passes
		if _, wrong := to.Write(buf[:n]); err != nil || wrong != nil {
			return
		}
	}
}

// keep is false while the line is cut.
func (l *line) keep(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.open[c] = true
	}
	return !l.cut
}

func (l *line) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
	_ = c.Close()
}

// sever ends all connections, and lets none through until mend.
func (l *line) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for c := range l.open {
		_ = c.Close()
	}
}

// hold lets no byte through until mend, and ends no connection: each side believes that the other is there.
func (l *line) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passes = make(chan struct{})
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = false
	select {
	case <-l.passes:
	default:
		close(l.passes)
	}
}
