package enforcer

import (
	"maps"
	"slices"

	"github.com/bailiff-dev/bailiff"
)

// Presence is a session of which a request is under way, or a background process runs.
type Presence struct {
	Caller  string
	Session bailiff.Session
}

// Leave has sessions begin nothing more here, but those of which something is under way: these go on until
// it has ended. A request that waits for approvers is answered at once that it waits still, so that it can
// be sent again elsewhere. Busy lists what is under way, and the sessions whose background processes run;
// ended holds a signal after a request has ended.
//
// A session that busy does not list once has nothing here that could still start.
func (e *Enforcer) Leave() (busy func() []Presence, ended <-chan struct{}) {
	ended = e.flights.leave()
	e.StopWaiting()
	return e.busy, ended
}

// StopWaiting has requests that wait for approvers, and those that come, answered at once that they wait still. What they
// ask stays open, so that the same request can be sent again.
func (e *Enforcer) StopWaiting() { e.leave() }

func (e *Enforcer) busy() (all []Presence) {
	seen := e.flights.present() // first: what a request has started is in its sandbox before the request ends
	e.leases.Running(func(caller string, of bailiff.Session) { seen[Presence{caller, of}] = true })
	return slices.Collect(maps.Keys(seen))
}

// DropIdle begins to remove the sandboxes in which nothing runs, of sessions of which no request is under way.
func (e *Enforcer) DropIdle() { e.leases.DropIdle(e.flights.isPresent) }

// leave takes in no more sessions.
func (f *flights) leave() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = make(chan struct{}, 1)
	return f.ended
}

// present are the sessions of which requests are under way.
func (f *flights) present() map[Presence]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := map[Presence]bool{}
	for one := range f.all {
		seen[Presence{one.caller, one.session}] = true
	}
	return seen
}

func (f *flights) isPresent(caller, session string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isPresentLocked(caller, session)
}

func (f *flights) isPresentLocked(caller, session string) bool {
	for one := range f.all {
		if one.caller == caller && one.session.ID == session {
			return true
		}
	}
	return false
}
