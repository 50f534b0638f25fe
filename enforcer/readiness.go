package enforcer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

const (
	// probeEvery is how often a backend that is ready is asked whether it still is,
	// and how rarely at most one that is not.
	probeEvery   = 30 * time.Second
	probeTimeout = 10 * time.Second
	// firstPause is how soon a backend that is not ready is asked again, and how
	// rarely at most one is asked that requests doubt; each further failure doubles it.
	firstPause = time.Second
	// trialEvery is how rarely at most a backend is tried that says it is ready, and
	// opens nothing: a trial costs what a sandbox does. As long one that went well is
	// believed, whatever fails.
	trialEvery = 5 * time.Minute
	// patience is how many openings in a row may fail before a backend is tried.
	patience = 3
)

// readiness knows which backends can make a sandbox now, so that no request has to
// ask a daemon, and none waits for what will not come. It is a circuit breaker: a
// backend that does not answer gets no request, and neither does one that answers,
// but opens nothing. Whether that is so is not for those to say whose sandboxes
// failed, since it may be their files or their image that are at fault: after some
// failures in a row a sandbox is opened for nobody, on an empty workspace and like
// one that could be opened before. While that fails the backend is not ready, and it
// is tried again ever more rarely.
type readiness struct {
	backends map[string]backends.Backend
	observer Observer
	log      *slog.Logger
	wake     map[string]chan struct{} // asks for a probe ahead of time

	mu         sync.Mutex
	conditions map[string]*condition
}

// condition is what is known of one backend.
type condition struct {
	// fault is why it is not ready; of one that has not been asked yet, errUnprobed.
	fault error
	// faults counts how often in a row that was found.
	faults int
	// failures counts the openings in a row that failed, none before trusted.
	failures int
	trusted  time.Time
	// usual is what was opened last, and before anything was, what could not be.
	usual  backends.Spec
	opened bool
}

var errUnprobed = errors.New("not probed yet")

func newReadiness(c Config) *readiness {
	r := &readiness{backends: c.Backends, observer: c.Observer, log: c.Log, wake: map[string]chan struct{}{}, conditions: map[string]*condition{}}
	for name := range c.Backends {
		r.wake[name] = make(chan struct{}, 1)
		r.conditions[name] = &condition{fault: errUnprobed}
	}
	return r
}

// Watch probes the backends until ctx ends.
func (e *Enforcer) Watch(ctx context.Context) {
	var watches sync.WaitGroup
	for name := range e.readiness.backends {
		watches.Go(func() { e.readiness.watch(ctx, name) })
	}
	watches.Wait()
}

// Probe asks every backend at once whether it is ready, and returns when all
// have answered.
func (e *Enforcer) Probe(ctx context.Context) {
	var probes sync.WaitGroup
	for name := range e.readiness.backends {
		probes.Go(func() { e.readiness.probe(ctx, name) })
	}
	probes.Wait()
}

// Readiness returns, for each backend, nil or why it is not ready.
func (e *Enforcer) Readiness() map[string]error {
	faults := map[string]error{}
	for name := range e.readiness.backends {
		faults[name] = e.readiness.fault(name)
	}
	return faults
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
	c := r.conditions[name]
	most := probeEvery
	if c.isDoubtful() {
		most = trialEvery
	}
	if c.fault == nil {
		return probeEvery
	}
	return min(firstPause<<min(max(c.faults-1, 0), 16), most)
}

// isDoubtful says whether a backend opened nothing lately, whatever it says.
func (c *condition) isDoubtful() bool { return c.failures >= patience }

// probe finds out whether a backend is ready.
func (r *readiness) probe(ctx context.Context, name string) {
	err := r.ask(ctx, name)
	if spec, doubtful := r.onTrial(name); doubtful && err == nil {
		err = r.try(ctx, name, spec)
	}
	if ctx.Err() == nil {
		r.learn(name, err)
	}
}

func (r *readiness) ask(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := r.backends[name].Ready(ctx)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w: it did not answer within %s", backends.ErrUnavailable, probeTimeout)
	}
	return err
}

// onTrial says what to try a backend with, if it is to be tried.
func (r *readiness) onTrial(name string) (backends.Spec, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conditions[name]
	return c.usual, c.isDoubtful()
}

// try opens a sandbox for nobody and closes it.
func (r *readiness) try(ctx context.Context, name string, spec backends.Spec) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	spec.Session, spec.Workspace, spec.Expires = "", "", time.Now().Add(2*openTimeout)
	trial, err := r.backends[name].Open(ctx, spec)
	if err != nil {
		return fmt.Errorf("it answers, but opens no sandbox: %w", err)
	}
	r.acquit(name)
	_ = trial.Close(context.WithoutCancel(ctx)) // else a sweep removes it
	return nil
}

func (r *readiness) acquit(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conditions[name]
	c.failures, c.trusted = 0, time.Now().Add(trialEvery)
}

func (r *readiness) learn(name string, fault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conditions[name]
	r.tell(name, c.fault, fault)
	c.fault = fault
	if c.faults++; fault == nil {
		c.faults = 0
	}
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
	return r.conditions[name].fault
}

// doubt has a backend probed again soon, after it failed a request.
func (r *readiness) doubt(name string) {
	select {
	case r.wake[name] <- struct{}{}:
	default:
	}
}

// open opens a sandbox, and learns from it.
func (r *readiness) open(ctx context.Context, name string, maker backends.Backend, spec backends.Spec) (backends.Sandbox, error) {
	start := time.Now()
	sandbox, err := maker.Open(ctx, spec)
	r.observer.SandboxStarted(name, err, time.Since(start))
	r.note(name, spec, err)
	return sandbox, err
}

// note counts an opening that failed, unless that was for what was asked for, or by
// whoever broke it off.
func (r *readiness) note(name string, spec backends.Spec, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.conditions[name]
	switch {
	case err == nil:
		c.failures, c.usual, c.opened = 0, spec, true
	case errors.Is(err, backends.ErrUnsupported), errors.Is(err, context.Canceled), time.Now().Before(c.trusted):
	default:
		c.failures++
		if !c.opened {
			c.usual = spec
		}
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
