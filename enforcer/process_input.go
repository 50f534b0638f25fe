package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// ruleProcess denies input to a process that lives under other terms.
const ruleProcess = "floor.process"

// types says whether a request hands input to a process, which may be a shell.
func types(req bailiff.Request) bool {
	return req.Tool == bailiff.Process && (req.Args.Action == "write" || req.Args.Action == "submit")
}

// address finds the process that a matter names. Input is judged with where the
// process lives, the variables that it got, and the line that was begun before, so
// that no command is typed in halves that are harmless each.
func (e *Enforcer) address(m *matter) {
	p := e.processes.find(m.located)
	if m.process = p; p == nil || !types(m.located) {
		return
	}
	line := p.typed.line()
	m.begun = len(line)
	m.located.Backend, m.located.Env, m.located.Args.Data = p.lease.backend, slices.Clone(p.names), line+m.located.Args.Data
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
	errTorn      = errors.New("it takes no input any more: an earlier write was cut off, and nobody knows how much of it was read")
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

// write hands input to a process whose line had begun as it had when the input was
// judged.
func (t *typed) write(ctx context.Context, job backends.Process, begun, data string) error {
	if err := t.writer.take(ctx); err != nil {
		return err
	}
	defer t.writer.pass()
	open := openLine(begun + data)
	switch {
	case t.torn:
		return errTorn
	case t.line() != begun:
		return errOvertaken
	case len(open) > longestLine:
		return errLongLine
	}
	err := job.Write(ctx, []byte(data))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open, t.torn = open, err != nil
	return err
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
