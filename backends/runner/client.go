// Package runner is the client of the resident program bailiff-runner, which
// runs commands inside a sandbox. A backend makes the place, starts the program
// there and hands its standard input and output to [Attach]; the [Client] does
// the rest, so that a technology's sandbox is a client with a name and a way to
// remove it.
//
// Commands run concurrently. What they write is held back at its source when its
// reader is slow, so that no command keeps others waiting or fills memory.
//
// Background commands stay in the sandbox when a client goes, and a client
// that attaches later finds them. Their output stays there too, until it is asked for.
//
// Where the sandbox has no other way out, connections of its programs come over the same
// stream ([Client.OpenOutlet]).
//
// Values of variables leave this process over the stream only.
package runner

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// grace is how long a runner may take to end a command, beyond the command's
// own time, before the sandbox is given up.
const grace = 5 * time.Second

// longestWait is how long a command waits for others to make room, at most.
const longestWait = 30 * time.Second

// Of a bound on processes the runner's threads take some for themselves, and
// each command its supervisor's threads and a few of its own.
const (
	runnersShare  = 24
	commandsShare = 14
)

// Place says what a sandbox looks like to its commands.
type Place struct {
	// Home is the value of HOME; empty means /home.
	Home string
	// Workspace is where commands work that name no folder; empty means /workspace.
	Workspace string
	// PIDs is how many processes there can be; zero means no bound. Of commands
	// no more run at once than have room; further ones wait.
	PIDs int
	// WorkspaceMB and WorkspaceFiles are how much may be in the workspace, in MiB and in files and
	// folders; zero means no bound. Over it, what makes it grow is killed.
	WorkspaceMB, WorkspaceFiles int
	// Linger is how long the runner, with all that runs there, outlives the last
	// word of a client; zero means until its input ends.
	Linger time.Duration
	// Outlet says that the sandbox has no network but the outlet that it may be given.
	Outlet bool
	// Names says that programs there are led to a resolver of the runner's.
	Names bool
	// Epoch is that of this sidecar's name where sidecars share a store: a runner that a higher one has greeted
	// does nothing for it. Zero means that they share none.
	Epoch int64
}

// PlaceOf is what a sandbox looks like that was made by a spec.
func PlaceOf(spec backends.Spec, linger time.Duration) Place {
	return Place{PIDs: spec.PIDs, WorkspaceMB: spec.WorkspaceMB, WorkspaceFiles: spec.WorkspaceFiles, Linger: linger,
		Outlet: spec.Network == backends.Egress}
}

// Client runs commands through one runner.
type Client struct {
	stream io.Closer
	out    *wire.Writer
	place  Place
	places chan struct{} // one for each command that runs; nil if nothing bounds them
	outlet atomic.Pointer[outlet]
	// precedence is that of calls before the bytes of the outlet.
	precedence precedence

	mu    sync.Mutex
	calls map[uint32]*call
	next  uint32
	// processes are the background commands, in the order of their start.
	processes []*process
	// refusal is why the runner starts nothing more, err why it can be reached no more.
	refusal, err error
	done         chan struct{}
}

// Attach greets the runner at the other end of the stream and waits for its
// answer. The stream is closed when that fails, or with the client.
func Attach(ctx context.Context, stream io.ReadWriteCloser, place Place) (*Client, error) {
	if place.Home == "" {
		place.Home = "/home"
	}
	if place.Workspace == "" {
		place.Workspace = "/workspace"
	}
	c := &Client{stream: stream, out: wire.NewWriter(stream), place: place, calls: map[uint32]*call{}, done: make(chan struct{})}
	if place.PIDs > 0 {
		c.places = make(chan struct{}, max(1, (place.PIDs-runnersShare)/commandsShare))
	}
	in, err := c.greet(ctx, stream)
	if err != nil {
		stream.Close()
		return nil, fmt.Errorf("attaching to the runner: %w", err)
	}
	go c.listen(in)
	if place.Linger > 0 {
		staying := wire.Frame{Kind: wire.KeepAlive, Last: true}
		go backends.Every(place.Linger/4, c.done, func() { c.say(staying) })
	}
	return c, nil
}

func (c *Client) greet(ctx context.Context, stream io.ReadWriteCloser) (*wire.Reader, error) {
	stop := context.AfterFunc(ctx, func() { stream.Close() })
	defer stop()
	nonce := rand.Text()
	c.next = binary.LittleEndian.Uint32([]byte(nonce)) // an earlier client's numbers are not ours
	in := wire.NewBulkReader(stream)
	sent := make(chan error, 1)
	go func() { sent <- c.hello(nonce) }()
	answer, err := awaitHello(in, nonce)
	if err == nil {
		err = <-sent
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("it gave no answer: %w", err)
	case answer.Version != wire.Version:
		return nil, fmt.Errorf("it speaks version %d of the protocol, want %d: install both programs from one release", answer.Version,
			wire.Version)
	case answer.Epoch > c.place.Epoch:
		return nil, fmt.Errorf("%w: its epoch is %d, this one's is %d", backends.ErrSuperseded, answer.Epoch,
			c.place.Epoch)
	case answer.Epoch > 0: // else the runner is an earlier release's, which cannot read it
		c.out.SetEpoch(answer.Epoch)
	}
	for _, k := range answer.Processes {
		c.meet(k)
	}
	return in, nil
}

func (c *Client) hello(nonce string) error {
	if err := c.out.Resync(); err != nil {
		return err
	}
	return c.out.SendAll(wire.Hello, 0, wire.Encode(wire.Greeting{Version: wire.Version, Nonce: nonce, Linger: c.place.Linger,
		Bound: c.place.bound(), Epoch: c.place.Epoch}))
}

func (p Place) bound() wire.Bound {
	if p.WorkspaceMB == 0 && p.WorkspaceFiles == 0 {
		return wire.Bound{}
	}
	return wire.Bound{Folder: p.Workspace, Bytes: int64(p.WorkspaceMB) * mib, Files: int64(p.WorkspaceFiles)}
}

func awaitHello(in *wire.Reader, nonce string) (wire.Greeting, error) {
	for {
		f, err := in.Next()
		if err != nil {
			return wire.Greeting{}, err
		}
		if f.Kind != wire.Hello {
			continue
		}
		if g, err := wire.Decode[wire.Greeting](f.Payload); err == nil && g.Nonce == nonce {
			return g, nil
		}
	}
}

// Done is closed when the runner can be reached no more.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the conversation and with it the runner and all it started.
func (c *Client) Close() error {
	c.fail(errors.New("the sandbox was closed"))
	return nil
}

// CheckLatest asks the runner whether a later run has it: nil if not, and an error that wraps [backends.ErrSuperseded] if so. One that
// does not answer soon has said neither, which is another error. Where sidecars share nothing none is asked.
func (c *Client) CheckLatest(ctx context.Context) error {
	if c.place.Epoch == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, supersededTime)
	defer cancel()
	_, err := c.Alive(ctx)
	return err
}

// supersededTime is how long a runner may take to say whether a later run has it.
const supersededTime = time.Second

// Alive counts the processes that ended commands left behind.
func (c *Client) Alive(ctx context.Context) (int, error) { return c.ask(ctx, wire.Count) }

// Kill ends all that Alive counts. The runner gives each attempt a few seconds, in which a busy machine may have had no time
// to let hundreds of killed processes go: as long as each attempt leaves fewer than any before, another follows.
func (c *Client) Kill(ctx context.Context) error {
	for fewest := math.MaxInt; ; {
		left, err := c.ask(ctx, wire.Kill)
		if err != nil || left == 0 {
			return err
		}
		if left >= fewest {
			return fmt.Errorf("ending what commands left behind: %d processes did not go", left)
		}
		fewest = left
	}
}

// ask sends a question that is answered by one number.
func (c *Client) ask(ctx context.Context, kind wire.Kind) (int, error) {
	answer, err := c.question(ctx, wire.Frame{Kind: kind})
	if err != nil {
		return 0, err
	}
	n, err := wire.Decode[wire.Number](answer.Payload)
	return int(n), err
}

// question sends a question that is answered by one frame. A runner that does not
// answer is given up.
func (c *Client) question(ctx context.Context, f wire.Frame) (wire.Frame, error) {
	call, err := c.open()
	if err != nil {
		return wire.Frame{}, err
	}
	defer c.drop(call)
	f.Stream, f.Last = call.stream, true
	go c.say(f)
	return c.answerInTime(ctx, call)
}

func (c *Client) answerInTime(ctx context.Context, call *call) (wire.Frame, error) {
	late := time.AfterFunc(2*grace, func() { c.fail(errors.New("the runner does not answer")) })
	defer late.Stop()
	return c.answer(ctx, call, nil)
}

// answer waits for the one frame that answers a call, until what is asked about is
// over.
func (c *Client) answer(ctx context.Context, call *call, over <-chan struct{}) (wire.Frame, error) {
	for {
		select {
		case <-call.news:
			if answers := call.take(); len(answers) > 0 {
				return c.answered(answers[0])
			}
		case <-ctx.Done():
			return wire.Frame{}, ctx.Err()
		case <-over:
			if answers := call.take(); len(answers) > 0 { // it came just before
				return c.answered(answers[0])
			}
			return wire.Frame{}, errOver
		case <-c.done:
			return wire.Frame{}, c.fault()
		}
	}
}

func (c *Client) answered(f wire.Frame) (wire.Frame, error) {
	if f.Kind == wire.Refused {
		return wire.Frame{}, c.refused(f)
	}
	return f, nil
}

// listen hands frames to the calls they belong to, and never waits for any. What a
// runner still says once the conversation has ended is of the end itself: a command
// that it kills then was lost and has not exited.
func (c *Client) listen(in *wire.Reader) {
	for {
		f, err := in.Next()
		if err != nil {
			c.fail(fmt.Errorf("the runner is gone: %w", err))
			return
		}
		if isOfConns(f) && c.hearConns(f) {
			continue
		}
		if f.Stream == wire.Everything {
			c.hearAll(f)
		}
		c.mu.Lock()
		call, over := c.calls[f.Stream], c.err != nil
		c.mu.Unlock()
		if over {
			return
		}
		if call != nil && !call.put(f) {
			c.fail(errTooMuch)
			return
		}
	}
}

// hearConns takes what concerns connections; false means that it is an answer, too.
func (c *Client) hearConns(f wire.Frame) bool {
	if o := c.outlet.Load(); o != nil {
		if err := o.hear(f); err != nil {
			c.fail(err)
		}
	}
	return f.Kind != wire.OutletReady
}

// hearAll takes what concerns no single call.
func (c *Client) hearAll(f wire.Frame) {
	switch f.Kind {
	case wire.Refused:
		_ = c.refused(f)
	case wire.Over:
		c.over(f)
	}
}

func (c *Client) say(f wire.Frame) {
	if err := c.out.Send(f); err != nil {
		c.fail(fmt.Errorf("speaking to the runner: %w", err))
	}
}

// giveUp has the runner start nothing more. What it was told to start before comes to its end, or is refused: a caller that
// hears neither cannot know whether it ran. With the last of that the conversation ends.
func (c *Client) giveUp(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refusal == nil {
		c.refusal = err
	}
	c.endIfGivenUpLocked()
}

func (c *Client) endIfGivenUpLocked() {
	if c.refusal != nil && len(c.calls) == 0 {
		c.failLocked(c.refusal)
	}
}

// refusalToStart is nil unless the runner starts nothing more.
func (c *Client) refusalToStart() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refusal
}

// fail ends the conversation for good.
func (c *Client) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failLocked(err)
}

func (c *Client) failLocked(err error) {
	if c.err == nil {
		c.err = err
		if o := c.outlet.Load(); o != nil {
			o.fail(err)
		}
		close(c.done)
		c.stream.Close()
		for _, p := range c.processes {
			p.end(lost)
		}
	}
}

func (c *Client) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Client) open() (*call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, fmt.Errorf("%w: %w", backends.ErrNotStarted, c.err)
	}
	if c.next++; c.next == wire.Everything {
		c.next++
	}
	call := &call{stream: c.next, news: make(chan struct{}, 1), credit: make(chan int, 1), sent: make(chan struct{}),
		endPrecedence: c.precedence.begin()}
	c.calls[call.stream] = call
	return call, nil
}

func (c *Client) drop(call *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, call.stream)
	call.endPrecedence()
	c.endIfGivenUpLocked()
}
