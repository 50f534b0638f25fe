package enforcer

import (
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// A lease remembers whom it has served, within bounds; one that has served so many
// is anybody's.
const (
	maxGuests     = 1000
	maxGuestBytes = 1 << 20
)

// welcome remembers whose request is in the sandbox.
func (l *lease) welcome(s bailiff.Session) {
	if l.crowded() || slices.Contains(l.guests, s) {
		return
	}
	l.guests, l.stale = append(l.guests, s), true
	l.guestBytes += len(s.ID) + len(s.Platform) + len(s.ChatType) + len(s.ChatID) + len(s.ThreadID) + len(s.UserID) + len(s.UserName) + len(s.Profile)
}

// crowded says whether there may have been guests that are not remembered.
func (l *lease) crowded() bool { return len(l.guests) >= maxGuests || l.guestBytes > maxGuestBytes }

// isFor says whether a halt of those that match is this lease's too.
func (l *lease) isFor(match func(bailiff.Session) bool) bool {
	return l.crowded() || slices.ContainsFunc(l.guests, match)
}

// guestsOf lists whom a lease has served; all is false if there may have been more.
func (ls *leases) guestsOf(l *lease) (guests []bailiff.Session, all bool) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.Clone(l.guests), !l.crowded()
}
