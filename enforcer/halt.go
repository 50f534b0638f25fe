package enforcer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// flights are the requests that are under way.
type flights struct {
	mu  sync.Mutex
	all map[*flight]bool
	// ended is nil until sessions are to leave. From then on it holds a signal after a request has ended.
	ended chan struct{}
}

type flight struct {
	caller  string
	session bailiff.Session
	cancel  context.CancelCauseFunc
}

// add counts a request in until remove is called. It is not let in if its session has left.
func (f *flights) add(req bailiff.Request, cancel context.CancelCauseFunc) (remove func(), in bool) {
	one := &flight{req.Caller, req.Session, cancel}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil && !f.isPresentLocked(req.Caller, req.Session.ID) {
		return nil, false
	}
	if f.all == nil {
		f.all = map[*flight]bool{}
	}
	f.all[one] = true
	return func() { f.remove(one) }, true
}

func (f *flights) remove(one *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.all, one)
	if f.ended == nil {
		return
	}
	select {
	case f.ended <- struct{}{}:
	default:
	}
}

// errHalted is the cause of requests that an operator stopped.
var errHalted = errors.New("an operator stopped it")

// Halt stops what sessions run and removes their sandboxes; it returns when
// these are gone. Their workspaces stay for when the sessions go on. What is to
// stay stopped must be frozen before: requests that are judged from now on are
// not held up here.
func (e *Enforcer) Halt(ctx context.Context, match func(bailiff.Session) bool) error {
	e.flights.end(errHalted, func(f *flight) bool { return match(f.session) })
	return e.leases.Halt(ctx, match)
}

func (f *flights) end(why error, match func(*flight) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for one := range f.all {
		if match(one) {
			one.cancel(why)
		}
	}
}

// Suspend stops what runs and removes the sandboxes, whose workspaces stay.
func (e *Enforcer) Suspend(ctx context.Context) error { return e.leases.Suspend(ctx) }

// errYielded is the cause of requests whose session another sidecar serves by now.
var errYielded = errors.New("another sidecar has taken the session over")

// Serving are the sessions that have sandboxes here, or requests.
func (e *Enforcer) Serving() []lease.Key {
	all := map[lease.Key]bool{}
	for _, key := range e.leases.Sessions() {
		all[key] = true
	}
	e.flights.mu.Lock()
	defer e.flights.mu.Unlock()
	for f := range e.flights.all {
		all[lease.Key{Caller: f.caller, Session: f.session.ID}] = true
	}
	return slices.Collect(maps.Keys(all))
}

// Yield ends what a session runs here, which another sidecar serves by now. Its questions and its
// grants are that one's.
func (e *Enforcer) Yield(ctx context.Context, key lease.Key) {
	e.leases.Yield(ctx, key) // first, so that what ran there is told why it ended
	e.flights.end(errYielded, func(f *flight) bool { return f.caller == key.Caller && f.session.ID == key.Session })
}

// withHalt is an answer that says that an operator stopped its request.
func (a answer) withHalt(ctx context.Context) answer {
	if isHalted(ctx) && a.Status == bailiff.Interrupted {
		a.Code, a.Message = bailiff.CodeFrozen, "An operator froze this session and stopped what it ran."
	}
	return a
}

func isHalted(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errHalted) }
