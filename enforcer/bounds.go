package enforcer

import (
	"errors"
	"fmt"
)

// Bound sets how many sandboxes the requests of one caller may have at once, zero
// meaning any number. Those that are there stay.
func (e *Enforcer) Bound(most int) {
	e.leases.mu.Lock()
	defer e.leases.mu.Unlock()
	e.leases.most = most
}

// roomFor says whether a caller may have one more sandbox.
func (ls *leases) roomFor(caller string) error {
	n := 0
	for l := range ls.all {
		if l.caller == caller && !l.removed {
			n++
		}
	}
	if ls.most == 0 || n < ls.most {
		return nil
	}
	return fmt.Errorf("%w: listener %s has %d, as many as agent.max_sandboxes allows; end a session, or wait until one was idle for long enough",
		errNoRoom, caller, n)
}

var errNoRoom = errors.New("too many sandboxes")
