package enforcer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// prepared finds the workspace of a tenant that has no sandbox. If there is none
// yet, it may be that of a sandbox that stands ready: the tenant then gets its
// spec, and the sandbox is returned.
func (ls *leases) prepared(t *tenant, maker backends.Backend) backends.Sandbox {
	if home := ls.homes[t.slot]; home != "" {
		t.spec.Workspace = home
	}
	if ls.isInhabited(*t) {
		return nil
	}
	ready := ls.pool.take(*t, maker)
	if ready == nil {
		return nil
	}
	if t.spec = ready.spec; !t.alone {
		ls.homes[t.slot] = t.spec.Workspace
	}
	return ready.sandbox
}

// isInhabited says whether there are files in a tenant's workspace that are to stay.
func (ls *leases) isInhabited(t tenant) bool {
	if _, parked := ls.parked[t.spec.Workspace]; parked {
		return true
	}
	if _, kept := ls.kept.get(keptKey(t.backend, t.spec.Workspace)); kept {
		return true
	}
	for l := range ls.all {
		if t.spec.Workspace != "" && l.spec.Workspace == t.spec.Workspace && l.backend == t.backend && !l.emptying {
			return true
		}
	}
	return false
}

// settle remembers which workspace is a slot's.
func (ls *leases) settle(slot, workspace string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.homes[slot] = workspace
}

// vacant forgets how a workspace is called that is about to go.
func (ls *leases) vacant(workspace string) {
	maps.DeleteFunc(ls.homes, func(_, home string) bool { return home == workspace })
}

// emptying lists the ends to wait for before a workspace is used again.
func (ls *leases) emptying(workspace string) (ends []<-chan struct{}) {
	for l := range ls.all {
		if l.emptying && l.spec.Workspace == workspace {
			ends = append(ends, l.gone)
		}
	}
	return ends
}

// parking is until when a workspace stays in which nobody is, and for which reason.
type parking struct {
	until  time.Time
	reason string
}

// filing says what becomes of the files of a sandbox that is closed; they are
// removed if nothing keeps them.
type filing struct {
	reason string
	parked time.Duration // so that whoever goes on finds them again
	kept   bool          // since they are persistent
}

// filed says what becomes of a lease's files when it goes for a reason.
func (l *lease) filed(reason string) filing {
	f := filing{reason: reason}
	if l.spec.Workspace == "" || l.taken == reasonEnd {
		return f
	}
	f.kept = l.persistent
	switch reason {
	case reasonFrozen:
		f.parked = maxAge
	case reasonPolicy, reasonFailed:
		f.parked = l.idle
	}
	return f
}

// file keeps or removes the files of a lease whose sandbox is gone.
func (l *lease) file(ctx context.Context, f filing) (err error) {
	if f.kept {
		err = l.leases.kept.keep(l.workspace())
	}
	if f.parked > 0 {
		l.leases.park(l.spec.Workspace, f.reason, f.parked)
	}
	if keeper, ok := l.maker.(backends.Keeper); ok && !f.kept && f.parked == 0 && l.leases.isLastIn(l) {
		l.leases.kept.letGo(l.workspace().Key())
		err = keeper.RemoveWorkspace(ctx, l.spec.Owner, l.spec.Workspace)
	}
	return err
}

// park keeps a workspace that no lease has for a while.
func (ls *leases) park(workspace, reason string, d time.Duration) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.parked[workspace] = parking{time.Now().Add(d), reason}
}

// unpark forgets what was parked for long enough.
func (ls *leases) unpark() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	maps.DeleteFunc(ls.parked, func(_ string, p parking) bool { return !time.Now().Before(p.until) })
}

// left lists the workspaces on a backend that are a session's alone and in which
// nobody is. What an operator's freeze keeps is not the session's to remove.
func (ls *leases) left(caller, session, backend string) (names []string) {
	for _, w := range ls.kept.find(func(w ledger.Workspace) bool {
		return w.Backend == backend && w.Caller == caller && w.Session == session && !w.Shared
	}) {
		names = append(names, w.Name)
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	home := hash("session", caller, session)
	if other := ls.homes[hash("session", caller, session, backend)]; other != "" {
		home = other
	}
	if ls.parked[home].reason != "" {
		names = append(names, home)
	}
	return slices.DeleteFunc(names, func(name string) bool { return ls.parked[name].reason == reasonFrozen })
}

// isLastIn says whether nobody else works, or is about to, on a closed lease's
// workspace; whoever comes now waits until it is gone.
func (ls *leases) isLastIn(l *lease) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.spec.Workspace == "" {
		return false
	}
	for other := range ls.all {
		if other == l || other.spec.Workspace != l.spec.Workspace || other.moved {
			continue
		}
		if !l.emptying || other.emptying { // else the other waits for this one
			l.moved = true
			return false
		}
	}
	l.emptying = true
	ls.vacant(l.spec.Workspace)
	delete(ls.parked, l.spec.Workspace)
	return true
}

// takeOver takes a backend's workspace in which nobody is, so that whoever comes now
// waits until it is gone; nil if somebody is in it, or it is to stay, unless nothing
// is to stay there.
func (ls *leases) takeOver(backend, workspace string, nothing bool) *lease {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if !nothing && ls.isToStay(backend, workspace) {
		return nil
	}
	delete(ls.parked, workspace)
	for l := range ls.all {
		if l.spec.Workspace == workspace {
			return nil
		}
	}
	if ls.pool.keeps(workspace) {
		return nil
	}
	ls.vacant(workspace)
	l := &lease{tenant: tenant{spec: backends.Spec{Workspace: workspace}}, ready: make(chan struct{}), gone: make(chan struct{}),
		err: errSwept, removed: true, emptying: true}
	close(l.ready)
	ls.all[l] = true
	return l
}

// isToStay says whether a workspace stays though nobody is in it.
func (ls *leases) isToStay(backend, workspace string) bool {
	w, kept := ls.kept.get(keptKey(backend, workspace))
	return kept && !isForgotten(w) || time.Now().Before(ls.parked[workspace].until)
}

var errSwept = errors.New("the workspace is being swept")
