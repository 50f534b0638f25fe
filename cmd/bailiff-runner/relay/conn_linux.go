package relay

import (
	"bytes"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
)

// conn is a connection of a program to the client. It holds no buffer while nothing comes.
type conn struct {
	service *service
	number  uint32
	credit  flow.Credit // what may be sent to the client

	file *os.File
	raw  syscall.RawConn

	mu sync.Mutex
	// waiting is what the program has not read, and passing says that a call is
	// writing it.
	waiting [][]byte
	size    int
	passing bool
	// window is that of the bytes which the program is given.
	window wire.Account
	// heard says that the client sends no more, and told that the program does not; both
	// once the other side knows.
	heard, told bool
	over        bool
}

// newConn takes a socket over.
func newConn(s *service, fd int, number uint32) *conn {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	c := &conn{service: s, number: number, file: flow.File(fd), window: wire.NewAccount(&s.width)}
	c.raw, _ = c.file.SyscallConn() // which fails for closed files only
	c.credit.Open(wire.ConnWindow)
	return c
}

// pump sends what the program says until it says no more.
func (c *conn) pump() {
	for {
		most := c.credit.Take(wire.MaxPayload)
		if most == 0 || !c.readable() {
			return
		}
		share := c.service.credit.Take(most)
		if share == 0 {
			return
		}
		c.credit.Add(most - share)
		if !c.send(share) {
			return
		}
	}
}

// readable waits until there is something to read, or the end.
func (c *conn) readable() bool {
	err := c.raw.Read(func(fd uintptr) bool {
		look := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(look[:], 0)
		return n != 0 || err != nil && err != unix.EINTR
	})
	return err == nil
}

// send reads once and sends that; false means that it was the last.
func (c *conn) send(most int) bool {
	buf := <-c.service.free
	if buf == nil {
		buf = make([]byte, wire.MaxPayload)
	}
	defer func() { c.service.free <- buf }()
	n, err := 0, error(nil)
	if lost := c.raw.Read(func(fd uintptr) bool {
		n, err = flow.Read(int(fd), buf[:most])
		return true
	}); lost != nil {
		err = lost
	}
	switch {
	case err == unix.EAGAIN:
		n = 0
	case err != nil:
		c.service.credit.Add(most + wire.Overhead)
		c.cut("the program broke the connection off")
		return false
	default:
		c.service.say(c.service.out.SendBulk, wire.Frame{Kind: wire.Carry, Stream: c.number, Payload: buf[:n], Last: n == 0})
	}
	if n > 0 {
		c.credit.Add(most - n)
		c.service.credit.Add(most - n)
		return true
	}
	if err != nil {
		c.credit.Add(most + wire.Overhead)
		c.service.credit.Add(most + wire.Overhead)
		return true
	}
	c.service.credit.Add(most)
	c.finish(true)
	return false
}

// deliver gives the program bytes. It does not wait: what the program does not read at
// once is kept, within the window.
func (c *conn) deliver(p []byte, last bool) {
	c.mu.Lock()
	if c.over || c.heard {
		c.mu.Unlock()
		return
	}
	fault := c.keep(p, last)
	c.mu.Unlock()
	if fault != "" {
		c.cut(fault)
		return
	}
	c.account(0)
	c.finish(false)
}

const deaf = "the program does not listen any more"

// keep writes what the socket takes and keeps the rest. It returns why that cannot be.
func (c *conn) keep(p []byte, last bool) (fault string) {
	if !c.passing && len(p) > 0 {
		n, err := c.tryWrite(p)
		if err != nil {
			return deaf
		}
		c.window.Pass(n)
		p = p[n:]
	}
	c.heard = last
	switch {
	case len(p) == 0:
		c.window.Pass(wire.Overhead)
	case c.size+len(p) > 2*c.window.Size():
		return "the client sends more than it may"
	default:
		c.waiting, c.size = append(c.waiting, bytes.Clone(p)), c.size+len(p)
	}
	if !c.passing && c.size > 0 {
		c.passing = true
		go c.pass()
	}
	return ""
}

// tryWrite writes what the socket takes now.
func (c *conn) tryWrite(p []byte) (n int, err error) {
	if lost := c.raw.Control(func(fd uintptr) { n, err = unix.Write(int(fd), p) }); lost != nil {
		err = lost
	}
	if err == unix.EAGAIN || err == unix.EINTR {
		err = nil
	}
	return max(0, n), err
}

// pass writes what waits until nothing does.
func (c *conn) pass() {
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 || c.over {
			c.passing = false
			c.mu.Unlock()
			c.finish(false)
			return
		}
		p := c.waiting[0]
		c.waiting[0] = nil
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
		if _, err := c.file.Write(p); err != nil {
			c.cut(deaf)
			return
		}
		c.mu.Lock()
		c.size -= len(p)
		c.mu.Unlock()
		c.account(len(p) + wire.Overhead)
	}
}

// account tells the client, from time to time, what the program was given.
func (c *conn) account(n int) {
	c.mu.Lock()
	c.window.Pass(n)
	widens, due := !c.heard && c.window.Widen(), 0
	if !c.heard {
		due = c.window.TakeDue()
	}
	c.mu.Unlock()
	if widens {
		c.service.widen(c.number)
	}
	if due > 0 {
		c.service.allow(c.number, due)
	}
}

// finish tells the program of the end of what the client says, once it was given all, and
// closes what has ended both ways. What is closed takes no room any more when the program
// learns of it.
func (c *conn) finish(told bool) {
	c.mu.Lock()
	c.told = c.told || told
	ended := c.heard && !c.passing && !c.over
	done := ended && c.told
	if done {
		c.over = true
		c.window.Close()
	}
	c.mu.Unlock()
	switch {
	case done:
		c.service.forget(c)
		c.file.Close()
	case ended:
		_ = c.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_WR) })
	}
}

// cut ends it both ways, and tells the client if there is a reason that it does not know.
func (c *conn) cut(reason string) {
	if !c.abandon() {
		return
	}
	if reason != "" {
		c.service.say(c.service.out.Send, wire.Frame{Kind: wire.Cut, Stream: c.number, Payload: []byte(reason), Last: true})
	}
	c.service.forget(c)
}

// abandon resets it; false means that it was over.
func (c *conn) abandon() bool {
	c.mu.Lock()
	over := c.over
	c.over, c.waiting = true, nil
	c.window.Close()
	c.mu.Unlock()
	if over {
		return false
	}
	c.credit.Close()
	_ = c.raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	})
	c.file.Close()
	return true
}
