package enforcer

import (
	"errors"
	"maps"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
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

// parking is for how long the files of a sandbox stay that failed or was taken away, so that
// whoever may go on finds them again; zero for one that goes with them.
func (l *lease) parking(reason string) time.Duration {
	switch {
	case l.spec.Workspace == "":
		return 0
	case reason == reasonFrozen:
		return maxAge
	case reason == reasonPolicy, reason == reasonFailed:
		return l.idle
	}
	return 0
}

// park keeps a workspace that no lease has for a while.
func (ls *leases) park(workspace string, d time.Duration) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.parked[workspace] = time.Now().Add(d)
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
		if other != l && other.spec.Workspace == l.spec.Workspace {
			return false
		}
	}
	l.emptying = true
	ls.vacant(l.spec.Workspace)
	return true
}

// takeOver takes a workspace that is nobody's, so that whoever comes now waits until
// it is gone; nil if it is somebody's.
func (ls *leases) takeOver(workspace string) *lease {
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

var errSwept = errors.New("the workspace is being swept")
