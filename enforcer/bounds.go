package enforcer

import (
	"errors"
	"fmt"
)

// Bounds say how many sandboxes there may be at once, zero meaning any number.
// Those count that are on their way out, until they are gone.
type Bounds struct {
	Total int
	// Caller and User are for the requests of one listener and of one person, where
	// the request names one.
	Caller, User int
	Backend      int
}

// Bound sets how many sandboxes there may be. Those that are there stay.
func (e *Enforcer) Bound(most Bounds) {
	e.leases.mu.Lock()
	defer e.leases.mu.Unlock()
	e.leases.most = most
}

var errNoRoom = errors.New("too many sandboxes")

// roomFor says whether a tenant may have one more sandbox. Nobody is made to wait
// for it: a queue would hold as many requests as anyone cares to send.
func (ls *leases) roomFor(t tenant) error {
	var n Bounds
	for l := range ls.all {
		if l.maker != nil && l.slot != t.slot { // one of the tenant's own is being replaced
			n.add(l.tenant, t)
		}
	}
	for _, b := range []struct {
		has, most int
		whose, of string
	}{
		{n.Total, ls.most.Total, "this sidecar", "total"},
		{n.Caller, ls.most.Caller, "listener " + t.caller, "caller"},
		{n.User, ls.most.User, "the user", "user"},
		{n.Backend, ls.most.Backend, "backend " + t.backend, "backend"},
	} {
		if b.most > 0 && b.has >= b.most {
			return fmt.Errorf("%w: %s has %d, as many as limits.sandboxes.%s allows; end a session, or wait until one was idle for long enough",
				errNoRoom, b.whose, b.has, b.of)
		}
	}
	return nil
}

// add counts another tenant's sandbox wherever it takes room from this one.
func (b *Bounds) add(other, t tenant) {
	b.Total++
	if other.caller == t.caller {
		b.Caller++
	}
	if other.user == t.user && t.user != "" {
		b.User++
	}
	if other.backend == t.backend {
		b.Backend++
	}
}
