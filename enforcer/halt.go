package enforcer

import (
	"context"
	"errors"
	"sync"

	"github.com/bailiff-dev/bailiff"
)

// flights are the requests that are under way.
type flights struct {
	mu  sync.Mutex
	all map[*flight]bool
}

type flight struct {
	session bailiff.Session
	cancel  context.CancelCauseFunc
}

// add counts a request in until the returned function is called.
func (f *flights) add(session bailiff.Session, cancel context.CancelCauseFunc) (remove func()) {
	one := &flight{session, cancel}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all == nil {
		f.all = map[*flight]bool{}
	}
	f.all[one] = true
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.all, one)
	}
}

// errHalted is the cause of requests that an operator stopped.
var errHalted = errors.New("an operator stopped it")

// Halt stops what sessions run and removes their sandboxes; it returns when
// these are gone. Their workspaces stay for when the sessions go on. What is to
// stay stopped must be frozen before: requests that are judged from now on are
// not held up here.
func (e *Enforcer) Halt(ctx context.Context, match func(bailiff.Session) bool) error {
	e.flights.mu.Lock()
	for f := range e.flights.all {
		if match(f.session) {
			f.cancel(errHalted)
		}
	}
	e.flights.mu.Unlock()
	return e.leases.Halt(ctx, match)
}

// halted says in an answer that an operator stopped its request.
func (a answer) halted(ctx context.Context) answer {
	if isHalted(ctx) && a.Status == bailiff.Interrupted {
		a.Code, a.Message = bailiff.CodeFrozen, "An operator froze this session and stopped what it ran."
	}
	return a
}

func isHalted(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errHalted) }
