package enforcer

import (
	"context"
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
// where that lives, the variables that it got, and the line that was begun before, so
// that no command is typed in halves that are harmless each.
func (e *Enforcer) address(m *matter) {
	p := e.processes.find(m.located)
	if m.process = p; p == nil || !types(m.located) {
		return
	}
	line := p.typed.line()
	m.begun = len(line)
	m.located.Backend, m.located.Env = p.lease.backend, slices.Clone(p.names)
	m.located.Args.Command, m.located.Args.Data = p.request.Args.Command, line+m.located.Args.Data
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

// longestLine bounds a line that is typed in parts.
const longestLine = 1 << 20

var (
	errOvertaken = errors.New("another request wrote to the process meanwhile, so this one was judged without knowing what its line begins with; send it again")
	errTorn      = errors.New("it takes no input any more: an earlier write or the sidecar itself ended in the middle of a line, and nobody knows what it has read")
	errLongLine  = fmt.Errorf("more than %d bytes without a line's end are too much to be judged", longestLine)
)

// typed is the input of a process as far as it was written.
type typed struct {
	writer turn // whose turn it is to write
	mu     sync.Mutex
	open   string // the line that has no end yet
	torn   bool   // a write was cut off
}

func newTyped(stdin string) *typed { return &typed{writer: newTurn(), open: openLine(stdin)} }

func (t *typed) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open
}

// midline says that a line may have been begun.
func (t *typed) midline() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.torn || t.open != ""
}

func (t *typed) is(open string, torn bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.torn = open, torn
}

// begin is an error if what was typed is not what input was judged to continue.
// From here on a line may have been begun.
func (t *typed) begin(begun, data string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.torn:
		return errTorn
	case t.open != begun:
		return errOvertaken
	case len(openLine(begun+data)) > longestLine:
		return errLongLine
	}
	t.torn = true
	return nil
}

// write hands on input that was judged as the end of a line that had begun. The
// ledger knows beforehand: a sidecar that is killed meanwhile leaves a process to
// which nobody writes any more.
func (p *process) write(ctx context.Context, begun, data string) error {
	if err := p.typed.writer.take(ctx); err != nil {
		return err
	}
	defer p.typed.writer.pass()
	if err := p.typed.begin(begun, data); err != nil {
		return err
	}
	defer p.lease.leases.changed(p.lease)
	p.lease.leases.changed(p.lease)
	if err := p.job.Write(ctx, []byte(data)); err != nil {
		return err
	}
	p.typed.is(openLine(begun+data), false)
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
