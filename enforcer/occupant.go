package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// occupant is what lives in a sandbox beyond the request that brought it there. It
// counts as use of the sandbox until it is let go (vacate).
type occupant interface {
	// name is what its session calls it by.
	name() string
	// belongs says whether it is a session's and its user's.
	belongs(to bailiff.Session) bool
	// private says that it got variables, so that nobody may be in the sandbox with it.
	private() bool
	// running is false once all that is left of it is its log.
	running() bool
	// allowed says whether the policies would let it start now.
	allowed(ctx context.Context) bool
	// kill ends it with everything it started, and remembers why.
	kill(ctx context.Context, reason string) error
}

var errOccupied = errors.New("sandbox occupied")

// occupy lets something live in a sandbox, which a tenure holds or which nobody
// knows of yet.
func (ls *leases) occupy(l *lease, o occupant) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l.occupants = append(l.occupants, o)
	l.users++
}

// vacate ends an occupancy; one that ended before is no fault.
func (ls *leases) vacate(l *lease, o occupant) {
	ls.mu.Lock()
	at := slices.Index(l.occupants, o)
	if at >= 0 {
		l.occupants = slices.Delete(l.occupants, at, at+1)
	}
	ls.mu.Unlock()
	if at >= 0 {
		ls.leave(l)
	}
}

// besides is an error if something lives on a tenure's files beside which it must
// not run: what got variables, or, for one that must be alone, anything.
func (u *tenure) besides(alone bool) error {
	for _, l := range append(u.leases.others(u.lease), u.lease) {
		for _, o := range u.leases.occupantsOf(l) {
			if o.running() && (alone || o.private()) {
				return fmt.Errorf("%w: %s", errOccupied, u.conflict(o))
			}
		}
	}
	return nil
}

// conflict says why a tenure may not run beside an occupant and what to do.
func (u *tenure) conflict(o occupant) string {
	why := "a request with variables, or an approved one that runs files, must be alone in its sandbox"
	if o.private() {
		why = "it got variables, and nobody may be in the sandbox with it"
	}
	if !o.belongs(u.guest) {
		return fmt.Sprintf("a background process of another session or user lives in the sandbox, and %s; wait until it has ended", why)
	}
	return fmt.Sprintf("background process %s lives in the sandbox, and %s; kill it with the process tool, or wait until it has ended", o.name(), why)
}

func (ls *leases) occupantsOf(l *lease) []occupant {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.Clone(l.occupants)
}

// evict lets go what has ended and keeps a sandbox that is on its way out only
// for its log.
func (ls *leases) evict(l *lease) {
	for _, o := range ls.occupantsOf(l) {
		if !o.running() {
			ls.vacate(l, o)
		}
	}
}
