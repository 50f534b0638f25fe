package supervise

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
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
		if n, fault = flow.Read(int(fd), buf); fault == nil {
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
		n := c.credit.Take(min(len(p), wire.MaxPayload))
		_ = c.out.Send(wire.Frame{Kind: wire.Output, Stream: c.stream, Payload: p[:n]})
		p = p[n:]
	}
}
