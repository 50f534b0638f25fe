package supervise

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/processes"
)

// hear passes on the lines that the command writes. What it printed before a
// line is in the pipe of its output by then, and is passed on first.
func (c *command) hear() {
	defer close(c.heard)
	defer c.lines.Close()
	raw, err := c.lines.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, wire.MaxPayload)
	for {
		n, err := readFrom(raw, buf)
		if errors.Is(err, os.ErrDeadlineExceeded) { // it has ended: what it wrote before is there
			_ = raw.Control(func(fd uintptr) { c.hearRest(int(fd), buf) })
			return
		}
		if err != nil || n == 0 {
			return
		}
		c.tell(buf[:n])
	}
}

// readFrom waits for something to read.
func readFrom(raw syscall.RawConn, buf []byte) (n int, err error) {
	var fault error
	err = raw.Read(func(fd uintptr) bool {
		n, fault = flow.Read(int(fd), buf)
		return fault != unix.EAGAIN
	})
	return max(0, n), errors.Join(err, fault)
}

// hearRest passes on what a pipe holds.
func (c *command) hearRest(fd int, buf []byte) {
	for rest := flow.BytesIn(fd); rest > 0; {
		n, err := flow.Read(fd, buf[:min(rest, len(buf))])
		if err != nil || n <= 0 {
			return
		}
		c.tell(buf[:n])
		rest -= n
	}
}

// tell sends pieces of lines, after what was printed.
func (c *command) tell(p []byte) {
	c.telling.Lock()
	defer c.telling.Unlock()
	c.printed()
	for len(p) > 0 {
		piece, rest, last := bytes.Cut(p, []byte{'\n'})
		c.sendLine(piece, last)
		p = rest
	}
}

func (c *command) sendLine(p []byte, last bool) {
	for {
		n := c.credit.Take(min(len(p), wire.MaxPayload))
		_ = c.out.Send(wire.Frame{Kind: wire.Line, Stream: c.stream, Payload: p[:n], Last: last && n == len(p)})
		if p = p[n:]; len(p) == 0 {
			return
		}
	}
}

// printed passes on what the pipe of the output holds now.
func (c *command) printed() {
	raw, err := c.stdout.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		buf := make([]byte, wire.MaxPayload)
		for rest := flow.BytesIn(int(fd)); rest > 0; {
			n, err := flow.Read(int(fd), buf[:min(rest, len(buf))])
			if err != nil || n <= 0 {
				return
			}
			_, _ = c.sink.Write(buf[:n])
			rest -= n
		}
	})
}

// How often, and how long apart, breakOff looks whether what it killed is gone.
const (
	lastLooks = 50
	lookPause = 2 * time.Millisecond
)

// breakOff ends all but the first process, and interrupts that when they are gone, so
// that a client that is told of the end does not find them still running. A first process
// that starts others again and again is not waited for.
func (c *command) breakOff() {
	c.reaping.Lock()
	defer c.reaping.Unlock()
	for range lastLooks {
		if processes.KillAll(c.others) == 0 {
			break
		}
		time.Sleep(lookPause)
	}
	if !c.reaped {
		_ = syscall.Kill(c.first, syscall.SIGINT)
	}
}

// others are the living processes of a command but the first.
func (c *command) others() []int {
	return slices.DeleteFunc(processes.Below(os.Getpid(), processes.None), func(pid int) bool { return pid == c.first })
}
