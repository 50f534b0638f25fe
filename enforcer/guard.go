package enforcer

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/process"
	"github.com/bailiff-dev/bailiff/internal/protected"
)

// errProtected keeps a command from a folder whose protected files cannot be compared.
var errProtected = errors.New("protected files")

// guard keeps the protected files of the folders that one command, script or process may write as
// they were. It is safe for concurrent use.
type guard struct {
	watch *protected.Watch
	log   func(changes []protected.Change, fault error)

	mu   sync.Mutex
	said []string
}

// guardOf begins to watch what a grant may write.
func (e *Enforcer) guardOf(ctx context.Context, g grant) (*guard, error) {
	watch, err := e.protected.Watch(g.Decision.Backend.Mounts)
	if err != nil {
		return nil, errors.Join(errProtected, err)
	}
	d := g.event.DecisionID
	return &guard{watch: watch, log: func(changes []protected.Change, fault error) {
		e.config.Observer.PutBack(len(changes))
		e.config.Log.WarnContext(context.WithoutCancel(ctx), "a command changed protected files", "decision", d, "put_back", changes,
			"error", fault)
	}}, nil
}

// End puts back what was changed.
func (w *guard) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes, err := w.watch.End()
	if len(changes) == 0 && err == nil {
		return
	}
	w.log(changes, err)
	if len(changes) > 0 {
		texts := make([]string, len(changes))
		for i, c := range changes {
			texts[i] = c.String()
		}
		w.said = append(w.said,
			"Put back, since programs start by it later and the change was not asked about: "+strings.Join(texts, ", ")+".")
	}
	if err != nil {
		w.said = append(w.said, bailiff.Sentence(err.Error()))
	}
}

// Tell puts into an answer what was put back.
func (w *guard) Tell(a *bailiff.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	note(a, w.said...)
}

// both are two things that end with a process, and tell what became of them.
type both [2]process.Way

func (b both) End() {
	for _, one := range b {
		one.End()
	}
}

func (b both) Tell(a *bailiff.Answer) {
	for _, one := range b {
		one.Tell(a)
	}
}

// execInside runs what runs in a sandbox, and puts back what it changed of protected files.
func (e *Enforcer) execInside(ctx context.Context, g grant) answer {
	guard, err := e.guardOf(ctx, g)
	if err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	if g.located.Args.Background {
		return e.background(ctx, g, guard)
	}
	a := e.runInside(ctx, g)
	guard.End()
	guard.Tell(&a.Answer)
	return a
}

func (e *Enforcer) runInside(ctx context.Context, g grant) answer {
	if g.located.Tool == bailiff.ExecuteCode {
		return e.runCode(ctx, g)
	}
	return e.run(ctx, g)
}
