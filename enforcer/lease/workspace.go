package lease

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
)

// findWorkspaceLocked finds the workspace of a spec that has no sandbox. If there is
// none yet, it may be that of a sandbox that stands ready, which is returned then.
func (p *Pool) findWorkspaceLocked(t *Spec) backends.Sandbox {
	if name := p.names[t.slot]; name != "" {
		t.spec.Workspace = name
	}
	if p.hasFilesLocked(*t) {
		return nil
	}
	ready, found := p.supply.Take(supply.Wanted{Backend: t.backend, Spec: t.spec, Age: t.age})
	if !found {
		return nil
	}
	if t.spec = ready.Spec; !t.alone {
		p.names[t.slot] = t.spec.Workspace
	}
	return ready.Sandbox
}

// hasFilesLocked says whether there are files in a spec's workspace that are to stay.
func (p *Pool) hasFilesLocked(t Spec) bool {
	if _, retained := p.retained[t.files()]; retained {
		return true
	}
	if _, kept := p.kept.get(t.files()); kept {
		return true
	}
	return anyOf(p.all, func(l *Lease) bool { return l.sharesFiles(t) && !l.emptying })
}

// forgetWorkspaceLocked forgets how a workspace is called that is about to go, and the folders of
// a sandbox that failed there.
func (p *Pool) forgetWorkspaceLocked(workspace string) {
	maps.DeleteFunc(p.names, func(_, name string) bool { return name == workspace })
	maps.DeleteFunc(p.workdirs, func(_ string, at Workdir) bool { return at.lease.spec.Workspace == workspace && at.staysLocked() })
}

// removalsLocked lists the ends to wait for before a spec's workspace is used again.
func (p *Pool) removalsLocked(t Spec) (ends []<-chan struct{}) {
	for l := range p.all {
		if l.emptying && l.sharesFiles(t) {
			ends = append(ends, l.gone)
		}
	}
	return ends
}

// retention is until when an unused workspace stays, and for which reason.
type retention struct {
	until  time.Time
	reason string
}

// filesEnd is what becomes of the files of a sandbox that is closed.
type filesEnd int

const (
	stays    filesEnd = iota // for other leases on them, or for a while
	persists                 // until their session ends
	goes
)

// settleFiles keeps or removes the files of a lease whose sandbox is gone. In doubt whose the sandbox is, those that are to go are
// left with it to a sweep.
func (l *Lease) settleFiles(ctx context.Context, reason string, doubt error) error {
	keeper, ok := l.maker.(backends.Keeper)
	if !ok || l.spec.Workspace == "" {
		l.pool.forgetGiven(l)
		return nil
	}
	switch l.pool.decideFiles(l, reason) {
	case persists:
		return l.pool.remember(l)
	case goes:
		l.pool.kept.letGo(keptKey(l.backend, l.spec.Workspace))
		if doubt != nil {
			l.pool.noteUnremoved(l, doubt)
			return nil
		}
		err := keeper.RemoveWorkspace(ctx, l.spec.Owner, l.spec.Workspace)
		l.pool.noteUnremoved(l, err)
		return err
	}
	return nil
}

// decideFiles says what becomes of the files of a lease that goes for a reason. A
// request that comes to files that are to be removed waits until that is done.
func (p *Pool) decideFiles(l *Lease, reason string) filesEnd {
	p.mu.Lock()
	defer p.mu.Unlock()
	stay := l.retainForLocked(reason)
	if stay > 0 {
		p.retained[l.files()] = retention{time.Now().Add(stay), reason}
	}
	keeps := l.persistent && l.evicted != reasonEnd
	if l.filed = keeps || stay > 0 || !p.isLastInLocked(l); !l.filed {
		l.emptying = true
		p.forgetWorkspaceLocked(l.spec.Workspace)
		delete(p.retained, l.files())
		delete(p.given, l.givenKey())
		return goes
	}
	if keeps {
		return persists
	}
	return stays
}

// retainForLocked is for how long the files of a sandbox stay that failed or was taken away,
// so that its session finds them again; zero if they go with it.
func (l *Lease) retainForLocked(reason string) time.Duration {
	switch {
	case reason == reasonSuperseded: // it is not this sidecar's any more to remove
		return maxAge
	case l.evicted == reasonEnd:
		return 0
	case reason == reasonFrozen, reason == reasonOutage:
		return maxAge
	case reason == reasonPolicy, reason == reasonFailed:
		return l.idle
	}
	return 0
}

// retain keeps the workspace of a sandbox that is not gone on with for a while.
func (p *Pool) retain(of ledger.Sandbox, reason string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names[of.Slot] = of.Spec.Workspace
	p.retained[keptKey(of.Backend, of.Spec.Workspace)] = retention{time.Now().Add(d), reason}
}

// expireRetained forgets what was retained for long enough.
func (p *Pool) expireRetained() {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.retained, func(_ string, r retention) bool { return !time.Now().Before(r.until) })
}

// end drops a session's leases, and takes over what files it left before, so that
// no request that comes from now on finds any. It returns how many it dropped, all that
// are on their way out, and what it took over. A sandbox that is the user's stays
// for the user's other sessions.
func (p *Pool) end(caller, session string) (dropped int, ending, left []*Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	its := func(l *Lease) bool { return l.caller == caller && l.session == session && !l.shared }
	dropped = len(p.dropLocked(reasonEnd, its))
	for l := range p.all {
		if !its(l) {
			continue
		}
		ending = append(ending, l)
		if l.spec.Workspace != "" && l.evicted != reasonFrozen {
			l.evicted, l.emptying = reasonEnd, true
			p.forgetWorkspaceLocked(l.spec.Workspace)
		}
	}
	for backend := range p.config.Backends {
		for _, workspace := range p.leftLocked(caller, session, backend) {
			if l := p.takeOverLocked(backend, workspace); l != nil {
				left = append(left, l)
			}
		}
	}
	return dropped, ending, left
}

// leftLocked lists the workspaces on a backend that are a session's alone and stay
// unused. What an operator's freeze keeps is not the session's to remove.
func (p *Pool) leftLocked(caller, session, backend string) (names []string) {
	for _, w := range p.kept.find(func(w ledger.Workspace) bool {
		return w.Backend == backend && w.Caller == caller && w.Session == session && !w.Shared
	}) {
		names = append(names, w.Name)
	}
	name := cmp.Or(p.names[supply.Hash("session", caller, session, backend)], supply.Hash("session", caller, session))
	if p.retained[keptKey(backend, name)].reason != "" {
		names = append(names, name)
	}
	return slices.DeleteFunc(names, func(name string) bool { return p.retained[keptKey(backend, name)].reason == reasonFrozen })
}

// isLastInLocked says whether no other lease is, or is about to be, on a closed lease's
// workspace. One that waits for this one's end is not.
func (p *Pool) isLastInLocked(l *Lease) bool {
	return !anyOf(p.all, func(other *Lease) bool {
		return other != l && other.sharesFiles(l.Spec) && !other.filed && (!l.emptying || other.emptying)
	})
}

// abandoned takes over a backend's workspace that is not to stay.
func (p *Pool) abandoned(backend, workspace string) *Lease {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isKeptLocked(backend, workspace) {
		return nil
	}
	return p.takeOverLocked(backend, workspace)
}

// takeOverLocked takes a backend's unused workspace, so that a request that comes now
// waits until it is gone; nil if it is in use.
func (p *Pool) takeOverLocked(backend, workspace string) *Lease {
	t := Spec{backend: backend, spec: backends.Spec{Workspace: workspace}}
	if anyOf(p.all, func(l *Lease) bool { return l.sharesFiles(t) && !l.filed }) || p.supply.Keeps(workspace) {
		return nil
	}
	delete(p.retained, t.files())
	delete(p.given, t.givenKey())
	p.forgetWorkspaceLocked(workspace)
	l := &Lease{Spec: t, ready: make(chan struct{}), gone: make(chan struct{}),
		err: errSwept, removed: true, emptying: true}
	close(l.ready)
	p.all[l] = true
	return l
}

// isKeptLocked says whether an unused workspace stays.
func (p *Pool) isKeptLocked(backend, workspace string) bool {
	key := keptKey(backend, workspace)
	w, kept := p.kept.get(key)
	return kept && !isUnused(w) || time.Now().Before(p.retained[key].until)
}

var errSwept = errors.New("the workspace is being swept")
