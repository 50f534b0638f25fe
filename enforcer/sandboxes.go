package enforcer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/audit"
)

// Sandbox is what operators are shown of one.
type Sandbox struct {
	ID, Backend, Image, Caller, Session string
	// Users counts the requests that are in it now.
	Users           int
	Since, LastUsed time.Time
}

// Sandboxes lists the live ones, the oldest first.
func (e *Enforcer) Sandboxes() []Sandbox { return e.leases.list() }

// RemoveSandbox stops and removes one; found is false when there is none of that id.
func (e *Enforcer) RemoveSandbox(id string) (found bool) {
	return e.leases.drop("removed", func(l *lease) bool { return l.id() == id }) > 0
}

// Reap removes every sandbox that nobody is using now, and what earlier runs of
// this sidecar left behind; it returns how many.
func (e *Enforcer) Reap(ctx context.Context) (int, error) {
	idle := e.leases.drop("removed", func(l *lease) bool { return l.users == 0 })
	e.leases.closing.Wait()
	swept, err := e.Sweep(ctx)
	return idle + swept, err
}

// Sweep removes the sandboxes of this owner that no lease holds, such as those
// that a killed sidecar left running.
func (e *Enforcer) Sweep(ctx context.Context) (removed int, err error) {
	keep := map[string]bool{}
	for _, sandbox := range e.Sandboxes() {
		keep[sandbox.ID] = true
	}
	for name, backend := range e.Backends {
		sweeper, ok := backend.(backends.Sweeper)
		if !ok {
			continue
		}
		n, err := sweeper.Sweep(ctx, e.Owner, keep)
		for range n {
			e.Observer.SandboxReaped(name, "orphan")
		}
		removed += n
		if err != nil {
			return removed, fmt.Errorf("sweeping %s: %w", name, err)
		}
	}
	return removed, nil
}

// opened tells of the making of a sandbox.
func (e *Enforcer) opened(backend string, err error, took time.Duration) {
	e.Observer.SandboxStarted(backend, err, took)
}

// reaped tells of the end of one.
func (e *Enforcer) reaped(l *lease, reason string, err error) {
	e.Observer.SandboxReaped(l.backend, reason)
	if err != nil {
		e.Log.Error("removing a sandbox", "backend", l.backend, "sandbox", l.id(), "error", err)
	}
	e.Recorder.Note(bailiff.Event{
		DecisionID: audit.NewID(), Timestamp: time.Now().UTC(), RequestedBy: l.caller,
		Custom: bailiff.Custom{Event: bailiff.SandboxEvent, Session: l.session, Backend: l.backend, SandboxID: l.id(), Message: reason},
	})
}

// id is the sandbox's, empty while it is being opened or if that failed.
func (l *lease) id() string {
	select {
	case <-l.ready:
	default:
		return ""
	}
	if l.err != nil {
		return ""
	}
	return l.sandbox.ID()
}

func (ls *leases) list() []Sandbox {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	var list []Sandbox
	for _, l := range ls.live {
		if id := l.id(); id != "" {
			list = append(list, Sandbox{ID: id, Backend: l.backend, Caller: l.caller, Session: l.session,
				Image: l.spec.Image, Users: l.users, Since: l.since, LastUsed: l.used})
		}
	}
	slices.SortFunc(list, func(a, b Sandbox) int {
		if c := a.Since.Compare(b.Since); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// drop takes the leases that match out of use, whoever uses them, and returns
// how many there were.
func (ls *leases) drop(reason string, match func(*lease) bool) int {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	n := 0
	for _, l := range ls.live {
		if match(l) {
			n++
			ls.evict(l, reason)
		}
	}
	return n
}

// evict removes a lease without waiting for its users: their commands are
// killed with the sandbox.
func (ls *leases) evict(l *lease, reason string) {
	ls.retire(l, reason)
	ls.remove(l)
}

// end evicts a session's leases and returns, when they are closed, how many
// there were.
func (ls *leases) end(ctx context.Context, caller, session string) (int, error) {
	n := ls.drop("session_end", func(l *lease) bool { return l.caller == caller && l.session == session })
	closed := make(chan struct{})
	go func() { ls.closing.Wait(); close(closed) }()
	select {
	case <-closed:
		return n, nil
	case <-ctx.Done():
		return n, ctx.Err()
	}
}

func (ls *leases) close() {
	ls.drop("shutdown", func(*lease) bool { return true })
	ls.closing.Wait()
}

func (ls *leases) workdir(caller, session string) string {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	at := ls.workdirs[hash(caller, session)]
	if at.lease == nil || !at.lease.alive() {
		return ""
	}
	return at.path
}

// moved remembers where a session's command ended; an empty path forgets it.
func (ls *leases) moved(l *lease, caller, session, path string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if path == "" || l.removed || l.alone {
		delete(ls.workdirs, hash(caller, session))
		return
	}
	ls.workdirs[hash(caller, session)] = workdir{l, path}
}
