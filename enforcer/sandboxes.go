package enforcer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// Sandbox is what operators are shown of one.
type Sandbox struct {
	ID, Backend, Image, Caller, Session string
	// Users counts the requests that are in it now, Processes what runs in the
	// background, Interpreters those that wait for a script or run one.
	Users, Processes, Interpreters int
	Since, LastUsed                time.Time
	// Expires is when it goes at the latest.
	Expires time.Time
}

// Sandboxes lists the live ones, the oldest first.
func (e *Enforcer) Sandboxes() []Sandbox { return e.leases.list() }

// RemoveSandbox stops and removes one; found is false when there is none of that id.
func (e *Enforcer) RemoveSandbox(id string) (found bool) {
	return len(e.leases.drop(reasonRemoved, func(l *lease) bool { return l.id() == id })) > 0
}

// Reap removes every sandbox that nobody is using now, and what earlier runs of
// this sidecar left behind; it returns how many sandboxes.
func (e *Enforcer) Reap(ctx context.Context) (int, error) {
	e.leases.pool.drain(reasonRemoved)
	idle := e.leases.drop(reasonRemoved, func(l *lease) bool { return l.users == 0 })
	if err := await(ctx, idle); err != nil {
		return len(idle), err
	}
	swept, err := e.Sweep(ctx)
	return len(idle) + swept, err
}

// reaped tells of the end of one.
func (e *Enforcer) reaped(l *lease, reason string, err error) {
	e.config.Observer.SandboxReaped(l.backend, reason)
	e.processes.bury(l)
	if err != nil {
		e.config.Log.Error("removing a sandbox", "backend", l.backend, "sandbox", l.id(), "error", err)
	}
	e.noteSandbox(l.caller, l.session, l.backend, l.id(), reason)
}

func (ls *leases) list() []Sandbox {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	var list []Sandbox
	for l := range ls.all {
		if id := l.id(); id != "" && !l.removed && l.alive() {
			list = append(list, l.shown(id))
		}
	}
	slices.SortFunc(list, func(a, b Sandbox) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	return list
}

// shown is a lease as operators see it; called with the lock held.
func (l *lease) shown(id string) Sandbox {
	running := 0
	for _, o := range l.occupants {
		if o.running() {
			running++
		}
	}
	return Sandbox{ID: id, Backend: l.backend, Caller: l.caller, Session: l.session, Image: l.spec.Image,
		Users: l.users - len(l.occupants), Processes: running, Interpreters: len(l.kernels.sitters()), Since: l.since, LastUsed: l.used, Expires: l.expires}
}

// drop takes the leases that match out of use and closes them, whoever uses
// them: their commands are killed with the sandbox.
func (ls *leases) drop(reason string, match func(*lease) bool) (dropped []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.dropAll(reason, match)
}

func (ls *leases) dropAll(reason string, match func(*lease) bool) (dropped []*lease) {
	for l := range ls.all {
		if !l.removed && match(l) {
			l.take(taking(reason))
			ls.retire(l, reason)
			ls.remove(l)
			dropped = append(dropped, l)
		}
	}
	return dropped
}

func (ls *leases) dropOne(l *lease, reason string) {
	ls.drop(reason, func(other *lease) bool { return other == l })
}

// close drops all leases and returns when every one is gone.
func (ls *leases) close() {
	ls.pool.close()
	ls.mu.Lock()
	clear(ls.parked)
	ls.mu.Unlock()
	ls.drop(reasonShutdown, func(*lease) bool { return true })
	ls.mu.Lock()
	all := slices.Collect(maps.Keys(ls.all))
	ls.mu.Unlock()
	_ = await(context.Background(), all) // every closing is bounded by itself
}

// await returns when the sandboxes of all leases are gone.
func await(ctx context.Context, all []*lease) error {
	for _, l := range all {
		select {
		case <-l.gone:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
