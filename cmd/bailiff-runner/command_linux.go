package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// linger is how long a command that has ended is waited for whose output is
// still held open by what it left behind.
const linger = 50 * time.Millisecond

// command is one that runs, as its supervisor sees it.
type command struct {
	out    *wire.Writer
	stream uint32
	began  time.Time

	input  chan []byte // what to write to its standard input; nil if it has none
	stdin  *os.File
	stdout *os.File
	capped capped
	credit credit
	root   os.FileInfo

	// ended is set when the first process has ended, over closed when that was
	// reported, gone closed when no process is left.
	ended  atomic.Bool
	ending chan wire.End
	over   chan struct{}
	gone   chan struct{}
}

func begin(out *wire.Writer, stream uint32, job wire.Job, changes <-chan os.Signal) (*command, error) {
	c := &command{out: out, stream: stream, ending: make(chan wire.End, 1), over: make(chan struct{}), gone: make(chan struct{})}
	c.credit.open()
	c.capped = capped{head: job.Head, tail: job.Tail, emit: c.emit}
	input, err := c.openInput(job.Input)
	if err != nil {
		return nil, err
	}
	c.root, _ = os.Stat("/")
	defer syscall.Close(input)
	ours, output, err := pipe()
	if err != nil {
		c.closeInput()
		return nil, err
	}
	defer syscall.Close(output)
	c.stdout = os.NewFile(uintptr(ours), "output")
	c.began = time.Now()
	pid, err := fork(job, input, output)
	if err != nil {
		c.closeInput()
		c.stdout.Close()
		return nil, err
	}
	go c.wait(pid, changes)
	go c.report()
	if job.Input {
		go c.write(c.input)
	}
	return c, nil
}

// openInput returns what the command reads from.
func (c *command) openInput(wanted bool) (int, error) {
	if !wanted {
		return syscall.Open("/dev/null", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	}
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return 0, fmt.Errorf("making a pipe: %w", err)
	}
	_ = syscall.SetNonblock(ends[1], true)
	c.stdin = os.NewFile(uintptr(ends[1]), "input")
	c.input = make(chan []byte, wire.Window/wire.MaxPayload+1)
	return ends[0], nil
}

func (c *command) closeInput() {
	if c.stdin != nil {
		c.stdin.Close()
	}
}

// pipe makes one whose reading end does not block.
func pipe() (read, write int, err error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, fmt.Errorf("making a pipe: %w", err)
	}
	_ = syscall.SetNonblock(ends[0], true)
	return ends[0], ends[1], nil
}

// feed takes input from the runner, never more than the credit given.
func (c *command) feed(f wire.Frame) {
	if c.input == nil {
		return
	}
	select {
	case c.input <- bytes.Clone(f.Payload):
	case <-c.over:
	}
	if f.Last {
		close(c.input)
		c.input = nil
	}
}

// write passes input on until the command reads no more.
func (c *command) write(input <-chan []byte) {
	defer c.closeInput()
	for {
		select {
		case p, more := <-input:
			if _, err := c.stdin.Write(p); err != nil || !more {
				return // input that nobody reads is dropped
			}
			_ = c.out.Send(wire.Frame{Kind: wire.Credit, Stream: c.stream, Payload: wire.EncodeNumber(len(p))})
		case <-c.over:
			return
		}
	}
}

// wait reaps the command and whatever falls to this process, until there is
// nothing left. It is told of changes instead of waiting in the kernel: as long
// as a thread does that, the Go runtime keeps waking up to look after it, on the
// processors that the command wants.
func (c *command) wait(first int, changes <-chan os.Signal) {
	var end wire.End
	for over := false; ; {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WALL|syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // nothing left
			c.leave()
			c.announce(end)
			return
		case pid == first:
			end, over = c.end(status), true
		case pid == 0:
			if over {
				c.announce(end) // whether anything is left is known before
			}
			<-changes
		}
	}
}

func (c *command) end(status syscall.WaitStatus) wire.End {
	end := wire.End{Code: status.ExitStatus(), Dir: workingDirectory(), Took: time.Since(c.began)}
	if status.Signaled() {
		end.Code = 128 + int(status.Signal())
	}
	return end
}

// announce lets the output come to its end; only the first call counts.
func (c *command) announce(end wire.End) {
	if c.ended.CompareAndSwap(false, true) {
		c.ending <- end
		_ = c.stdout.SetReadDeadline(time.Now())
	}
}

// leave says that nothing is left. Whoever changed the root folder, which the
// command's first process shared with this one, made it unfit for another.
func (c *command) leave() {
	_ = syscall.Chdir("/")
	if c.fit() {
		_ = c.out.Send(wire.Frame{Kind: wire.Gone, Stream: c.stream})
	}
	close(c.gone)
}

func (c *command) fit() bool {
	root, err := os.Stat("/")
	return err == nil && os.SameFile(root, c.root)
}

// report reads the output to its end and reports how the command ended.
func (c *command) report() {
	whole := c.read()
	end := <-c.ending
	end.Dropped = c.capped.end()
	close(c.over)
	c.closeInput()
	_ = c.out.Send(wire.Frame{Kind: wire.Ended, Stream: c.stream, Payload: end.Encode()})
	if !whole { // what is left behind may go on writing, to nowhere
		_ = c.stdout.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, c.stdout)
	}
	c.stdout.Close()
	if <-c.gone; !c.fit() {
		os.Exit(0)
	}
}

// read returns true at the end of the output, or false when the command has
// ended, its own output was read, and others still hold it open.
func (c *command) read() bool {
	buf := make([]byte, wire.MaxPayload)
	patience, rest := linger, 0
	for {
		late := c.ended.Load()
		if late {
			if rest == 0 {
				rest = pending(c.stdout)
			}
			_ = c.stdout.SetReadDeadline(time.Now().Add(patience))
		}
		before := time.Now()
		n, err := c.stdout.Read(buf)
		_, _ = c.capped.Write(buf[:n])
		switch {
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return true
		case late: // otherwise woken because the command has ended
			patience -= time.Since(before)
			if rest -= n; rest <= 0 || patience <= 0 {
				return false
			}
		}
	}
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
}

func (c *credit) open() {
	c.more.L = &c.mu
	c.left = wire.Window
}

func (c *credit) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left += n
	c.more.Signal()
}

// take waits until there is some and takes at most n of it.
func (c *credit) take(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.left <= 0 {
		c.more.Wait()
	}
	n = min(n, c.left)
	c.left -= n
	return n
}
