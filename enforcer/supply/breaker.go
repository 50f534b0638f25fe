package supply

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

const (
	// tripAfter is how many openings in a row may fail before a probe opens a sandbox.
	tripAfter = 3
	// samplePause is how rarely at most probes open sandboxes: each costs what a
	// sandbox does. As long what fails after one that went well is not counted.
	samplePause = 5 * time.Minute
	// maxSamples bounds the kinds of sandboxes that probes choose from.
	maxSamples = 8
	// maxAdmitted bounds the requests that are let through between two probes.
	maxAdmitted = 100
)

// errOpensNothing is the fault of a backend whose breaker is open.
var errOpensNothing = errors.New("it answers, but opens no sandbox")

// breaker is the circuit breaker of one backend. Closed, it lets every request
// through, and counts openings that failed by the backend's fault. Who asked for
// these may be at fault all the same, by files or an image of their own; so after
// tripAfter in a row a probe opens a sandbox for no request, on an empty workspace and of
// a kind that was opened before, and only if that fails too the breaker trips. Open,
// it refuses requests at once, and probes go on ever more rarely, each with another
// kind that was opened before. It is half-open at the same time: after each probe one
// request of each kind is let through. A sandbox that opens closes it.
type breaker struct {
	// fault is why the backend is not ready; of one that has not been asked yet,
	// errUnprobed.
	fault error
	// faults counts how often in a row that was found.
	faults int
	// failures counts the openings in a row that failed, none before countFrom.
	failures  int
	countFrom time.Time
	// samples are what was opened, of each kind one, the latest first.
	samples []backends.Spec
	// admitted is what was let through since the last probe.
	admitted map[string]bool
}

// pause is when to probe again.
func (b *breaker) pause() time.Duration {
	most := probeEvery
	if b.isSuspect() {
		most = samplePause
	}
	if b.fault == nil {
		return probeEvery
	}
	return min(firstPause<<min(max(b.faults-1, 0), 16), most)
}

// isSuspect says whether openings failed until a probe has to open one.
func (b *breaker) isSuspect() bool { return b.failures >= tripAfter }

// sample is what a probe opens: each another kind, so that one that cannot be had any
// more keeps no breaker open. Nothing is suspect before there is one.
func (b *breaker) sample() backends.Spec {
	if len(b.samples) == 0 {
		return backends.Spec{}
	}
	return b.samples[b.faults%len(b.samples)]
}

// probed takes in what a probe found.
func (b *breaker) probed(fault error) {
	b.fault, b.admitted = fault, nil
	if b.faults++; fault == nil {
		b.faults = 0
	}
}

// reset forgets what failed, and counts nothing for a while.
func (b *breaker) reset() {
	b.failures, b.countFrom = 0, time.Now().Add(samplePause)
}

// opened takes in that a sandbox was opened.
func (b *breaker) opened(spec backends.Spec) {
	kind := Fingerprint(spec)
	others := slices.DeleteFunc(b.samples, func(s backends.Spec) bool { return Fingerprint(s) == kind })
	b.samples = append([]backends.Spec{spec}, others[:min(len(others), maxSamples-1)]...)
	b.failures = 0
}

// failed counts an opening that failed by the backend's fault.
func (b *breaker) failed(spec backends.Spec, err error) {
	if isBackends(err) && b.hasOpened(spec) && !time.Now().Before(b.countFrom) {
		b.failures++
	}
}

// isBackends says whether the fault of an opening is the backend's, rather than that
// of what was asked for or of the request that broke it off.
func isBackends(err error) bool {
	if errors.Is(err, backends.ErrUnsupported) || errors.Is(err, context.Canceled) ||
		errors.Is(err, ErrOvertaken) {
		return false
	}
	return errors.Is(err, backends.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
}

// hasOpened says whether a sandbox of the kind could be had before.
func (b *breaker) hasOpened(spec backends.Spec) bool {
	kind := Fingerprint(spec)
	return slices.ContainsFunc(b.samples, func(s backends.Spec) bool { return Fingerprint(s) == kind })
}

// isOpen says whether the fault is that nothing opens, though the backend answers.
func (b *breaker) isOpen() bool { return errors.Is(b.fault, errOpensNothing) }

// lets says whether a request may go on: all while the breaker is closed, and while
// it is half-open the first of its kind.
func (b *breaker) lets(kind string) bool {
	return b.fault == nil || b.isOpen() && !b.admitted[kind] && len(b.admitted) < maxAdmitted
}

// admit notes what is let through.
func (b *breaker) admit(kind string) {
	if !b.isOpen() {
		return
	}
	if b.admitted == nil {
		b.admitted = map[string]bool{}
	}
	b.admitted[kind] = true
}
