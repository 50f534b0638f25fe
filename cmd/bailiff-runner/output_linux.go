package main

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// A command that prints much gets a bigger pipe, and is read in bigger parts.
const (
	much       = 1 << 20
	muchBuffer = 256 << 10
	muchPipe   = 1 << 20
)

// read returns true at the end of the output, or false when the command has
// ended, its own output was read, and others still hold it open.
func (c *command) read() bool {
	raw, err := c.stdout.SyscallConn()
	if err != nil {
		return true
	}
	buf := make([]byte, wire.MaxPayload)
	patience, rest := linger, 0
	for total := 0; ; {
		late := c.ended.Load()
		if late {
			if rest == 0 {
				rest = pending(c.stdout)
			}
			_ = c.stdout.SetReadDeadline(time.Now().Add(patience))
		}
		before, held := time.Now(), c.held
		n, err := c.readOutput(raw, buf)
		if total += n; total > much && len(buf) < muchBuffer {
			buf = make([]byte, muchBuffer)
			_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, muchPipe) })
		}
		switch {
		case err == nil && n == 0, err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return true
		case late: // otherwise woken because the command has ended
			patience -= time.Since(before) - (c.held - held)
			if rest -= n; rest <= 0 || patience <= 0 {
				return false
			}
		}
	}
}

// readOutput waits for output and takes it.
func (c *command) readOutput(raw syscall.RawConn, buf []byte) (n int, err error) {
	var fault error
	err = raw.Read(func(fd uintptr) bool {
		c.telling.Lock()
		defer c.telling.Unlock()
		if n, fault = readSome(int(fd), buf); fault == nil {
			before := time.Now()
			_, _ = c.sink.Write(buf[:n])
			c.held += time.Since(before)
		}
		return fault != unix.EAGAIN
	})
	return max(0, n), errors.Join(err, fault)
}

// pending bounds what a pipe can hold.
func pending(f *os.File) int {
	const most = 1 << 20
	raw, err := f.SyscallConn()
	if err != nil {
		return most
	}
	size := most
	_ = raw.Control(func(fd uintptr) {
		if n, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil {
			size = n
		}
	})
	return size
}

// emit sends output as far as the reader's credit goes, and waits for more.
func (c *command) emit(p []byte) {
	for len(p) > 0 {
		n := c.credit.take(min(len(p), wire.MaxPayload))
		_ = c.out.Send(wire.Frame{Kind: wire.Output, Stream: c.stream, Payload: p[:n]})
		p = p[n:]
	}
}

// credit is what may still be sent.
type credit struct {
	mu   sync.Mutex
	more sync.Cond
	left int
	over bool
}

func (c *credit) open(window int) {
	c.more.L = &c.mu
	c.left = window
}

func (c *credit) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left += n
	c.more.Signal()
}

// take waits until there is some and takes a frame's worth with at most n bytes. It is
// zero once the credit was closed.
func (c *credit) take(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.left <= wire.Overhead && !c.over {
		c.more.Wait()
	}
	if c.over {
		return 0
	}
	n = min(n, c.left-wire.Overhead)
	c.left -= n + wire.Overhead
	if c.left > wire.Overhead {
		c.more.Signal() // for another who waits
	}
	return n
}

// close lets every waiting call go on.
func (c *credit) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.more.Broadcast()
}
