package enforcer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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

// Bound sets how many sandboxes the requests of one caller may have at once, zero
// meaning any number. Those that are there stay.
func (e *Enforcer) Bound(most int) {
	e.leases.mu.Lock()
	defer e.leases.mu.Unlock()
	e.leases.most = most
}

// Sandboxes lists the live ones, the oldest first.
func (e *Enforcer) Sandboxes() []Sandbox { return e.leases.list() }

// RemoveSandbox stops and removes one; found is false when there is none of that id.
func (e *Enforcer) RemoveSandbox(id string) (found bool) {
	return len(e.leases.drop("removed", func(l *lease) bool { return l.id() == id })) > 0
}

// Reap removes every sandbox that nobody is using now, and what earlier runs of
// this sidecar left behind; it returns how many sandboxes.
func (e *Enforcer) Reap(ctx context.Context) (int, error) {
	idle := e.leases.drop("removed", func(l *lease) bool { return l.users == 0 })
	if err := await(ctx, idle); err != nil {
		return len(idle), err
	}
	swept, err := e.Sweep(ctx)
	return len(idle) + swept, err
}

// Sweep removes the sandboxes and workspaces of this owner that no lease holds,
// such as those that a killed sidecar or an engine that was away left behind; it
// returns how many sandboxes.
func (e *Enforcer) Sweep(ctx context.Context) (removed int, err error) {
	var faults []error
	for name, backend := range e.Backends {
		n, err := e.sweep(ctx, name, backend)
		removed += n
		if err != nil {
			faults = append(faults, fmt.Errorf("sweeping %s: %w", name, err))
		}
	}
	return removed, errors.Join(faults...)
}

// sweep removes sandboxes first, since they hold their workspaces.
func (e *Enforcer) sweep(ctx context.Context, name string, backend backends.Backend) (removed int, err error) {
	if sweeper, ok := backend.(backends.Sweeper); ok {
		removed, err = sweeper.Sweep(ctx, e.Owner, e.leases.holds)
		for range removed {
			e.Observer.SandboxReaped(name, "orphan")
		}
	}
	if keeper, ok := backend.(backends.Keeper); ok && err == nil {
		err = e.sweepWorkspaces(ctx, keeper)
	}
	return removed, err
}

func (e *Enforcer) sweepWorkspaces(ctx context.Context, keeper backends.Keeper) error {
	found, err := keeper.Workspaces(ctx, e.Owner)
	if err != nil {
		return err
	}
	var faults []error
	for _, workspace := range found {
		if l := e.leases.clear(workspace); l != nil {
			faults = append(faults, keeper.RemoveWorkspace(ctx, e.Owner, workspace))
			e.leases.forget(l)
		}
	}
	return errors.Join(faults...)
}

// clear takes a workspace that is nobody's, so that whoever comes now waits until
// it is gone; nil if it is somebody's.
func (ls *leases) clear(workspace string) *lease {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if until, parked := ls.parked[workspace]; parked && time.Now().Before(until) {
		return nil
	}
	delete(ls.parked, workspace)
	for l := range ls.all {
		if l.spec.Workspace == workspace {
			return nil
		}
	}
	l := &lease{tenant: tenant{spec: backends.Spec{Workspace: workspace}}, ready: make(chan struct{}), gone: make(chan struct{}),
		err: errSwept, removed: true, emptying: true}
	close(l.ready)
	ls.all[l] = true
	return l
}

var errSwept = errors.New("the workspace is being swept")

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

// holds says whether a sandbox is a lease's, or could be that of one which is
// just being made and whose id is not known yet.
func (ls *leases) holds(id string) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if l.isOpening() || l.id() == id {
			return true
		}
	}
	return false
}

func (l *lease) isOpening() bool {
	select {
	case <-l.ready:
		return false
	default:
		return true
	}
}

func (ls *leases) list() []Sandbox {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	var list []Sandbox
	for l := range ls.all {
		if id := l.id(); id != "" && !l.removed {
			list = append(list, Sandbox{ID: id, Backend: l.backend, Caller: l.caller, Session: l.session,
				Image: l.spec.Image, Users: l.users, Since: l.since, LastUsed: l.used})
		}
	}
	slices.SortFunc(list, func(a, b Sandbox) int {
		return cmp.Or(a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	return list
}

// drop takes the leases that match out of use and closes them, whoever uses
// them: their commands are killed with the sandbox.
func (ls *leases) drop(reason string, match func(*lease) bool) (dropped []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if !l.removed && match(l) {
			ls.retire(l, reason)
			ls.remove(l)
			dropped = append(dropped, l)
		}
	}
	return dropped
}

// end drops a session's leases and returns, when they are gone, how many there
// were. A sandbox that is the user's stays for the user's other sessions.
func (ls *leases) end(ctx context.Context, caller, session string) (int, error) {
	dropped := ls.drop("session_end", func(l *lease) bool { return l.caller == caller && l.session == session && !l.shared })
	return len(dropped), await(ctx, dropped)
}

// close drops all leases and returns when every one is gone.
func (ls *leases) close() {
	ls.mu.Lock()
	clear(ls.parked)
	ls.mu.Unlock()
	ls.drop("shutdown", func(*lease) bool { return true })
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

// workdir is where a session's last command ended, and the lease it did in.
func (ls *leases) workdir(caller, session string) workdir {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	at := ls.workdirs[hash(caller, session)]
	if at.lease == nil || !at.lease.alive() {
		return workdir{}
	}
	return at
}

// moved remembers where a session's command ended; an empty path forgets it.
func (ls *leases) moved(l *lease, caller, session, path string, inWorkspace bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.alone {
		return // nobody comes back to its folders
	}
	if path == "" || l.removed {
		delete(ls.workdirs, hash(caller, session))
		return
	}
	ls.workdirs[hash(caller, session)] = workdir{l, path, inWorkspace}
}
