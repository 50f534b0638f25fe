package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// Child is a runner that is a child process of this one, or below one.
type Child struct {
	*Client
	*Held
}

// Launch starts the command, whose standard input and output must be a
// runner's, and attaches to it. What must be done in between, admit does; what
// before, prepare does, as [Hold] says. The end of its standard error becomes part
// of the error if anything fails.
func Launch(ctx context.Context, cmd *exec.Cmd, place Place, prepare, admit func() error) (*Child, error) {
	conn, err := connect(cmd)
	if err != nil {
		return nil, fmt.Errorf("making pipes for the runner: %w", err)
	}
	c := new(Child)
	if c.Held, err = Hold(cmd, prepare, admit); err != nil {
		conn.Close()
		return nil, err
	}
	if c.Client, err = Attach(ctx, conn, place); err != nil {
		conn.Close()
		c.Held.kill()
		return nil, c.explain(err)
	}
	return c, nil
}

// Held is a child process that has a thread of this process to itself.
type Held struct {
	program *subprocess.Program
	words   headtail.Last
	exited  chan struct{}
	err     error
}

// Hold starts the command in a session of its own; its standard input and output are
// closed here. What is to be done once it has started, admit does, or else it is killed
// with its process group. What before, prepare does, on the thread that starts the
// command and serves nothing else, so that namespaces which it enters are the command's
// alone and go with it. The end of its standard error becomes part of the error.
func Hold(cmd *exec.Cmd, prepare, admit func() error) (*Held, error) {
	h := &Held{exited: make(chan struct{})}
	cmd.Stderr, cmd.WaitDelay = &h.words, time.Second
	started := make(chan error)
	go h.hold(cmd, prepare, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting the runner: %w", err)
	}
	if err := admit(); err != nil {
		h.kill()
		return nil, h.explain(err)
	}
	return h, nil
}

func (h *Held) kill() {
	_ = h.program.Kill()
	<-h.exited
}

// Wait waits for its end, which is an error unless it ended well, with the end of its
// standard error.
func (h *Held) Wait() error {
	<-h.exited
	if h.err != nil {
		return h.explain(h.err)
	}
	return nil
}

// explain adds the end of its standard error.
func (h *Held) explain(err error) error {
	if said := bailiff.Foreign(h.words.String()); said != "" {
		return fmt.Errorf("%w (%s)", err, said)
	}
	return err
}

// hold keeps the thread that started the process for as long as the process
// lives: one that is to die with its parent dies with that thread. The thread
// ends, since the goroutine never unlocks it.
func (h *Held) hold(cmd *exec.Cmd, prepare func() error, started chan<- error) {
	runtime.LockOSThread()
	if onMainThread() { // it would never end, nor what it has entered
		defer runtime.UnlockOSThread()
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			h.start(cmd, prepare, started)
		}()
		<-locked
		return
	}
	h.start(cmd, prepare, started)
}

func (h *Held) start(cmd *exec.Cmd, prepare func() error, started chan<- error) {
	err := prepare()
	if err == nil {
		h.program, err = subprocess.Start(cmd)
	}
	for _, end := range []any{cmd.Stdin, cmd.Stdout} {
		end.(io.Closer).Close()
	}
	started <- err
	if err == nil {
		h.err = h.program.Wait()
		close(h.exited)
	}
}

// Close ends the runner and all it started and waits until the process is gone.
func (c *Child) Close(ctx context.Context) error {
	_ = c.Client.Close()
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-c.exited:
		return nil
	case <-ctx.Done():
	case <-late.C:
	}
	c.kill()
	return nil
}

// pipes is both directions of a conversation with a child.
type pipes struct {
	*os.File
	to *os.File
}

func (p pipes) Write(b []byte) (int, error) { return p.to.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.to.Close(), p.File.Close()) }

func connect(cmd *exec.Cmd) (pipes, error) {
	theirIn, to, err := os.Pipe()
	if err != nil {
		return pipes{}, err
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		return pipes{}, errors.Join(err, theirIn.Close(), to.Close())
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	return pipes{from, to}, nil
}
