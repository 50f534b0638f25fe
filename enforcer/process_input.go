package enforcer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
)

// types says whether a request hands input to a process, which may be a shell.
func types(req bailiff.Request) bool { return req.Tool == bailiff.Process && req.Args.IsTyped() }

// address finds the process that a matter names. Input is judged with what reads it,
// where that was started and lives, the variables that it got, and what was typed
// before: the line that was begun, so that no command is typed in halves that are
// harmless each, and whether the process can still be known by what started it. An
// approval holds for one process in that very state.
func (e *Enforcer) address(m *matter) {
	p := e.processes.find(m.located)
	if m.process = p; p == nil || !types(m.located) {
		return
	}
	before, line := p.typed.soFar()
	m.begun = len(line)
	m.located.Backend, m.located.Env = p.lease.backend, slices.Clone(p.names)
	args := &m.located.Args
	args.Command, args.Workdir, args.Typed, args.Data = p.request.Args.Command, p.request.Args.Workdir, before, line+args.Data
}

// mismatch says why a decision is not one for what the process lives in and has.
func (p *process) mismatch(req bailiff.Request, d bailiff.Decision) string {
	if !p.lease.houses(tenancy(req, d, p.lease.spec.Owner)) {
		return "The policies order another sandbox for it than the one in which the process lives."
	}
	for _, name := range p.names {
		if !slices.Contains(d.Env.Forward, name) {
			return "The process got " + name + ", which the policies do not let into this."
		}
	}
	return ""
}

// houses says whether a tenant's sandbox would be like this one, whoever shares it.
// The image does not count: a tenant's may be one that is not pinned yet.
func (l *lease) houses(t tenant) bool {
	t.spec.Image, t.spec.Workspace = l.spec.Image, l.spec.Workspace
	return l.backend == t.backend && l.fingerprint == fingerprint(t.spec)
}

const (
	// longestLine bounds a line that is typed in parts.
	longestLine = 64 << 10
	// typedEnd is how much of what was typed whoever is asked is shown.
	typedEnd = 4 << 10
)

var (
	errOvertaken = errors.New("another request wrote to the process meanwhile, so this one was judged without knowing what it continues; send it again")
	errTorn      = errors.New("it takes no input any more: an earlier write or the sidecar itself ended in the middle of a line, and nobody knows what it has read")
	errLongLine  = fmt.Errorf("more than %d bytes without a line's end are too much to be judged", longestLine)
)

// typed is the input of a process as far as it was written.
type typed struct {
	writer turn // whose turn it is to write
	mu     sync.Mutex
	so     bailiff.Typed
	open   string // the line that has no end yet
	torn   bool   // a write was cut off
}

// newTyped is the input of a process that was started with some.
func newTyped(stdin string) *typed {
	t := &typed{writer: newTurn()}
	if stdin != "" {
		t.add(stdin, false)
	}
	return t
}

// retyped is the input of a process of which only is known whether a line may have
// been begun. No approval of earlier input holds for it.
func retyped(midline bool) *typed {
	t := newTyped(rand.Text())
	t.so.End, t.open, t.torn = "", "", midline
	return t
}

// soFar is what was typed, and the line that was begun.
func (t *typed) soFar() (all bailiff.Typed, line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.so, t.open
}

// midline says that a line may have been begun.
func (t *typed) midline() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.torn || t.open != ""
}

// begin is an error if what was typed is not what input was judged to continue.
// From here on a line may have been begun.
func (t *typed) begin(judged bailiff.Typed, data string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.torn:
		return errTorn
	case t.so != judged:
		return errOvertaken
	case len(openLine(t.open+data)) > longestLine:
		return errLongLine
	}
	t.torn = true
	return nil
}

// wrote notes what was written whole. Unless it was plain, nobody can tell from then
// on what a text means to the process.
func (t *typed) wrote(data string, plain bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(data, plain)
	t.torn = false
}

func (t *typed) add(data string, plain bool) {
	end := t.so.End + data
	t.so = bailiff.Typed{Opaque: t.so.Opaque || !plain, Digest: hash(t.so.Digest, data), End: strings.ToValidUTF8(end[max(0, len(end)-typedEnd):], "")}
	t.open = openLine(t.open + data)
}

// write hands on a matter's input, which was judged as what follows all that was
// typed before. The ledger knows beforehand: a sidecar that is killed meanwhile leaves
// a process to which nobody writes any more.
func (p *process) write(ctx context.Context, g grant, end string) error {
	data := g.located.Args.Data[g.begun:] + end
	if err := p.typed.writer.take(ctx); err != nil {
		return err
	}
	defer p.typed.writer.pass()
	if err := p.typed.begin(g.located.Args.Typed, data); err != nil {
		return err
	}
	defer p.lease.leases.changed(p.lease)
	p.lease.leases.changed(p.lease)
	if err := p.job.Write(ctx, []byte(data)); err != nil {
		return err
	}
	p.typed.wrote(data, g.Plain)
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
