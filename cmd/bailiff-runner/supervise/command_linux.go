package supervise

import (
	"bytes"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/journal"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// linger is how long a command that has ended is waited for whose output is
// still held open by what it left behind.
const linger = 50 * time.Millisecond

// command is one that runs, as its supervisor sees it.
type command struct {
	out    *wire.Writer
	stream uint32
	began  time.Time
	root   os.FileInfo

	input  *intake // nil if it has none
	stdout *os.File
	lines  *os.File // what a dialogue reads lines from; nil in others
	// sink takes the output: the excerpt, or the journal of a background command.
	sink    io.Writer
	excerpt headtail.Writer
	journal *journal.Journal
	credit  flow.Credit
	// held is for how long the output was held back because the client did not take it.
	held time.Duration
	// telling is held from reading what the command wrote until it is sent.
	telling sync.Mutex

	// first is the command's first process; until it is reaped, which needs the
	// lock, nothing else has its number.
	first   int
	reaping sync.Mutex
	reaped  bool

	// ended is set when the first process has ended, heard closed when no line
	// will come, over when the end was reported, gone when no process is left.
	ended  atomic.Bool
	ending chan wire.End
	heard  chan struct{}
	over   chan struct{}
	gone   chan struct{}
}

func begin(out *wire.Writer, stream uint32, job wire.Job, changes <-chan os.Signal) (*command, error) {
	c := &command{out: out, stream: stream, ending: make(chan wire.End, 1),
		heard: make(chan struct{}), over: make(chan struct{}), gone: make(chan struct{})}
	c.credit.Open(wire.Window)
	c.excerpt = headtail.Writer{Head: job.Head, Tail: job.Tail, Emit: c.emit}
	c.sink = &c.excerpt
	if job.Mode == wire.Background {
		c.journal = journal.New(0)
		c.sink = c.journal
	}
	c.root, _ = os.Stat("/")
	theirs := new(ends)
	defer theirs.close()
	c.open(job, theirs)
	c.began = time.Now()
	err := theirs.err
	if err == nil {
		c.first, err = fork(job, theirs.files)
	}
	if err != nil {
		c.closeFiles()
		return nil, err
	}
	c.follow(job.Mode, changes)
	return c, nil
}

// follow looks after what was started, which is told first.
func (c *command) follow(mode wire.Mode, changes <-chan os.Signal) {
	if mode != wire.Foreground {
		_ = c.out.Send(wire.Frame{Kind: wire.Started, Stream: c.stream})
	}
	if c.lines != nil {
		go c.hear()
	} else {
		close(c.heard)
	}
	if c.input != nil {
		go c.input.pass(c.over)
	}
	go c.wait(changes)
	go c.report()
}

// open makes the files of a command: what it reads and what it prints to, and of
// a dialogue what lines come and go by.
func (c *command) open(job wire.Job, theirs *ends) {
	if job.Input && job.Mode != wire.Dialogue {
		c.input = newIntake(theirs.inlet(), c.passed)
	} else {
		theirs.nothing()
	}
	c.stdout = theirs.outlet()
	theirs.again()
	if job.Mode == wire.Dialogue {
		c.input = newIntake(theirs.inlet(), c.passed)
		c.lines = theirs.outlet()
	}
}

// closeFiles is for a command that did not start.
func (c *command) closeFiles() {
	c.stdout.Close() // nil files take it
	c.lines.Close()
	if c.input != nil {
		c.input.close()
	}
}

// feed takes input from the runner, never more than the credit given.
func (c *command) feed(p chunk) {
	p.data = bytes.Clone(p.data)
	err := errClosedInput
	if c.input != nil {
		err = c.input.put(p)
	}
	if err != nil {
		c.passed(p, err)
	}
}

// passed answers who asked for input to be passed on, or gives credit for more.
func (c *command) passed(p chunk, err error) {
	switch {
	case p.asker == 0 && err == nil:
		_ = c.out.Send(wire.Frame{Kind: wire.Credit, Stream: c.stream, Payload: wire.Encode(wire.Number(len(p.data)))})
	case p.asker == 0: // input that is not read is dropped
	case err == nil:
		_ = c.out.Send(wire.Frame{Kind: wire.Done, Stream: p.asker})
	default:
		refusal := wire.Refusal{Reason: startFault(err), Text: err.Error()}
		_ = c.out.Send(wire.Frame{Kind: wire.Refused, Stream: p.asker, Payload: wire.Encode(refusal)})
	}
}

// answer sends a part of the journal; when it is no longer here, the runner has it.
func (c *command) answer(i wire.Inquiry) {
	if c.journal != nil && !c.ended.Load() {
		_ = c.out.Send(wire.Frame{Kind: wire.Logged, Stream: i.Asker, Payload: wire.Encode(c.journal.Read(i.Offset, i.Most))})
	}
}

// handOver leaves the journal to the runner.
func (c *command) handOver() {
	if c.journal == nil {
		return
	}
	defer c.journal.Close()
	for next := int64(0); ; {
		piece := c.journal.Read(next, wire.MaxLogged)
		_ = c.out.Send(wire.Frame{Kind: wire.LogHandedOver, Stream: c.stream, Payload: wire.Encode(piece)})
		if next = piece.From + int64(len(piece.Data)); next >= piece.Written || len(piece.Data) == 0 {
			return
		}
	}
}

// wait reaps the command and all that falls to this process, until there is
// nothing left. It is told of changes instead of waiting in the kernel: as long
// as a thread does that, the Go runtime keeps waking up to look after it, on the
// processors that the command wants.
func (c *command) wait(changes <-chan os.Signal) {
	var end wire.End
	for over := false; ; {
		pid, status, err := c.reap()
		switch {
		case err == syscall.EINTR:
		case err != nil: // nothing left
			c.leave()
			c.announce(end)
			return
		case pid == c.first:
			end, over = c.end(status), true
		case pid == 0:
			if over {
				c.announce(end) // whether anything is left is known before
			}
			<-changes
		}
	}
}

// reap notes under the lock that the first process is no more.
func (c *command) reap() (pid int, status syscall.WaitStatus, err error) {
	c.reaping.Lock()
	defer c.reaping.Unlock()
	pid, err = syscall.Wait4(-1, &status, syscall.WALL|syscall.WNOHANG, nil)
	c.reaped = c.reaped || err == nil && pid == c.first
	return pid, status, err
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
		if c.lines != nil {
			_ = c.lines.SetReadDeadline(time.Now())
		}
	}
}

// leave says that nothing is left. A command that changed the root folder, which
// its first process shared with this one, made it unfit for another.
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
	<-c.heard
	end.Dropped = c.excerpt.End()
	c.handOver()
	close(c.over)
	if c.input != nil { // the writer learns what became of it before the end
		c.input.to.Close()
		<-c.input.reported
	}
	_ = c.out.Send(wire.Frame{Kind: wire.Ended, Stream: c.stream, Payload: wire.Encode(end)})
	if !whole { // what is left behind may go on writing, to nowhere
		_ = c.stdout.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, c.stdout)
	}
	c.stdout.Close()
	if <-c.gone; !c.fit() {
		os.Exit(0)
	}
}
