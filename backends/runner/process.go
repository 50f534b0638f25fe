package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// lost is the exit of what went with its sandbox.
var lost = backends.Exit{Code: 137, Lost: true}

var errOver = errors.New("the command has ended")

// process is a background command.
type process struct {
	client *Client
	tag    string
	// placed says that it takes one of the client's places while it runs.
	placed bool
	// writing is held by who writes.
	writing chan struct{}

	once sync.Once
	exit backends.Exit
	done chan struct{}
}

func (c *Client) newProcess(tag string, placed bool) *process {
	return &process{client: c, tag: tag, placed: placed, writing: make(chan struct{}, 1), done: make(chan struct{})}
}

// Start starts a command in the background, as [backends.Sandbox] says. Its input
// begins with cmd.Stdin and stays open.
func (c *Client) Start(ctx context.Context, cmd backends.Command, tag string) (backends.Process, error) {
	call, job, err := c.admit(ctx, cmd, wire.Terms{Mode: wire.Background, Tag: tag})
	if err != nil {
		return nil, err
	}
	defer c.drop(call)
	p := c.newProcess(tag, c.places != nil)
	p.writing <- struct{}{}
	if err = c.know(p); err == nil {
		err = c.started(call, job)
	}
	if err != nil {
		c.unknow(p)
		p.end(lost)
		return nil, err
	}
	go p.begin(cmd.Stdin)
	return p, nil
}

// begin passes the first of the input on.
func (p *process) begin(stdin []byte) {
	defer func() { <-p.writing }()
	_ = p.feed(context.Background(), stdin) // what is not read shows by itself
}

// started has the runner start a command and waits for its word that it has.
func (c *Client) started(call *call, job []byte) error {
	go func() {
		if err := c.out.SendAll(wire.Start, call.stream, job); err != nil {
			c.fail(fmt.Errorf("speaking to the runner: %w", err))
		}
	}()
	_, err := c.answerInTime(context.Background(), call)
	return err
}

// Processes lists background commands, as [backends.Sandbox] says.
func (c *Client) Processes(context.Context) ([]backends.Process, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return nil, c.err
	}
	list := make([]backends.Process, len(c.processes))
	for i, p := range c.processes {
		list[i] = p
	}
	return list, nil
}

// meet makes a process known that an earlier client has started.
func (c *Client) meet(k wire.Known) {
	placed := false
	if c.places != nil && !k.Over {
		select {
		case c.places <- struct{}{}:
			placed = true
		default: // there are more than would be let in
		}
	}
	p := c.newProcess(k.Tag, placed)
	if k.Over {
		p.end(c.exitOf(k.End))
	}
	c.processes = append(c.processes, p)
}

func (c *Client) know(p *process) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return fmt.Errorf("%w: %w", backends.ErrNotStarted, c.err)
	}
	if slices.ContainsFunc(c.processes, func(other *process) bool { return other.tag == p.tag }) {
		return fmt.Errorf("%w: %w", backends.ErrNotStarted, unfit(fmt.Errorf("there is a background command %q already", p.tag)))
	}
	c.processes = append(c.processes, p)
	return nil
}

func (c *Client) unknow(p *process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = slices.DeleteFunc(c.processes, func(other *process) bool { return other == p })
}

// over hears that a background command has ended.
func (c *Client) over(f wire.Frame) {
	k, err := wire.Decode[wire.Known](f.Payload)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.processes {
		if p.tag == k.Tag {
			p.end(c.exitOf(k.End))
		}
	}
}

func (p *process) end(exit backends.Exit) {
	p.once.Do(func() {
		p.exit = exit
		if p.placed {
			p.client.leave()
		}
		close(p.done)
	})
}

// Tag is the name it was given at its start.
func (p *process) Tag() string { return p.tag }

// Done is closed when the command has ended, or the sandbox was lost.
func (p *process) Done() <-chan struct{} { return p.done }

// Exit is how it ended, once Done is closed.
func (p *process) Exit() backends.Exit { return p.exit }

// maxFed bounds the input that is passed on at once.
const maxFed = 16 << 10

// Write passes input on, as [backends.Process] says.
func (p *process) Write(ctx context.Context, data []byte) error {
	if err := p.hold(ctx); err != nil {
		return err
	}
	defer func() { <-p.writing }()
	return p.feed(ctx, data)
}

func (p *process) feed(ctx context.Context, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), maxFed)
		if _, err := p.ask(ctx, wire.Feed, wire.Inquiry{Data: data[:n]}, false); err != nil {
			return fmt.Errorf("writing to the command: %w", err)
		}
		data = data[n:]
	}
	return nil
}

// CloseInput ends the input.
func (p *process) CloseInput(ctx context.Context) error {
	if err := p.hold(ctx); err != nil {
		return err
	}
	defer func() { <-p.writing }()
	if _, err := p.ask(ctx, wire.Feed, wire.Inquiry{}, true); err != nil {
		return fmt.Errorf("ending the command's input: %w", err)
	}
	return nil
}

// hold waits until no other caller writes.
func (p *process) hold(ctx context.Context) error {
	select {
	case p.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Log reads up to most bytes of the output, as [backends.Process] says.
func (p *process) Log(ctx context.Context, offset int64, most int) (backends.Piece, error) {
	whole := backends.Piece{From: offset}
	for {
		next := whole.From + int64(len(whole.Data))
		piece, err := p.read(ctx, next, min(most-len(whole.Data), wire.MaxLogged))
		if err != nil {
			return backends.Piece{}, fmt.Errorf("reading the command's log: %w", err)
		}
		if len(whole.Data) == 0 {
			whole.From = piece.From
		} else if piece.From != next {
			return whole, nil // what comes next is there no more
		}
		whole.Data, whole.Written = append(whole.Data, piece.Data...), piece.Written
		if len(piece.Data) == 0 || len(whole.Data) >= most {
			return whole, nil
		}
	}
}

// read asks again where the log was just being handed over.
func (p *process) read(ctx context.Context, offset int64, most int) (wire.Piece, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*grace)
	defer cancel()
	question := wire.Inquiry{Offset: offset, Most: most}
	answer, err := p.ask(ctx, wire.Log, question, true)
	if errors.Is(err, errOver) {
		answer, err = p.ask(ctx, wire.Log, question, true)
	}
	if err != nil {
		return wire.Piece{}, err
	}
	return wire.Decode[wire.Piece](answer.Payload)
}

// Kill ends it with everything it started, as [backends.Process] says.
func (p *process) Kill(ctx context.Context) error {
	_, err := p.ask(ctx, wire.Stop, wire.Inquiry{}, true)
	if err != nil && !errors.Is(err, errOver) {
		return fmt.Errorf("ending a background command: %w", err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Forget gives up what the runner keeps of it.
func (p *process) Forget(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*grace)
	defer cancel()
	if _, err := p.ask(ctx, wire.Forget, wire.Inquiry{}, true); err != nil {
		return fmt.Errorf("forgetting a background command: %w", err)
	}
	p.client.unknow(p)
	return nil
}

// ask sends a question about the process. It gives up waiting when the process
// ends meanwhile.
func (p *process) ask(ctx context.Context, kind wire.Kind, i wire.Inquiry, last bool) (wire.Frame, error) {
	call, err := p.client.open()
	if err != nil {
		return wire.Frame{}, err
	}
	defer p.client.drop(call)
	i.Tag = p.tag
	done := p.done
	select {
	case <-done:
		done = nil
	default:
	}
	go p.client.say(wire.Frame{Kind: kind, Stream: call.stream, Last: last, Payload: wire.Encode(i)})
	return p.client.answer(ctx, call, done)
}
