package lease

import (
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// A lease remembers the sessions that it has served, within bounds; one that has served
// so many may have served any.
const (
	maxSessions     = 1000
	maxSessionBytes = 1 << 20
)

// addSessionLocked remembers whose request is in the sandbox.
func (l *Lease) addSessionLocked(s bailiff.Session) {
	if l.hasUnknownSessionsLocked() || slices.Contains(l.sessions, s) {
		return
	}
	l.sessions, l.stale = append(l.sessions, s), true
	for _, text := range []string{s.ID, s.Platform, s.ChatType, s.ChatID, s.ThreadID, s.UserID, s.UserName, s.Profile} {
		l.sessionBytes += len(text)
	}
}

// hasUnknownSessionsLocked says whether there may have been sessions that are not remembered.
func (l *Lease) hasUnknownSessionsLocked() bool {
	return len(l.sessions) >= maxSessions || l.sessionBytes > maxSessionBytes
}

// isForLocked says whether a halt of those that match is this lease's too.
func (l *Lease) isForLocked(match func(bailiff.Session) bool) bool {
	return l.hasUnknownSessionsLocked() || slices.ContainsFunc(l.sessions, match)
}

// keysLocked are the sessions that a lease has served, as far as they are remembered.
func (l *Lease) keysLocked() []Key {
	all := []Key{{l.caller, l.session}}
	for _, s := range l.sessions {
		all = append(all, Key{l.caller, s.ID})
	}
	return all
}

// Sessions are those that have sandboxes.
func (p *Pool) Sessions() (all []Key) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.all {
		all = append(all, l.keysLocked()...)
	}
	return all
}

// sessionsOf lists those that a lease has served; all is false if there may have been more.
func (p *Pool) sessionsOf(l *Lease) (sessions []bailiff.Session, all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(l.sessions), !l.hasUnknownSessionsLocked()
}
