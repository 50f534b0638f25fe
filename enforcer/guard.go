package enforcer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/process"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// errProtected keeps a command from a folder whose protected files cannot be compared.
var errProtected = errors.New("protected files")

// guard keeps the protected files of the folders that one command, script or process may write as
// they were. It looks at them every second, and once more at its end. It is safe for concurrent use.
type guard struct {
	watch *protected.Watch
	git   GitWatch // nil where git in sandboxes is not kept apart
	log   func(changes []protected.Change, fault error)
	over  chan struct{}
	// isDisplaced says whether the sandbox shows what mounts hid; drop removes it then.
	isDisplaced func() bool
	drop        func()

	mu    sync.Mutex
	ended bool
	kept  []protected.Change // put back, and to be told
	lost  []protected.Change // could not be
	more  int                // changes beyond those that are told
	fault error
}

// errDisplaced is of a sandbox that could write what it must not, for as long as nothing looked.
var errDisplaced = errors.New("a folder that the sandbox must not write, or its .git, was replaced on the host meanwhile; the sandbox " +
	"was removed: look at that folder before a program of yours uses it")

// mostTold is how many changes an answer names, and a line of the log.
const mostTold = 20

// guardOf begins to watch what a grant may write.
func (e *Enforcer) guardOf(ctx context.Context, g grant) (*guard, error) {
	held, mounts := g.held.Lease(), g.Decision.Backend.Mounts
	if held.IsDisplaced(mounts) {
		held.DropDisplaced()
		return nil, errors.Join(errProtected, errors.New("a folder that the sandbox must not write was replaced: the next request gets "+
			"another sandbox"))
	}
	own := held.Own()
	watch, err := e.protected.Watch(lease.Guarded(mounts, own))
	if err != nil {
		return nil, errors.Join(errProtected, err)
	}
	d := g.event.DecisionID
	var git GitWatch
	if e.config.Repositories != nil && len(own) > 0 {
		git = e.config.Repositories.Watch(own, d)
		git.Begin(ctx)
	}
	w := &guard{watch: watch, git: git, over: make(chan struct{}), drop: held.DropDisplaced,
		isDisplaced: func() bool { return held.IsDisplaced(mounts) },
		log: func(changes []protected.Change, fault error) {
			e.config.Observer.PutBack(len(changes))
			fault = errors.Join(fault, e.protected.Remember(changes))
			e.config.Log.WarnContext(context.WithoutCancel(ctx), "a command changed protected files", "decision", d,
				"put_back", changes[:min(mostTold, len(changes))], "changes", len(changes), "error", fault)
		}}
	if watch.IsOfAny() || git != nil && git.IsOfAny() {
		go w.attend()
	}
	return w, nil
}

// KeptAside are the changes of protected files that were put back, and whose changed version is there.
func (e *Enforcer) KeptAside() []protected.Kept { return e.protected.Aside() }

// TakeKept puts the changed version of a protected file in its place, and says where the one before it is.
func (e *Enforcer) TakeKept(path string) (protected.Kept, error) { return e.protected.Adopt(path) }

// attend looks while what is guarded goes on.
func (w *guard) attend() {
	for {
		pause := time.NewTimer(w.pause())
		select {
		case <-w.over:
			pause.Stop()
			return
		case <-pause.C:
			w.look()
		}
	}
}

func (w *guard) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watch.Pause()
}

func (w *guard) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.take(w.withPlaces(w.watch.Look()))
		w.bringOut()
	}
}

// withPlaces adds to the faults of a look that the sandbox shows what mounts hid, and ends it then.
func (w *guard) withPlaces(changes []protected.Change, fault error) ([]protected.Change, error) {
	if w.isDisplaced() {
		w.drop()
		fault = errors.Join(fault, errDisplaced)
	}
	return changes, fault
}

// bringOut brings out what git did, also of a command whose caller went away.
func (w *guard) bringOut() {
	if w.git != nil {
		w.git.Look(context.Background())
	}
}

// End puts back what was changed.
func (w *guard) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	close(w.over)
	w.take(w.withPlaces(w.watch.End()))
	w.bringOut()
}

// take keeps what is to be told. A fault of one look may be gone at the next, and is told if it is
// that of the last.
func (w *guard) take(changes []protected.Change, fault error) {
	isNew := fault != nil && (w.fault == nil || w.fault.Error() != fault.Error())
	if w.fault = fault; len(changes) > 0 || isNew || fault != nil && w.ended {
		w.log(changes, fault)
	}
	for _, c := range changes {
		switch {
		case len(w.kept)+len(w.lost) >= mostTold:
			w.more++
		case c.Lost:
			w.lost = append(w.lost, c)
		default:
			w.kept = append(w.kept, c)
		}
	}
}

// Tell puts into an answer what was put back, and what could not be.
func (w *guard) Tell(a *bailiff.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.kept) > 0 {
		note(a, "Put back, since programs start by it later and the change was not asked about: "+changeList(w.kept)+".")
	}
	if len(w.lost) > 0 {
		note(a, "Protected, and not put back: "+changeList(w.lost)+".")
	}
	if w.more > 0 {
		note(a, fmt.Sprintf("There are %d more such changes.", w.more))
	}
	if w.fault != nil {
		note(a, bailiff.Sentence(w.fault.Error()))
	}
	if w.git != nil {
		note(a, w.git.Told()...)
	}
}

func changeList(changes []protected.Change) string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = c.String()
	}
	return strings.Join(texts, ", ")
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
	return e.around(ctx, g, e.execGuarded)
}

func (e *Enforcer) execGuarded(ctx context.Context, g grant) answer {
	guard, err := e.guardOf(ctx, g)
	if err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	if g.located.Args.Background {
		return e.background(ctx, g, guard)
	}
	defer guard.End() // also if it panics
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
