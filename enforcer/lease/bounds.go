package lease

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

// Limit sets how many sandboxes there may be. Those that are there stay.
func (p *Pool) Limit(most Bounds) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = most
}

// Warm bounds the sandboxes that stand ready for the next requests: their number,
// and the memory that they take.
type Warm struct{ Sandboxes, MemoryMB int }

// Warm sets how many sandboxes may stand ready; the zero Warm keeps none.
func (p *Pool) Warm(w Warm) { p.supply.Limit(w.Sandboxes, w.MemoryMB) }

// ErrNoRoom keeps out a request that would need one sandbox too many.
var ErrNoRoom = errors.New("too many sandboxes")

// checkBoundsLocked is an error if there may be no sandbox more for a spec. No request
// waits for room: a queue would hold as many as clients care to send.
func (p *Pool) checkBoundsLocked(t Spec) error {
	var n Bounds
	for l := range p.all {
		if l.maker != nil && l.slot != t.slot { // one of the same slot is being replaced
			n.add(l.Spec, t)
		}
	}
	for _, b := range []struct {
		has, most int
		whose, of string
	}{
		{n.Total, p.most.Total, "this sidecar", "total"},
		{n.Caller, p.most.Caller, "listener " + t.caller, "caller"},
		{n.User, p.most.User, "the user", "user"},
		{n.Backend, p.most.Backend, "backend " + t.backend, "backend"},
	} {
		if b.most > 0 && b.has >= b.most {
			return fmt.Errorf("%w: %s has %d, as many as limits.sandboxes.%s allows; end a session, or wait until one was idle for long "+
				"enough",
				ErrNoRoom, b.whose, b.has, b.of)
		}
	}
	return nil
}

// add counts another sandbox wherever it takes room from this one.
func (b *Bounds) add(other, t Spec) {
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
