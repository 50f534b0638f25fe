package lease

import (
	"slices"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

// save has the ledger know a lease as it is now. One that it does not come to
// know is not adopted, and nothing worse.
func (p *Pool) save(l *Lease) {
	l.saveMu.Lock()
	defer l.saveMu.Unlock()
	record, due := p.record(l)
	if !due {
		return
	}
	if err := p.config.Ledger.Keep(record); err != nil {
		p.config.Log.Error("a restart will not go on with a sandbox", "backend", l.backend, "sandbox", l.ID(), "error", err)
	}
}

// Changed has the ledger know what became of the processes in the sandbox.
func (l *Lease) Changed() {
	l.pool.mu.Lock()
	l.stale = true
	l.pool.mu.Unlock()
	l.pool.save(l)
}

// delete has the ledger forget a lease that is being removed, for good.
func (p *Pool) delete(l *Lease) {
	l.saveMu.Lock()
	defer l.saveMu.Unlock()
	if err := p.config.Ledger.Drop((ledger.Sandbox{ID: l.ID(), Backend: l.backend}).Key()); err != nil {
		p.config.Log.Error("forgetting a sandbox", "backend", l.backend, "sandbox", l.ID(), "error", err)
	}
}

// record is what the ledger should know of a lease, if there is news: only of one
// that another process could attach to, and that later requests may join.
func (p *Pool) record(l *Lease) (r ledger.Sandbox, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, adoptable := l.maker.(backends.Adopter)
	if !adoptable || !l.stale || l.retired != "" || l.ID() == "" {
		return r, false
	}
	l.stale = false
	r = ledger.Sandbox{ID: l.ID(), Backend: l.backend, Spec: l.spec, Slot: l.slot, Shared: l.shared, Caller: l.caller, Session: l.session,
		Peer: l.peer, User: l.user, Guests: slices.Clone(l.sessions), Since: l.since, Expires: l.expires, Idle: l.idle,
		Persistent: l.persistent,
		Processes:  p.config.Processes.Entries(l), Variables: l.givenNamesLocked()}
	for _, who := range l.kernels.keys() {
		r.Interpreters = append(r.Interpreters,
			ledger.Interpreter{Caller: who.session.Caller, Session: who.session.Session, Platform: who.platform, User: who.user,
				Peer: who.peer})
	}
	for of, at := range p.workdirs {
		if at.lease == l {
			r.Workdirs = append(r.Workdirs, ledger.Workdir{Of: of, Path: at.Path, InWorkspace: at.InWorkspace})
		}
	}
	return r, true
}
