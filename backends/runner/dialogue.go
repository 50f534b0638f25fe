package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// maxLine bounds a line that a command writes.
const maxLine = 8 << 20

// keptEnds is how much is kept of either end of a line that is longer.
const keptEnds = 1 << 10

// dialogue is the caller's side of a command that converses.
type dialogue struct {
	client *Client
	call   *call
	hear   backends.Listener
	line   []byte // what has come of the next line
	long   bool   // the line is too long, and only its ends are in it
	failed bool   // a line was too long for the listener
	cancel context.CancelFunc

	// started gets nil when the command has started, or why it has not.
	started chan error
	done    chan struct{}
	exit    backends.Exit

	// saying is held by who says something.
	saying chan struct{}
	to     inlet
}

// Converse starts a command that talks, as [backends.Sandbox] says.
func (c *Client) Converse(ctx context.Context, cmd backends.Command, hear backends.Listener) (backends.Dialogue, error) {
	cmd.HeadBytes, cmd.TailBytes = math.MaxInt, 0
	call, job, err := c.admit(ctx, cmd, wire.Terms{Mode: wire.Dialogue})
	if err != nil {
		return nil, err
	}
	d := &dialogue{client: c, call: call, hear: hear, started: make(chan error, 1), done: make(chan struct{}),
		saying: make(chan struct{}, 1), to: inlet{c, call, wire.Window}}
	alive, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d.cancel = cancel
	go c.send(call, job, nil, d.done)
	go d.follow(alive, cmd)
	select {
	case err := <-d.started:
		if err != nil {
			return nil, err
		}
		return d, nil
	case <-ctx.Done():
		cancel()
		<-d.done
		return nil, ctx.Err()
	}
}

// follow listens until the command has ended.
func (d *dialogue) follow(ctx context.Context, cmd backends.Command) {
	defer close(d.done)
	defer d.cancel()
	defer d.client.leave()
	defer d.client.drop(d.call)
	exit, err := d.client.follow(ctx, d.call, cmd.Timeout, d.take)
	if err != nil {
		exit = lost
	}
	d.exit = exit
	select {
	case d.started <- err: // of use only before it has started
	default:
	}
}

func (d *dialogue) take(f wire.Frame) {
	switch f.Kind {
	case wire.Started:
		d.started <- nil
	case wire.Output:
		d.hear.Output(f.Payload)
	case wire.Line:
		d.takeLine(f)
	}
}

func (d *dialogue) takeLine(f wire.Frame) {
	listener, takesLong := d.hear.(backends.LongListener)
	if !takesLong && len(d.line)+len(f.Payload) > maxLine {
		d.cancel()
		d.line, d.failed = nil, true
	}
	if d.failed {
		return
	}
	d.line = append(d.line, f.Payload...)
	if d.long = d.long || len(d.line) > maxLine; d.long && len(d.line) > 2*keptEnds {
		d.line = append(d.line[:keptEnds:keptEnds], d.line[len(d.line)-keptEnds:]...)
	}
	if !f.Last {
		return
	}
	line, isLong := d.line, d.long
	d.line, d.long = nil, false
	if isLong {
		listener.LongLine(line[:keptEnds], line[keptEnds:])
		return
	}
	d.hear.Line(line)
}

var errDialogueOver = errors.New("the command that would hear it has ended")

// Say writes one line.
func (d *dialogue) Say(line []byte) error {
	if bytes.IndexByte(line, '\n') >= 0 {
		return errors.New("a line of a dialogue holds a line's end")
	}
	select {
	case d.saying <- struct{}{}:
	case <-d.done:
		return errDialogueOver
	}
	defer func() { <-d.saying }()
	if d.isOver() || !d.to.feed(append(bytes.Clone(line), '\n'), false, d.done) {
		return errDialogueOver
	}
	return nil
}

func (d *dialogue) isOver() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// Break ends what the command's first process started, and interrupts that.
func (d *dialogue) Break() error {
	if d.isOver() {
		return errDialogueOver
	}
	if err := d.client.out.Send(wire.Frame{Kind: wire.Break, Stream: d.call.stream, Last: true}); err != nil {
		err = fmt.Errorf("speaking to the runner: %w", err)
		d.client.fail(err)
		return err
	}
	return nil
}

// Kill ends it with everything it started.
func (d *dialogue) Kill(ctx context.Context) error {
	d.cancel()
	select {
	case <-d.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done is closed when the command has ended, or the sandbox was lost.
func (d *dialogue) Done() <-chan struct{} { return d.done }

// Exit is how it ended, once Done is closed.
func (d *dialogue) Exit() backends.Exit { return d.exit }
