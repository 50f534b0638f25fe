// Package supply makes sandboxes, and knows where some can be made: which backends are ready, which of them fail to open
// any, what an image's name means now, and which sandboxes stand ready for what was asked for lately.
//
// [Supply.Open] makes a sandbox and learns from it; [Supply.Take] returns one that stands ready. What is not ready is
// refused at once: no request asks a daemon, and none waits for what will not come.
//
// Promised:
//   - a backend that does not answer gets no request, and neither does one whose circuit breaker is open;
//   - nothing ever ran in a sandbox that stands ready, and each has a workspace of its own that goes with it;
//   - a sandbox whose mounts are not what is there by now is not handed out.
//
// Not here: who may share a sandbox, and for how long it stays (package lease).
package supply

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// Why a sandbox goes that stood ready.
const (
	ReasonIdle         = "idle"
	ReasonFailed       = "failed"
	ReasonExpired      = "expired"
	ReasonRemoved      = "removed"
	ReasonShutdown     = "shutdown"
	ReasonOwnerUnknown = "owner_unknown"
)

// OpenTimeout bounds the making of a sandbox whose requester has gone away.
const OpenTimeout = 2 * time.Minute

// Observer is told what becomes of sandboxes. What comes with a context is part of a
// request, if that is.
type Observer interface {
	SandboxStarted(ctx context.Context, backend string, err error, took time.Duration)
	SandboxHandedOver(backend string)
	SandboxReaped(backend, reason string)
}

// ReadyObserver is told whether backends are ready.
type ReadyObserver interface {
	BackendReady(backend string, ready bool)
}

// Config is what a Supply needs; every field is required.
type Config struct {
	// Backends are the configured ones by the name that decisions use.
	Backends  map[string]backends.Backend
	Sandboxes Observer
	Readiness ReadyObserver
	Log       *slog.Logger
}

// Supply makes sandboxes. It may be used concurrently.
type Supply struct {
	ready  *readiness
	images images
	warm   *warmPool
}

// New is a supply of which no backend is ready before it was probed, and in which nothing stands ready.
func New(c Config) *Supply {
	ready := newReadiness(c)
	return &Supply{ready: ready, warm: newWarmPool(c.Sandboxes, ready, c.Log)}
}

// Watch probes the backends until ctx ends.
func (s *Supply) Watch(ctx context.Context) { s.each(func(name string) { s.ready.watch(ctx, name) }) }

// Probe asks every backend at once whether it is ready, and returns when all
// have answered.
func (s *Supply) Probe(ctx context.Context) { s.each(func(name string) { s.ready.probe(ctx, name) }) }

func (s *Supply) each(do func(name string)) {
	var all sync.WaitGroup
	for name := range s.ready.backends {
		all.Go(func() { do(name) })
	}
	all.Wait()
}

// Readiness returns, for each backend, nil or why it is not ready.
func (s *Supply) Readiness() map[string]error {
	faults := map[string]error{}
	for name := range s.ready.backends {
		faults[name] = s.ready.fault(name)
	}
	return faults
}

// States are what policies see of the backends. A backend that serves the session is as good as ready for it.
func (s *Supply) States(serves func(backend string) bool) map[string]bailiff.BackendState {
	return s.ready.states(serves)
}

// Reprobe has a backend probed again soon, after it failed a request.
func (s *Supply) Reprobe(backend string) { s.ready.reprobe(backend) }

// OpenFailed learns that a backend opened no sandbox: it is probed again soon, and what
// its images mean is asked anew.
func (s *Supply) OpenFailed(backend string) {
	s.ready.reprobe(backend)
	s.images.expire(backend)
}

// Refusal is nil, or keeps a request for a sandbox from a backend that is not ready, or not for such ones.
func (s *Supply) Refusal(backend string, spec backends.Spec) error {
	if chooser, ok := s.ready.backends[backend].(backends.Chooser); ok {
		if fault := chooser.Unusable()[spec.Runtime]; fault != nil {
			return Unready{backend, fault}
		}
	}
	return s.ready.refusal(backend, Fingerprint(spec))
}

// Admit is nil for a request that goes on to the backend, or keeps it from one that is not ready.
func (s *Supply) Admit(backend string, spec backends.Spec) error {
	return s.ready.admit(backend, Fingerprint(spec))
}

// Open makes a sandbox, and learns from it.
func (s *Supply) Open(ctx context.Context, backend string, spec backends.Spec) (backends.Sandbox, error) {
	return s.ready.open(ctx, backend, s.ready.backends[backend], spec)
}

// Take returns a sandbox that is ready for what is wanted, and has others made for the next; false if there is none.
func (s *Supply) Take(w Wanted) (Made, bool) {
	if ready := s.warm.take(w, s.ready.backends[w.Backend]); ready != nil {
		return ready.Made, true
	}
	return Made{}, false
}

// Await counts in a request that waits until a sandbox is made, until the returned
// function is called: meanwhile none is made that would stand ready.
func (s *Supply) Await() (done func()) { return s.warm.await() }

// Limit sets how many sandboxes may stand ready, and how much memory they may take.
func (s *Supply) Limit(most, memoryMB int) { s.warm.bound(min(most, memoryMB/readyMB)) }

// Drain closes all that stand ready, and forgets what was asked for.
func (s *Supply) Drain(reason string) { s.warm.drain(reason) }

// DropFailed closes those that stand ready and have failed.
func (s *Supply) DropFailed() { s.warm.dropFailed() }

// Holds says whether a sandbox stands ready, or could be the one that is just
// being made and whose id is not known yet.
func (s *Supply) Holds(id string) bool { return s.warm.holds(id) }

// Keeps says whether a workspace is that of a sandbox that stands ready.
func (s *Supply) Keeps(workspace string) bool { return s.warm.keeps(workspace) }

// Close closes all that stand ready, for good, and returns when they are gone.
func (s *Supply) Close() { s.warm.close() }

// Wait returns when no backend is asked any more what an image's name means.
func (s *Supply) Wait() { s.images.looks.Wait() }

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
