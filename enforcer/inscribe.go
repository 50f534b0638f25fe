package enforcer

import (
	"slices"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

// inscribe has the ledger know a lease as it is now. One that it does not come to
// know is not adopted, and nothing worse.
func (ls *leases) inscribe(l *lease) {
	l.ink.Lock()
	defer l.ink.Unlock()
	record, due := ls.record(l)
	if !due {
		return
	}
	if err := ls.let.Keep(record); err != nil {
		ls.log.Error("a restart will not go on with a sandbox", "backend", l.backend, "sandbox", l.id(), "error", err)
	}
}

// changed has the ledger know what became of the processes in a lease.
func (ls *leases) changed(l *lease) {
	ls.mu.Lock()
	l.stale = true
	ls.mu.Unlock()
	ls.inscribe(l)
}

// strike has the ledger forget a lease that is being removed, for good.
func (ls *leases) strike(l *lease) {
	l.ink.Lock()
	defer l.ink.Unlock()
	if err := ls.let.Drop((ledger.Sandbox{ID: l.id(), Backend: l.backend}).Key()); err != nil {
		ls.log.Error("forgetting a sandbox", "backend", l.backend, "sandbox", l.id(), "error", err)
	}
}

// record is what the ledger should know of a lease, if there is news: only of one
// that another process could attach to, and that later requests may join.
func (ls *leases) record(l *lease) (r ledger.Sandbox, due bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	_, adoptable := l.maker.(backends.Adopter)
	if !adoptable || !l.stale || l.retired != "" || l.id() == "" {
		return r, false
	}
	l.stale = false
	r = ledger.Sandbox{ID: l.id(), Backend: l.backend, Spec: l.spec, Slot: l.slot, Shared: l.shared, Caller: l.caller, Session: l.session,
		User: l.user, Guests: slices.Clone(l.guests), Since: l.since, Expires: l.expires, Idle: l.idle, Persistent: l.persistent, Processes: ls.processes(l)}
	for _, who := range l.kernels.sitters() {
		r.Interpreters = append(r.Interpreters, ledger.Sitter{Caller: who.session.caller, Session: who.session.session, Platform: who.platform, User: who.user})
	}
	for of, at := range ls.workdirs {
		if at.lease == l {
			r.Workdirs = append(r.Workdirs, ledger.Workdir{Of: of, Path: at.path, InWorkspace: at.inWorkspace})
		}
	}
	return r, true
}
