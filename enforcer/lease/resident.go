package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// Resident is what lives in a sandbox beyond the request that brought it there. It
// counts as use of the sandbox until it leaves.
type Resident interface {
	// Identity is what its session calls it by, whose it is, and whether it got variables,
	// so that no other session may be in the sandbox with it.
	Identity() (name string, of bailiff.Session, private bool)
	// Running is false once all that is left of it is its log.
	Running() bool
	// MayStart says whether the policies would let it start now.
	MayStart(ctx context.Context) bool
	// Kill ends it with everything it started, and remembers why.
	Kill(ctx context.Context, reason string) error
}

// ErrOccupied keeps a request out of a sandbox in which something lives beside which it
// must not run.
var ErrOccupied = errors.New("sandbox occupied")

// Occupy lets something live in the sandbox, which a hold is on or which no request
// knows of yet.
func (l *Lease) Occupy(r Resident) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.residents = append(l.residents, r)
	l.users++
}

// Vacate ends what [Lease.Occupy] began; it may have ended before.
func (l *Lease) Vacate(r Resident) {
	l.pool.mu.Lock()
	at := slices.Index(l.residents, r)
	if at >= 0 {
		l.residents = slices.Delete(l.residents, at, at+1)
	}
	l.pool.mu.Unlock()
	if at >= 0 {
		l.pool.leave(l)
	}
}

// checkResidents is an error if something lives on a hold's files beside which it must
// not run: what got variables, or, for one that must be alone, anything.
func (h *Hold) checkResidents(alone bool) error {
	for _, l := range append(h.lease.others(), h.lease) {
		for _, r := range l.residentsNow() {
			name, of, private := r.Identity()
			if r.Running() && (alone || private) {
				return fmt.Errorf("%w: %s", ErrOccupied, conflict(name, SameUser(of, h.session), private))
			}
		}
	}
	return nil
}

// conflict says why a request may not run beside a resident and what to do.
func conflict(name string, own, private bool) string {
	why := "a request with variables, or an approved one that runs files, must be alone in its sandbox"
	if private {
		why = "it got variables, and nobody may be in the sandbox with it"
	}
	if !own {
		return fmt.Sprintf("a background process of another session or user lives in the sandbox, and %s; wait until it has ended", why)
	}
	return fmt.Sprintf("background process %s lives in the sandbox, and %s; kill it with the process tool, or wait until it has ended",
		name, why)
}

// SameUser says whether two are one session and one user of it.
func SameUser(a, b bailiff.Session) bool {
	return a.ID == b.ID && a.Platform == b.Platform && a.UserID == b.UserID
}

// endedLocked counts the residents of which only a log is left.
func (l *Lease) endedLocked() (ended int) {
	for _, r := range l.residents {
		if !r.Running() {
			ended++
		}
	}
	return ended
}

// Running tells the sessions whose residents run, one as often as it has such residents.
func (p *Pool) Running(each func(caller string, of bailiff.Session)) {
	for _, l := range p.leases(func(l *Lease) bool { return len(l.residents) > 0 }) {
		for _, r := range l.residentsNow() {
			if _, of, _ := r.Identity(); r.Running() {
				each(l.caller, of)
			}
		}
	}
}

func (l *Lease) residentsNow() []Resident {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return slices.Clone(l.residents)
}

// vacateEnded lets go what has ended and keeps a sandbox that is on its way out only
// for its log.
func (l *Lease) vacateEnded() {
	for _, r := range l.residentsNow() {
		if !r.Running() {
			l.Vacate(r)
		}
	}
}
