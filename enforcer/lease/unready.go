package lease

import (
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// Unready keeps a request from a backend that is not ready.
type Unready struct {
	backend string
	fault   error
}

func (u Unready) Error() string {
	return fmt.Sprintf("backend %s is not ready: %v", u.backend, u.fault)
}
func (u Unready) Unwrap() error { return u.fault }

// refusal is nil, or keeps a request for one kind of sandbox from a backend that is
// not ready.
func (r *readiness) refusal(name, kind string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.breakers[name]; !b.lets(kind) {
		return Unready{name, b.fault}
	}
	return nil
}

// admit is refusal for a request that goes on to the backend if it may.
func (r *readiness) admit(name, kind string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.breakers[name]
	if !b.lets(kind) {
		return Unready{name, b.fault}
	}
	b.admit(kind)
	return nil
}

// Refusal is nil where a spec's request is served or could be; it says why not before
// approvers are asked for a yes that could not be used.
func (p *Pool) Refusal(t Spec) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.live[t.slot]; l != nil && l.fits(t) {
		return nil
	}
	return p.ready.refusal(t.backend, fingerprint(t.spec))
}

// serves says whether a session has a sandbox of a backend.
func (p *Pool) serves(caller, session, backend string) bool {
	isTheirs := func(s bailiff.Session) bool { return s.ID == session }
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.live {
		if l.caller == caller && l.backend == backend && l.Alive() && slices.ContainsFunc(l.sessions, isTheirs) {
			return true
		}
	}
	return false
}
