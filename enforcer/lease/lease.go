package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
)

// maxAge is when a sandbox goes, in use or not, where the policies say nothing.
const maxAge = 24 * time.Hour

// Lease is one sandbox with the requests that use it.
type Lease struct {
	Spec
	pool        *Pool
	fingerprint string
	maker       backends.Backend
	ready       chan struct{} // closed when sandbox or err is set
	steps       supply.Progress
	sandbox     backends.Sandbox
	err         error
	gone        chan struct{} // closed when the sandbox is
	unclosed    error         // why it may go on; written before gone is closed
	gate        *semaphore.Weighted
	saveMu      sync.Mutex // held while its record is written
	kernels     kernels
	outlet      outlet

	// Guarded by pool.mu.
	users        int               // requests and residents
	sessions     []bailiff.Session // whose requests were in it, each once
	sessionBytes int
	retired      string // why it goes when its last user has; empty while it is kept
	// residents are what lives in it, some of it ended.
	residents []Resident
	// replacement is set if it replaces one that failed, unannounced until its first user is
	// told so.
	replacement, unannounced bool
	// evicted is why it is closed under the requests that use it, stops are what ends these.
	evicted Evicted
	stops   map[*context.CancelCauseFunc]bool
	removed bool // its sandbox is being closed
	// lostRecorded says that the sessions whose interpreters went with it will be told.
	lostRecorded bool
	// emptying is set once its workspace is to be deleted and the next request waits for
	// that, filed once its workspace stays, or is another's to delete.
	emptying, filed bool
	// unremoved is set when its files could not be removed.
	unremoved bool
	// stale is set while its record is not what the lease is.
	stale   bool
	timer   *time.Timer // until it was idle for long enough
	ageing  *time.Timer
	since   time.Time
	expires time.Time // when it goes at the latest
	used    time.Time
}

// Alive says whether it serves requests, or is about to.
func (l *Lease) Alive() bool {
	return l.isOpening() || l.err == nil && !isClosed(l.sandbox.Done())
}

func (l *Lease) isOpening() bool { return !isClosed(l.ready) }

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Backend is the name of the one that made it.
func (l *Lease) Backend() string { return l.backend }

// Own are the folders of the sidecar's own that the sandbox shows.
func (l *Lease) Own() []bailiff.Mount { return l.spec.Own }

// Done is closed when the sandbox is.
func (l *Lease) Done() <-chan struct{} { return l.gone }

// Idle is how long the sandbox stays that no request uses.
func (l *Lease) Idle() time.Duration {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	return l.idle
}

// ID is the sandbox's, empty while it is being opened or if that failed.
func (l *Lease) ID() string {
	if l.isOpening() || l.err != nil {
		return ""
	}
	return l.sandbox.ID()
}

// Resolve finds the links on the way of paths in the sandbox.
func (l *Lease) Resolve(ctx context.Context, workdir string, paths []string) (bailiff.Ground, error) {
	reader, ok := l.sandbox.(backends.Reader)
	if !ok {
		return bailiff.Ground{}, fmt.Errorf("looking at paths in the sandbox: %w", errors.ErrUnsupported)
	}
	return reader.Resolve(ctx, workdir, paths)
}

// Acquire returns a hold on the sandbox that a spec is for, making it if there is none
// that fits. With [Spec.Alone], nothing else is running in it until it is released.
func (p *Pool) Acquire(ctx context.Context, t Spec) (*Hold, error) {
	h, err := p.tryAcquire(ctx, t)
	if errors.Is(err, Evicted(reasonExpired)) || errors.Is(err, errFailed) {
		h, err = p.tryAcquire(ctx, t)
	}
	return h, err
}

func (p *Pool) tryAcquire(ctx context.Context, t Spec) (*Hold, error) {
	h, err := p.join(ctx, t)
	if err != nil {
		return nil, err
	}
	return h.begin(ctx, t.exclusive)
}

// Replace ends a hold on a sandbox that failed, and returns another like it.
func (p *Pool) Replace(ctx context.Context, failed *Hold, t Spec) (*Hold, error) {
	p.mu.Lock()
	p.retireLocked(failed.lease, reasonFailed)
	p.mu.Unlock()
	next, err := p.join(ctx, t) // before the other is left, so that its files stay
	failed.Release()
	if err != nil {
		return nil, err
	}
	next.replaced = !t.alone
	return next.begin(ctx, failed.weight == exclusive)
}

// join counts a user in, on the slot's lease if it fits and on a new one otherwise.
func (p *Pool) join(ctx context.Context, t Spec) (*Hold, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.live[t.slot]
	if l != nil && !l.fitsLocked(t) {
		p.retireLocked(l, replaceReason(l))
		l = nil
	}
	if l == nil {
		if err := p.checkBoundsLocked(t); err != nil {
			return nil, err
		}
		if err := p.supply.Admit(t.backend, t.spec); err != nil {
			return nil, err
		}
		l = p.makeLocked(ctx, t)
	}
	l.applyLimitsLocked(t)
	h := &Hold{lease: l, session: t.by, peer: t.peer, weight: 1, replaced: l.unannounced, guarded: t.guarded}
	l.unannounced = false
	l.addSessionLocked(t.by)
	l.users++
	l.used = time.Now()
	if l.timer != nil {
		l.timer.Stop()
	}
	return h, nil
}

// makeLocked starts opening a sandbox. The opening is not the requester's alone:
// others may already wait for it, so it does not end with the request. It is part of
// its trace all the same.
func (p *Pool) makeLocked(ctx context.Context, t Spec) *Lease {
	now := time.Now()
	t.spec.Expires = now.Add(t.age)
	ready := p.findWorkspaceLocked(&t)
	l := p.addLocked(t, now, now.Add(t.age))
	if t.alone {
		l.retired = reasonRequest
	}
	if l.replacement = p.failed[t.slot]; l.replacement {
		l.unannounced = true
		p.moveWorkdirsLocked(l)
	}
	delete(p.failed, t.slot)
	if ready != nil {
		l.sandbox = ready
		close(l.ready)
		return l
	}
	go l.open(context.WithoutCancel(ctx), p.supply.Await(), p.removalsLocked(t))
	return l
}

// addLocked makes a lease that new requests may join, and has it go when it expires.
func (p *Pool) addLocked(t Spec, since, expires time.Time) *Lease {
	l := &Lease{Spec: t, pool: p, maker: p.config.Backends[t.backend], fingerprint: supply.Fingerprint(t.spec), gate: p.gateLocked(t),
		since: since, expires: expires,
		ready: make(chan struct{}), gone: make(chan struct{}), stops: map[*context.CancelCauseFunc]bool{}}
	l.ageing = time.AfterFunc(time.Until(expires), func() { p.dropOne(l, reasonExpired) })
	p.live[t.slot], p.all[l] = l, true
	delete(p.retained, t.files())
	return l
}

// applyLimitsLocked takes over the idle time of a request and, if it is earlier, its
// latest end.
func (l *Lease) applyLimitsLocked(t Spec) {
	l.stale = l.stale || l.idle != t.idle || l.persistent != t.persistent
	l.idle, l.persistent = t.idle, t.persistent
	if expires := l.since.Add(t.age); expires.Before(l.expires) {
		l.expires, l.stale = expires, true
		l.ageing.Reset(time.Until(expires))
	}
	if l.users == 0 && l.timer != nil {
		l.startIdleTimerLocked()
	}
}

// startIdleTimerLocked has a lease that no request uses expire.
func (l *Lease) startIdleTimerLocked() {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(l.idle-time.Since(l.used), func() { l.pool.expire(l) })
}

func (l *Lease) open(ctx context.Context, done func(), after []<-chan struct{}) {
	defer done()
	for _, end := range after {
		<-end
	}
	ctx, cancel := context.WithTimeout(ctx, supply.OpenTimeout)
	defer cancel()
	defer close(l.ready)
	spec := l.spec
	if spec.Own, l.err = l.pool.withCaches(l.holder, l.backend, spec); l.err != nil {
		return
	}
	l.sandbox, l.err = l.pool.supply.Open(backends.WithSteps(ctx, l.steps.Post), l.backend, spec)
}

// leave counts a user out. The last one starts the idle clock, or closes a
// lease that is not to be kept.
func (p *Pool) leave(l *Lease) {
	defer p.save(l)
	p.mu.Lock()
	defer p.mu.Unlock()
	l.users--
	l.used = time.Now()
	switch {
	case l.users > 0:
	case l.retired != "":
		p.removeLocked(l)
	case !l.Alive():
		p.retireLocked(l, reasonFailed)
	default:
		l.startIdleTimerLocked()
	}
}
