package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Run runs a command to its end, as [backends.Sandbox] says.
func (c *Client) Run(ctx context.Context, cmd backends.Command, out func([]byte)) (backends.Exit, error) {
	call, job, err := c.admit(ctx, cmd, wire.Terms{})
	if err != nil {
		return backends.Exit{}, err
	}
	defer c.leave()
	defer c.drop(call)
	stop := make(chan struct{})
	defer close(stop)
	go c.send(call, job, cmd.Stdin, stop)
	return c.follow(ctx, call, cmd.Timeout, func(f wire.Frame) {
		if f.Kind == wire.Output {
			out(f.Payload)
		}
	})
}

// admit encodes a command, waits until there is room for it, and opens a stream.
// Who gets no error has taken a place and must leave it.
func (c *Client) admit(ctx context.Context, cmd backends.Command, terms wire.Terms) (*call, []byte, error) {
	job, err := c.job(cmd, terms)
	if err != nil {
		err = unfit(err)
	} else if err = c.refusalToStart(); err == nil {
		err = c.enter(ctx, cmd.Timeout)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", backends.ErrNotStarted, err)
	}
	call, err := c.open()
	if err != nil {
		c.leave()
		return nil, nil, err
	}
	return call, job, nil
}

// enter waits until few enough commands run for another to have room.
func (c *Client) enter(ctx context.Context, timeout time.Duration) error {
	if err := ctx.Err(); err != nil || c.places == nil {
		return err
	}
	wait := longestWait
	if timeout > 0 {
		wait = min(wait, timeout)
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case c.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return c.fault()
	case <-late.C:
		return fmt.Errorf("%w: %d commands run in it at once, and its limit of %d processes leaves no room for another; try again when "+
			"one has ended",
			backends.ErrFull, cap(c.places), c.place.PIDs)
	}
}

func (c *Client) leave() {
	if c.places != nil {
		<-c.places
	}
}

// follow hands on what the command says until it has ended.
func (c *Client) follow(ctx context.Context, call *call, timeout time.Duration, hear func(wire.Frame)) (backends.Exit, error) {
	watch := newWatch(timeout)
	defer watch.timer.Stop()
	interrupt := ctx.Done()
	for {
		select {
		case <-call.news:
			if exit, done, err := c.handle(call, hear); done {
				return exit, err
			}
			watch.reset()
		case <-interrupt:
			interrupt = nil
			watch.end = time.Now()
			watch.reset()
			go c.interrupt(call)
		case <-watch.timer.C:
			c.fail(errors.New("the runner did not end a command in time"))
		case <-c.done:
			if exit, done, err := c.handle(call, hear); done { // it may have ended just before
				return exit, err
			}
			return backends.Exit{}, c.fault()
		}
	}
}

// interrupt ends a command, which the runner must know before it hears that.
func (c *Client) interrupt(call *call) {
	select {
	case <-call.sent:
		c.say(wire.Frame{Kind: wire.Interrupt, Stream: call.stream, Last: true})
	case <-c.done:
	}
}

// watch is how long the runner is waited for. Time in which the reader of the
// output was busy does not count.
type watch struct {
	end   time.Time
	timer *time.Timer
}

func newWatch(timeout time.Duration) *watch {
	if timeout <= 0 {
		w := &watch{timer: time.NewTimer(time.Hour)}
		w.timer.Stop()
		return w
	}
	return &watch{time.Now().Add(timeout), time.NewTimer(timeout + grace)}
}

func (w *watch) reset() {
	if !w.end.IsZero() {
		w.timer.Reset(max(0, time.Until(w.end)) + grace)
	}
}

// handle deals with what the runner said about a command.
func (c *Client) handle(call *call, hear func(wire.Frame)) (exit backends.Exit, done bool, err error) {
	for _, f := range call.take() {
		switch f.Kind {
		case wire.Started:
			hear(f)
		case wire.Output, wire.Line:
			hear(f)
			call.read(cost(f))
			go c.say(wire.Frame{Kind: wire.Credit, Stream: call.stream, Payload: wire.Encode(wire.Number(cost(f)))})
		case wire.Credit:
			if n, err := wire.Decode[wire.Number](f.Payload); err == nil {
				call.allow(int(n))
			}
		case wire.Refused:
			return exit, true, c.refused(f)
		case wire.Ended:
			end, err := wire.Decode[wire.End](f.Payload)
			return c.exitOf(end), true, err
		}
	}
	return exit, false, nil
}

// refused words why a command did not start. A runner that can start nothing any
// more is given up, so that another sandbox takes its place.
func (c *Client) refused(f wire.Frame) error {
	refusal, err := wire.Decode[wire.Refusal](f.Payload)
	if err != nil {
		return err
	}
	err = errors.New(refusal.Text)
	switch refusal.Reason {
	case wire.Unfit:
		err = unfit(err)
	case wire.Full:
		err = fmt.Errorf("%w: %w", backends.ErrFull, err)
	case wire.Superseded:
		err = fmt.Errorf("%w: %w", backends.ErrSuperseded, err)
		c.fail(err)
	default:
		c.giveUp(err)
	}
	return fmt.Errorf("%w: %w", backends.ErrNotStarted, err)
}

func unfit(err error) error { return fmt.Errorf("%w: %w", backends.ErrUnfit, err) }

func (c *Client) exitOf(end wire.End) backends.Exit {
	return backends.Exit{Code: end.Code, TimedOut: end.TimedOut, Interrupted: end.Interrupted, Lost: end.Lost, Starved: end.Starved,
		Excess: excessOf(end.Excess), Dropped: end.Dropped, Workdir: end.Dir, InWorkspace: end.Dir == c.place.Workspace, Duration: end.Took}
}

func excessOf(x wire.Excess) backends.Excess {
	e := backends.Excess{Limit: backends.WorkspaceFiles, Found: x.Found, Most: x.Most, Uncounted: x.Kind == wire.Uncounted,
		Stopped: x.Stopped}
	switch x.Kind {
	case wire.Within:
		return backends.Excess{}
	case wire.Bytes:
		e.Limit, e.Found, e.Most = backends.WorkspaceMB, (x.Found+mib-1)/mib, x.Most/mib
	}
	return e
}

const mib = 1 << 20

// send starts the command and feeds its input as fast as it is read.
func (c *Client) send(call *call, job, stdin []byte, stop <-chan struct{}) {
	if err := c.out.SendAll(wire.Start, call.stream, job); err != nil {
		c.fail(fmt.Errorf("speaking to the runner: %w", err))
		return
	}
	close(call.sent)
	if len(stdin) > 0 {
		to := &inlet{c, call, wire.Window}
		to.feed(stdin, true, stop)
	}
}

// inlet is where a command's input goes.
type inlet struct {
	client *Client
	call   *call
	left   int // what may be sent
}

// feed sends input as fast as it is read; false means that it was not all sent.
func (i *inlet) feed(p []byte, last bool, stop <-chan struct{}) bool {
	for len(p) > 0 {
		n := min(len(p), wire.MaxPayload)
		for n > i.left {
			select {
			case more := <-i.call.credit:
				i.left += more
			case <-stop:
				return false
			case <-i.client.done:
				return false
			}
		}
		i.client.say(wire.Frame{Kind: wire.Stdin, Stream: i.call.stream, Payload: p[:n], Last: last && n == len(p)})
		i.left -= n
		p = p[n:]
	}
	return true
}

// job encodes a command.
func (c *Client) job(cmd backends.Command, terms wire.Terms) ([]byte, error) {
	if len(cmd.Argv) == 0 || cmd.Argv[0] == "" {
		return nil, errors.New("the command names no program")
	}
	for _, word := range cmd.Argv {
		if strings.ContainsRune(word, 0) {
			return nil, errors.New("the command holds a NUL byte, which no program can be given")
		}
	}
	dir := c.place.Workspace
	if cmd.Workdir != "" {
		dir = cmd.Workdir
	}
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) || len(dir) > bailiff.MaxWorkdir {
		return nil, fmt.Errorf("working directory %q is not an absolute path, or longer than %d bytes", bailiff.Beginning(dir, 200),
			bailiff.MaxWorkdir)
	}
	env, err := c.environment(cmd.Env)
	if err != nil {
		return nil, err
	}
	terms.Timeout, terms.Reap, terms.Label = max(0, cmd.Timeout), cmd.Reap, cmd.Label
	job := wire.Encode(wire.Job{Terms: terms, Input: len(cmd.Stdin) > 0 || terms.Mode != wire.Foreground,
		Head: max(0, cmd.HeadBytes), Tail: max(0, cmd.TailBytes), Dir: dir, Argv: cmd.Argv, Env: env})
	if len(job) > wire.MaxJob {
		return nil, fmt.Errorf("the command and its variables have %d bytes, want at most %d", len(job), wire.MaxJob)
	}
	return job, nil
}

// environment is what a command sees: the fixed variables and the given ones.
func (c *Client) environment(given map[string]bailiff.Secret) ([]string, error) {
	var env []string
	for _, fixed := range [][2]string{
		{"PATH", wire.SearchPath},
		{"HOME", c.place.Home},
		{"SHELL", shell},
		{"LANG", "C.UTF-8"},
		{"TERM", "dumb"},
	} {
		if _, replaced := given[fixed[0]]; !replaced {
			env = append(env, fixed[0]+"="+fixed[1])
		}
	}
	for name, value := range given {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return nil, fmt.Errorf("%q is no name for a variable", name)
		}
		if strings.ContainsRune(value.Reveal(), 0) {
			return nil, fmt.Errorf("the value of %s holds a NUL byte", name)
		}
		env = append(env, name+"="+value.Reveal())
	}
	return env, nil
}

// call is one question to the runner, as long as it is open.
type call struct {
	stream uint32
	credit chan int
	// endPrecedence has the bytes of connections wait for it no more.
	endPrecedence func()
	// sent is closed when the command has been sent.
	sent chan struct{}
	// news has an element when frames may be waiting.
	news chan struct{}

	mu     sync.Mutex
	frames []wire.Frame
	unread int
}

// put queues a frame; false means that it is one too many.
func (c *call) put(f wire.Frame) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.Payload = bytes.Clone(f.Payload)
	c.frames = append(c.frames, f)
	c.unread += cost(f)
	select {
	case c.news <- struct{}{}:
	default:
	}
	return c.unread <= 2*wire.Window
}

// cost is what a frame takes of a stream's window.
func cost(f wire.Frame) int { return len(f.Payload) + wire.Overhead }

func (c *call) take() []wire.Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	frames := c.frames
	c.frames = nil
	return frames
}

// read notes that output was handed on.
func (c *call) read(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread -= n
}

// allow adds to what the sender of input may send.
func (c *call) allow(n int) {
	select {
	case earlier := <-c.credit:
		n += earlier
	default:
	}
	c.credit <- n
}
