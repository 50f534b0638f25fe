package supply

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/turn"
)

const (
	// probeEvery is how often a backend that is ready is asked whether it still is,
	// and how rarely at most one that is not.
	probeEvery   = 30 * time.Second
	probeTimeout = 10 * time.Second
	// firstPause is how soon a backend that is not ready is asked again, and how
	// rarely at most one is asked that failed a request; each further failure doubles it.
	firstPause = time.Second
)

// readiness knows which backends can make a sandbox now, so that no request has to
// ask a daemon, and none waits for what will not come: a backend that does not answer
// gets no request, and neither does one whose [breaker] is open.
type readiness struct {
	backends  map[string]backends.Backend
	sandboxes Observer
	observer  ReadyObserver
	log       *slog.Logger
	wake      map[string]chan struct{} // asks for a probe ahead of time
	probing   turn.Turns

	mu       sync.Mutex
	breakers map[string]*breaker
}

var errUnprobed = errors.New("not probed yet")

func newReadiness(c Config) *readiness {
	r := &readiness{backends: c.Backends, sandboxes: c.Sandboxes, observer: c.Readiness, log: c.Log, wake: map[string]chan struct{}{},
		probing: turn.Of(c.Backends), breakers: map[string]*breaker{}}
	for name := range c.Backends {
		r.wake[name] = make(chan struct{}, 1)
		r.breakers[name] = &breaker{fault: errUnprobed}
	}
	return r
}

// watch probes one backend until ctx ends.
func (r *readiness) watch(ctx context.Context, name string) {
	for {
		r.probe(ctx, name)
		pause := r.pause(name)
		if !sleep(ctx, firstPause, nil) || !sleep(ctx, pause-firstPause, r.wake[name]) {
			return
		}
	}
}

// sleep waits for a while, or until it is woken, and says whether ctx goes on.
func sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-wake:
	}
	return true
}

// pause is when to ask a backend again.
func (r *readiness) pause(name string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.breakers[name].pause()
}

// probe finds out whether a backend is ready.
func (r *readiness) probe(ctx context.Context, name string) {
	err := r.probing.Ask(ctx, name, probeTimeout, r.backends[name].Ready)
	if spec, due := r.sample(name); due && err == nil {
		err = r.openSample(ctx, name, spec)
	}
	if ctx.Err() == nil {
		r.learn(name, err)
	}
}

// sample says what a probe is to open, if it is to open anything.
func (r *readiness) sample(name string) (backends.Spec, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.breakers[name]
	return b.sample(), b.isSuspect()
}

// openSample opens a sandbox for no request and closes it.
func (r *readiness) openSample(ctx context.Context, name string, spec backends.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, OpenTimeout)
	defer cancel()
	spec.Session, spec.Workspace, spec.Expires = "", "", time.Now().Add(2*OpenTimeout)
	sandbox, err := r.backends[name].Open(ctx, spec)
	if err != nil && !errors.Is(err, backends.ErrUnsupported) {
		return fmt.Errorf("%w: %w", errOpensNothing, err)
	}
	r.reset(name)
	if err == nil {
		_ = sandbox.Close(context.WithoutCancel(ctx)) // else a sweep removes it
	}
	return nil
}

// reset lets what failed before a probe that went well be forgotten.
func (r *readiness) reset(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.breakers[name].reset()
}

func (r *readiness) learn(name string, fault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setLocked(name, fault)
}

// setLocked takes in whether a backend is ready, and shows it.
func (r *readiness) setLocked(name string, fault error) {
	b := r.breakers[name]
	r.tell(name, b.fault, fault)
	b.probed(fault)
	r.observer.BackendReady(name, fault == nil)
}

// tell logs that a backend comes or goes.
func (r *readiness) tell(name string, before, now error) {
	switch {
	case now == nil && before != nil:
		r.log.Info("a backend is ready", "backend", name)
	case now != nil && (before == nil || before == errUnprobed):
		r.log.Warn("a backend is not ready; requests for it are refused", "backend", name, "reason", now)
	}
}

// fault is nil, or says why a backend is not ready.
func (r *readiness) fault(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.breakers[name].fault
}

// reprobe has a backend probed again soon, after it failed a request. One that is
// not ready is probed ever more rarely, whatever fails.
func (r *readiness) reprobe(name string) {
	if r.fault(name) != nil {
		return
	}
	select {
	case r.wake[name] <- struct{}{}:
	default:
	}
}

// open opens a sandbox, and learns from it.
func (r *readiness) open(ctx context.Context, name string, maker backends.Backend, spec backends.Spec) (backends.Sandbox, error) {
	start := time.Now()
	sandbox, err := maker.Open(ctx, spec)
	if err == nil {
		if err = confirm(ctx, sandbox, spec.Mounts, spec.Own); err != nil {
			err = errors.Join(err, sandbox.Close(context.WithoutCancel(ctx)))
			sandbox = nil
		}
	} else {
		err = overtaken(err, spec.Mounts)
	}
	r.sandboxes.SandboxStarted(ctx, name, err, time.Since(start))
	r.note(name, spec, err)
	return sandbox, err
}

// note learns from an opening. One that went well closes the breaker, whatever request it was for.
func (r *readiness) note(name string, spec backends.Spec, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.breakers[name]
	if err != nil {
		b.failed(spec, err)
		return
	}
	if b.opened(spec); b.isOpen() {
		r.setLocked(name, nil)
	}
}

// states are what policies see of the backends. One in which the session is served
// is as good as ready for it.
func (r *readiness) states(serves func(name string) bool) map[string]bailiff.BackendState {
	states := make(map[string]bailiff.BackendState, len(r.backends))
	for name, backend := range r.backends {
		states[name] = bailiff.BackendState{Isolated: backend.Isolated(), Ready: r.fault(name) == nil || serves(name)}
	}
	return states
}

// Unready keeps a request from a backend that is not ready.
type Unready struct {
	backend string
	fault   error
}

func (u Unready) Error() string {
	return fmt.Sprintf("backend %s is not ready: %v", u.backend, u.fault)
}
func (u Unready) Unwrap() error { return u.fault }

// refusal is nil, or keeps a request for one kind of sandbox from a backend that is
// not ready.
func (r *readiness) refusal(name, kind string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.breakers[name]; !b.lets(kind) {
		return Unready{name, b.fault}
	}
	return nil
}

// admit is refusal for a request that goes on to the backend if it may.
func (r *readiness) admit(name, kind string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.breakers[name]
	if !b.lets(kind) {
		return Unready{name, b.fault}
	}
	b.admit(kind)
	return nil
}
