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
	if _, parked := ls.parked[t.files()]; parked {
		return true
	}
	if _, kept := ls.kept.get(t.files()); kept {
		return true
	}
	for l := range ls.all {
		if l.sharesFiles(t) && !l.emptying {
			return true
		}
	}
	return false
}

// vacant forgets how a workspace is called that is about to go, and the folders of
// a sandbox that failed there.
func (ls *leases) vacant(workspace string) {
	maps.DeleteFunc(ls.homes, func(_, home string) bool { return home == workspace })
	maps.DeleteFunc(ls.workdirs, func(_ string, at workdir) bool { return at.lease.spec.Workspace == workspace && at.stays() })
}

// emptying lists the ends to wait for before a tenant's workspace is used again.
func (ls *leases) emptying(t tenant) (ends []<-chan struct{}) {
	for l := range ls.all {
		if l.emptying && l.sharesFiles(t) {
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

// fate is what becomes of the files of a sandbox that is closed.
type fate int

const (
	stays    fate = iota // for others who are on them, or for a while
	persists             // until their session ends
	goes
)

// file keeps or removes the files of a lease whose sandbox is gone.
func (l *lease) file(ctx context.Context, reason string) error {
	keeper, ok := l.maker.(backends.Keeper)
	if !ok || l.spec.Workspace == "" {
		return nil
	}
	switch l.leases.fate(l, reason) {
	case persists:
		return l.leases.kept.keep(l.workspace())
	case goes:
		l.leases.kept.letGo(l.workspace().Key())
		return keeper.RemoveWorkspace(ctx, l.spec.Owner, l.spec.Workspace)
	}
	return nil
}

// fate decides what becomes of the files of a lease that goes for a reason. Whoever
// comes to files that are to be removed waits until that is done.
func (ls *leases) fate(l *lease, reason string) fate {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	stay := l.parking(reason)
	if stay > 0 {
		ls.parked[l.files()] = parking{time.Now().Add(stay), reason}
	}
	keeps := l.persistent && l.taken != reasonEnd
	if l.filed = keeps || stay > 0 || !ls.isLastIn(l); !l.filed {
		l.emptying = true
		ls.vacant(l.spec.Workspace)
		delete(ls.parked, l.files())
		return goes
	}
	if keeps {
		return persists
	}
	return stays
}

// parking is for how long the files of a sandbox stay that failed or was taken
// away, so that whoever goes on finds them again; zero if they go with it.
func (l *lease) parking(reason string) time.Duration {
	switch {
	case l.taken == reasonEnd:
		return 0
	case reason == reasonFrozen:
		return maxAge
	case reason == reasonPolicy, reason == reasonFailed:
		return l.idle
	}
	return 0
}

// park keeps the workspace of a sandbox that nobody goes on with for a while.
func (ls *leases) park(of ledger.Sandbox, reason string, d time.Duration) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.homes[of.Slot] = of.Spec.Workspace
	ls.parked[keptKey(of.Backend, of.Spec.Workspace)] = parking{time.Now().Add(d), reason}
}

// unpark forgets what was parked for long enough.
func (ls *leases) unpark() {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	maps.DeleteFunc(ls.parked, func(_ string, p parking) bool { return !time.Now().Before(p.until) })
}

// end drops a session's leases, and takes over what files it left before, so that
// nobody who comes from now on finds any. It returns how many it dropped, all that
// are on their way out, and what it took over. A sandbox that is the user's stays
// for the user's other sessions.
func (ls *leases) end(caller, session string, backends []string) (dropped int, ending, left []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	its := func(l *lease) bool { return l.caller == caller && l.session == session && !l.shared }
	dropped = len(ls.dropAll(reasonEnd, its))
	for l := range ls.all {
		if !its(l) {
			continue
		}
		ending = append(ending, l)
		if l.spec.Workspace != "" && l.taken != reasonFrozen {
			l.taken, l.emptying = reasonEnd, true
			ls.vacant(l.spec.Workspace)
		}
	}
	for _, backend := range backends {
		for _, workspace := range ls.left(caller, session, backend) {
			if l := ls.takeOver(backend, workspace); l != nil {
				left = append(left, l)
			}
		}
	}
	return dropped, ending, left
}

// left lists the workspaces on a backend that are a session's alone and stay though
// nobody is in them. What an operator's freeze keeps is not the session's to remove.
func (ls *leases) left(caller, session, backend string) (names []string) {
	for _, w := range ls.kept.find(func(w ledger.Workspace) bool {
		return w.Backend == backend && w.Caller == caller && w.Session == session && !w.Shared
	}) {
		names = append(names, w.Name)
	}
	home := hash("session", caller, session)
	if other := ls.homes[hash("session", caller, session, backend)]; other != "" {
		home = other
	}
	if ls.parked[keptKey(backend, home)].reason != "" {
		names = append(names, home)
	}
	return slices.DeleteFunc(names, func(name string) bool { return ls.parked[keptKey(backend, name)].reason == reasonFrozen })
}

// isLastIn says whether nobody else works, or is about to, on a closed lease's
// workspace. Who waits for this one's end does not.
func (ls *leases) isLastIn(l *lease) bool {
	for other := range ls.all {
		if other != l && other.sharesFiles(l.tenant) && !other.filed && (!l.emptying || other.emptying) {
			return false
		}
	}
	return true
}

// abandoned takes a backend's workspace that is nobody's, as takeOver does.
func (ls *leases) abandoned(backend, workspace string) *lease {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.isToStay(backend, workspace) {
		return nil
	}
	return ls.takeOver(backend, workspace)
}

// takeOver takes a backend's workspace in which nobody is, so that whoever comes now
// waits until it is gone; nil if somebody is in it.
func (ls *leases) takeOver(backend, workspace string) *lease {
	t := tenant{backend: backend, spec: backends.Spec{Workspace: workspace}}
	for l := range ls.all {
		if l.sharesFiles(t) && !l.filed {
			return nil
		}
	}
	if ls.pool.keeps(workspace) {
		return nil
	}
	delete(ls.parked, t.files())
	ls.vacant(workspace)
	l := &lease{tenant: t, ready: make(chan struct{}), gone: make(chan struct{}),
		err: errSwept, removed: true, emptying: true}
	close(l.ready)
	ls.all[l] = true
	return l
}

// isToStay says whether a workspace stays though nobody is in it.
func (ls *leases) isToStay(backend, workspace string) bool {
	key := keptKey(backend, workspace)
	w, kept := ls.kept.get(key)
	return kept && !isForgotten(w) || time.Now().Before(ls.parked[key].until)
}

var errSwept = errors.New("the workspace is being swept")
