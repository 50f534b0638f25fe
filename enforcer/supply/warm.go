package supply

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

const (
	// readyEach is how many sandboxes stand ready for one spec, readyMB what one
	// that no request uses counts for.
	readyEach = 2
	readyMB   = 32
	// targetFor is how long sandboxes stand ready for a spec that no request asks for.
	targetFor = 15 * time.Minute
	// readyAge is how long one may have stood ready when it is handed over.
	readyAge = time.Hour
)

// warmPool holds sandboxes that stand ready, a few for each spec that was asked for a
// short while ago. What makes it safe is that nothing ever ran in any of them, and
// that each has a workspace of its own that goes with it: handing one over is
// handing over a new sandbox. They are made one at a time, while no request waits for
// one to be made.
type warmPool struct {
	observer  Observer
	readiness *readiness
	log       *slog.Logger

	running context.Context // ends when the pool closes
	stop    context.CancelFunc
	work    sync.WaitGroup // openings and closings

	mu      sync.Mutex
	most    int
	targets map[string]*target    // by what they are like
	all     map[*warmSandbox]bool // ready, in the making or on their way out
	waiting int                   // how many requests wait for a sandbox to be made
	filling bool
	closed  bool
}

// target is one kind of sandbox that was asked for.
type target struct {
	spec  Wanted // of the last request
	maker backends.Backend
	asked time.Time
	timer *time.Timer // until nothing stands ready for it any more
	ready []*warmSandbox
}

// warmSandbox is one that no request uses.
type warmSandbox struct {
	Made
	backend string
	maker   backends.Backend
}

// Made is a sandbox that stands ready, with what it was made as.
type Made struct {
	Spec    backends.Spec
	Sandbox backends.Sandbox // nil while it is made
}

// Wanted is a sandbox that a request asks for: on which backend, and for how long it is to stay at least.
type Wanted struct {
	Backend string
	Spec    backends.Spec
	Age     time.Duration
}

func newWarmPool(observer Observer, ready *readiness, log *slog.Logger) *warmPool {
	ctx, stop := context.WithCancel(context.Background())
	return &warmPool{observer: observer, readiness: ready, log: log, running: ctx, stop: stop, targets: map[string]*target{},
		all: map[*warmSandbox]bool{}}
}

// kind is what a spec's sandbox is like, whatever session it is for.
func (t Wanted) kind() string {
	files := "none that stay"
	if t.Spec.Workspace != "" {
		files = "a workspace"
	}
	return Hash(t.Backend, Fingerprint(t.Spec), files)
}

// canBeWarm says whether sandboxes of a backend can stand ready: their files must
// have names of their own, and they must outlive the process that opened them.
func canBeWarm(maker backends.Backend) bool {
	_, keeps := maker.(backends.Keeper)
	_, adopts := maker.(backends.Adopter)
	return keeps && adopts
}

// take returns a sandbox that is ready for a spec, and has others made for the
// next; nil if there is none.
func (p *warmPool) take(t Wanted, maker backends.Backend) *warmSandbox {
	if !canBeWarm(maker) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.targetLocked(t, maker)
	if w == nil {
		return nil
	}
	for len(w.ready) > 0 {
		s := w.ready[0] // the oldest
		w.ready = w.ready[1:]
		if reason := s.unfit(t); reason != "" {
			p.discard(s, reason)
			continue
		}
		delete(p.all, s)
		p.observer.SandboxHandedOver(s.backend)
		p.refillLocked()
		return s
	}
	return nil
}

// targetLocked notes that a kind of sandbox was asked for; nil if none stand ready at all.
func (p *warmPool) targetLocked(t Wanted, maker backends.Backend) *target {
	if p.most <= 0 || p.closed {
		return nil
	}
	kind := t.kind()
	w := p.targets[kind]
	if w == nil {
		w = &target{maker: maker}
		w.timer = time.AfterFunc(targetFor, func() { p.forget(w) })
		p.targets[kind] = w
	}
	w.timer.Reset(targetFor)
	w.spec, w.asked = t, time.Now()
	return w
}

// unfit is why a sandbox is of no use to a spec, if it is of none.
func (s *warmSandbox) unfit(t Wanted) string {
	switch {
	case isClosed(s.Sandbox.Done()):
		return ReasonFailed
	case s.Spec.Expires.Before(time.Now().Add(t.Age)):
		return ReasonExpired
	}
	return ""
}

// await counts in a request that waits until a sandbox is made, until the returned
// function is called.
func (p *warmPool) await() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting--
		p.refillLocked()
	}
}

// refillLocked has what is lacking made, unless that is under way.
func (p *warmPool) refillLocked() {
	if p.filling || p.lackingLocked() == nil {
		return
	}
	p.filling = true
	p.work.Go(p.fill)
}

// lackingLocked is the kind that was asked for last among those of which there are too
// few; nil if there are enough, or no room, or this is no time to make one.
func (p *warmPool) lackingLocked() (latest *target) {
	if p.closed || p.waiting > 0 || len(p.all) >= p.most {
		return nil
	}
	for _, w := range p.targets {
		if len(w.ready) < readyEach && (latest == nil || w.asked.After(latest.asked)) {
			latest = w
		}
	}
	return latest
}

// fill makes sandboxes, one after the other, until there are enough.
func (p *warmPool) fill() {
	for {
		w, s := p.next()
		if s == nil {
			return
		}
		ctx, cancel := context.WithTimeout(p.running, OpenTimeout)
		sandbox, err := p.readiness.open(ctx, s.backend, s.maker, s.Spec)
		cancel()
		p.put(w, s, sandbox, err)
	}
}

// next begins a sandbox, with a workspace that no session has had.
func (p *warmPool) next() (*target, *warmSandbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.lackingLocked()
	if w == nil {
		p.filling = false
		return nil, nil
	}
	s := &warmSandbox{backend: w.spec.Backend, Made: Made{Spec: w.spec.Spec}, maker: w.maker}
	s.Spec.Session, s.Spec.Expires = "", time.Now().Add(readyAge+w.spec.Age)
	if s.Spec.Workspace != "" {
		s.Spec.Workspace = strings.ToLower(rand.Text())
	}
	p.all[s] = true
	return w, s
}

// put adds what was made to what is ready. A kind of which none can be made is not
// tried again before a request asks for it.
func (p *warmPool) put(w *target, s *warmSandbox, sandbox backends.Sandbox, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := w.spec.kind()
	if err != nil {
		if !p.closed { // else it was broken off
			p.log.Warn("making a sandbox that stands ready", "backend", s.backend, "error", err)
		}
		delete(p.all, s)
		if p.targets[kind] == w {
			p.dropLocked(kind, ReasonFailed)
		}
		return
	}
	s.Sandbox = sandbox
	if p.targets[kind] != w || len(p.all) > p.most {
		p.discard(s, ReasonIdle)
		return
	}
	w.ready = append(w.ready, s)
}

// forget drops a kind that no request has asked for in a while.
func (p *warmPool) forget(w *target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind := w.spec.kind(); p.targets[kind] == w && time.Since(w.asked) >= targetFor {
		p.dropLocked(kind, ReasonIdle)
	}
}

func (p *warmPool) dropLocked(kind, reason string) {
	w := p.targets[kind]
	delete(p.targets, kind)
	w.timer.Stop()
	for _, s := range w.ready {
		p.discard(s, reason)
	}
}

// discard closes a sandbox that is not to stand ready any more.
func (p *warmPool) discard(s *warmSandbox, reason string) {
	p.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), OpenTimeout)
		defer cancel()
		err := s.Sandbox.Close(ctx)
		if errors.Is(err, backends.ErrOwnerUnknown) {
			reason = ReasonOwnerUnknown // its files are left with it to a sweep
		} else if keeper, ok := s.maker.(backends.Keeper); ok && s.Spec.Workspace != "" {
			err = errors.Join(err, keeper.RemoveWorkspace(ctx, s.Spec.Owner, s.Spec.Workspace))
		}
		p.observer.SandboxReaped(s.backend, reason)
		if err != nil {
			p.log.Error("removing a sandbox that stood ready", "backend", s.backend, "sandbox", s.Sandbox.ID(), "error", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, s)
		p.refillLocked()
	})
}

// bound sets how many may stand ready.
func (p *warmPool) bound(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most = most; len(p.all) > most {
		p.emptyLocked(ReasonRemoved)
	}
	p.refillLocked()
}

// drain closes all that stand ready, and forgets what was asked for.
func (p *warmPool) drain(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emptyLocked(reason)
}

func (p *warmPool) emptyLocked(reason string) {
	for kind := range p.targets {
		p.dropLocked(kind, reason)
	}
}

// dropFailed closes those that have failed.
func (p *warmPool) dropFailed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.targets {
		w.ready = slices.DeleteFunc(w.ready, func(s *warmSandbox) bool {
			reason := s.unfit(w.spec)
			if reason != "" {
				p.discard(s, reason)
			}
			return reason != ""
		})
	}
	p.refillLocked()
}

// close empties the pool for good, and returns when all its sandboxes are gone.
func (p *warmPool) close() {
	p.mu.Lock()
	p.closed = true
	p.emptyLocked(ReasonShutdown)
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
}

// holds says whether a sandbox is the pool's, or could be the one that is just
// being made and whose id is not known yet.
func (p *warmPool) holds(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hasLocked(func(s *warmSandbox) bool { return s.Sandbox == nil || s.Sandbox.ID() == id })
}

// keeps says whether a workspace is one of the pool's sandboxes'.
func (p *warmPool) keeps(workspace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hasLocked(func(s *warmSandbox) bool { return s.Spec.Workspace == workspace })
}

func (p *warmPool) hasLocked(match func(*warmSandbox) bool) bool {
	for s := range p.all {
		if match(s) {
			return true
		}
	}
	return false
}
