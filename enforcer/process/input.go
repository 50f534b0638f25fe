package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
	"github.com/bailiff-dev/bailiff/enforcer/turn"
)

// types says whether a request hands input to a process, which may be a shell.
func types(req bailiff.Request) bool { return req.Tool == bailiff.Process && req.Args.IsTyped() }

// Address completes a request that hands input to the process, and says how much of the
// data was typed before. Input is judged with what reads it, where that was started and
// lives, the variables that it got, and what was typed before: the line that was begun,
// so that no command is typed in halves that are harmless each, and whether the process
// can still be known by what started it. An approval holds for one process in that very
// state.
func (p *Process) Address(req bailiff.Request) (addressed bailiff.Request, begun int) {
	if !types(req) {
		return req, 0
	}
	before, line := p.typed.soFar()
	req.Backend, req.Env = p.lease.Backend(), slices.Clone(p.names)
	args := &req.Args
	args.Command, args.Workdir, args.Typed, args.Data = p.request.Args.Command, p.request.Args.Workdir, before, line+args.Data
	return req, len(line)
}

// Mismatch says why a decision about input is not one for what the process lives in and
// has; empty if it is.
func (p *Process) Mismatch(req bailiff.Request, d bailiff.Decision) string {
	if !types(req) {
		return ""
	}
	return p.mismatch(req, d)
}

func (p *Process) mismatch(req bailiff.Request, d bailiff.Decision) string {
	if !p.lease.WouldServe(req, d) {
		return "The policies order another sandbox for it than the one in which the process lives."
	}
	for _, name := range p.names {
		if !slices.Contains(d.Env.Forward, name) {
			return "The process got " + name + ", which the policies do not let into this."
		}
	}
	return ""
}

const (
	// longestLine bounds a line that is typed in parts.
	longestLine = 64 << 10
	// typedEnd is how much of what was typed approvers are shown.
	typedEnd = 4 << 10
)

var (
	errOvertaken = errors.New("another request wrote to the process meanwhile, so this one was judged without knowing what it " +
		"continues; send it again")
	errTorn = errors.New("it takes no input any more: an earlier write or the sidecar itself ended in the middle of a line, and " +
		"nobody knows what it has read")
	errLongLine = fmt.Errorf("more than %d bytes without a line's end are too much to be judged", longestLine)
)

// typed is the input of a process as far as it was written.
type typed struct {
	writer turn.Turn // whose turn it is to write
	mu     sync.Mutex
	so     bailiff.Typed
	open   string // the line that has no end yet
	torn   bool   // a write was cut off
}

// newTyped is the input of a process that was started with some.
func newTyped(stdin string) *typed {
	in := &typed{writer: turn.New()}
	if stdin != "" {
		in.add(stdin, false)
	}
	return in
}

// retyped is the input of a process of which only is known whether a line may have
// been begun. No approval of earlier input holds for it.
func retyped(midline bool) *typed {
	in := newTyped(rand.Text())
	in.so.End, in.open, in.torn = "", "", midline
	return in
}

// soFar is what was typed, and the line that was begun.
func (in *typed) soFar() (all bailiff.Typed, line string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.so, in.open
}

// midline says that a line may have been begun.
func (in *typed) midline() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.torn || in.open != ""
}

// begin is an error if what was typed is not what input was judged to continue.
// From here on a line may have been begun.
func (in *typed) begin(judged bailiff.Typed, data string) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.torn:
		return errTorn
	case in.so != judged:
		return errOvertaken
	case len(openLine(in.open+data)) > longestLine:
		return errLongLine
	}
	in.torn = true
	return nil
}

// wrote notes what was written whole. Unless it was plain, what a text means to
// the process is not known from then on.
func (in *typed) wrote(data string, plain bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.add(data, plain)
	in.torn = false
}

func (in *typed) add(data string, plain bool) {
	end := in.so.End + data
	in.so = bailiff.Typed{Opaque: in.so.Opaque || !plain, Digest: supply.Hash(in.so.Digest, data),
		End: strings.ToValidUTF8(end[max(0, len(end)-typedEnd):], "")}
	in.open = openLine(in.open + data)
}

// write hands on a task's input, which was judged as what follows all that was typed
// before. The ledger knows beforehand: a sidecar that is killed meanwhile leaves a
// process to which no request writes any more.
func (p *Process) write(ctx context.Context, t Task, end string) error {
	data := t.Request.Args.Data[t.Begun:] + end
	if err := p.typed.writer.Take(ctx); err != nil {
		return err
	}
	defer p.typed.writer.Pass()
	if err := p.lease.Serves(ctx, lease.KeyOf(p.request)); err != nil {
		return err
	}
	if err := p.typed.begin(t.Request.Args.Typed, data); err != nil {
		return err
	}
	defer p.lease.Changed()
	p.lease.Changed()
	if err := p.job.Write(ctx, []byte(data)); err != nil {
		return err
	}
	p.typed.wrote(data, t.Plain)
	return nil
}

// openLine is the end of a text that belongs to its last command: from the line on
// that has no end, or whose end a backslash hides.
func openLine(text string) string {
	begin := 0
	for at, c := range []byte(text) {
		if c == '\n' && !escaped(text[begin:at]) {
			begin = at + 1
		}
	}
	return text[begin:]
}

// escaped says whether what follows a text is escaped by its last backslash.
func escaped(text string) bool {
	return (len(text)-len(strings.TrimRight(text, `\`)))%2 == 1
}
