package enforcer

import (
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// unready keeps a request from a backend that is not ready.
type unready struct {
	backend string
	fault   error
}

func (u unready) Error() string {
	return fmt.Sprintf("backend %s is not ready: %v", u.backend, u.fault)
}
func (u unready) Unwrap() error { return u.fault }

// refusal is nil, or keeps a request for one kind of sandbox from a backend that is
// not ready.
func (r *readiness) refusal(name, kind string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.breakers[name]; !b.lets(kind) {
		return unready{name, b.fault}
	}
	return nil
}

// admit is refusal for a request that goes on to the backend if it may.
func (r *readiness) admit(name, kind string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.breakers[name]
	if !b.lets(kind) {
		return unready{name, b.fault}
	}
	b.admit(kind)
	return nil
}

// refusal is nil where a tenant is served or could be; it says why not before anybody
// is asked for an approval that could not be used.
func (ls *leases) refusal(t tenant) error {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.live[t.slot]; l != nil && l.fits(t) {
		return nil
	}
	return ls.ready.refusal(t.backend, fingerprint(t.spec))
}

// serve says whether a session has a sandbox of a backend.
func (ls *leases) serve(caller, session, backend string) bool {
	isTheirs := func(guest bailiff.Session) bool { return guest.ID == session }
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, l := range ls.live {
		if l.caller == caller && l.backend == backend && l.alive() && slices.ContainsFunc(l.guests, isTheirs) {
			return true
		}
	}
	return false
}
