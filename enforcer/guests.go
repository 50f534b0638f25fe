package enforcer

import (
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// maxGuests bounds whom a lease remembers; one with so many is halted with anybody.
const maxGuests = 1000

// welcome remembers whose request is in the sandbox.
func (l *lease) welcome(s bailiff.Session) {
	guest := bailiff.Session{ID: s.ID, Platform: s.Platform, UserID: s.UserID}
	if len(l.guests) < maxGuests && !slices.Contains(l.guests, guest) {
		l.guests = append(l.guests, guest)
		l.stale = true
	}
}

// isFor says whether a halt of those that match is this lease's too.
func (l *lease) isFor(match func(bailiff.Session) bool) bool {
	return len(l.guests) == maxGuests || slices.ContainsFunc(l.guests, match)
}
