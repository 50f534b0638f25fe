package enforcer

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

const (
	probeEvery   = 30 * time.Second
	probeTimeout = 5 * time.Second
)

// readiness knows which backends can make a sandbox now, so that no request
// has to ask a daemon.
type readiness struct {
	backends map[string]backends.Backend
	wake     chan struct{} // asks for a probe ahead of time

	mu     sync.Mutex
	faults map[string]error // a backend that has not been probed yet has errUnprobed
}

var errUnprobed = errors.New("not probed yet")

func newReadiness(all map[string]backends.Backend) *readiness {
	r := &readiness{backends: all, wake: make(chan struct{}, 1), faults: map[string]error{}}
	for name := range all {
		r.faults[name] = errUnprobed
	}
	return r
}

// Watch probes the backends until ctx ends.
func (e *Enforcer) Watch(ctx context.Context) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		e.Probe(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-e.readiness.wake:
		}
	}
}

// Probe asks every backend at once whether it is ready, and returns when all
// have answered.
func (e *Enforcer) Probe(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var probes sync.WaitGroup
	for name, backend := range e.readiness.backends {
		probes.Go(func() { e.readiness.set(name, backend.Ready(ctx)) })
	}
	probes.Wait()
}

// Readiness returns, for each backend, nil or why it is not ready.
func (e *Enforcer) Readiness() map[string]error {
	e.readiness.mu.Lock()
	defer e.readiness.mu.Unlock()
	return maps.Clone(e.readiness.faults)
}

func (r *readiness) set(name string, fault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults[name] = fault
}

// doubt has the backends probed again soon, after one of them failed a request.
func (r *readiness) doubt(name string, fault error) {
	if errors.Is(fault, backends.ErrUnavailable) {
		r.set(name, fault)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (r *readiness) states() map[string]bailiff.BackendState {
	r.mu.Lock()
	defer r.mu.Unlock()
	states := make(map[string]bailiff.BackendState, len(r.backends))
	for name, backend := range r.backends {
		states[name] = bailiff.BackendState{Isolated: backend.Isolated(), Ready: r.faults[name] == nil}
	}
	return states
}
