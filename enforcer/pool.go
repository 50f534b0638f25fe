package enforcer

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

const (
	// sparesEach is how many sandboxes stand ready for one spec, spareMB what one
	// that nobody uses counts for.
	sparesEach = 2
	spareMB    = 32
	// wantedFor is how long sandboxes stand ready for a spec that nobody asks for.
	wantedFor = 15 * time.Minute
	// spareAge is how long one may have stood ready when it is handed over.
	spareAge = time.Hour
)

// Warm bounds the sandboxes that stand ready for whoever comes next: their number,
// and the memory that they take.
type Warm struct{ Sandboxes, MemoryMB int }

// Warm sets how many sandboxes may stand ready; the zero Warm keeps none.
func (e *Enforcer) Warm(w Warm) { e.leases.pool.bound(min(w.Sandboxes, w.MemoryMB/spareMB)) }

// pool holds sandboxes that stand ready, a few for each spec that was asked for a
// short while ago. What makes it safe is that nothing ever ran in any of them, and
// that each has a workspace of its own that goes with it: handing one over is
// handing over a new sandbox. They are made one at a time, while nobody waits for
// one to be made.
type pool struct {
	observer  SandboxObserver
	readiness *readiness
	log       *slog.Logger

	running context.Context // ends when the pool closes
	stop    context.CancelFunc
	work    sync.WaitGroup // openings and closings

	mu      sync.Mutex
	most    int
	wanted  map[string]*want // by what they are like
	all     map[*spare]bool  // ready, in the making or on their way out
	waiting int              // how many requests wait for a sandbox to be made
	filling bool
	closed  bool
}

// want is one kind of sandbox that was asked for.
type want struct {
	tenant tenant // the last who asked
	maker  backends.Backend
	asked  time.Time
	timer  *time.Timer // until it is not wanted any more
	ready  []*spare
}

// spare is a sandbox that nobody uses.
type spare struct {
	backend string
	spec    backends.Spec
	maker   backends.Backend
	sandbox backends.Sandbox // nil while it is made
}

func newPool(observer SandboxObserver, ready *readiness, log *slog.Logger) *pool {
	ctx, stop := context.WithCancel(context.Background())
	return &pool{observer: observer, readiness: ready, log: log, running: ctx, stop: stop, wanted: map[string]*want{}, all: map[*spare]bool{}}
}

// kind is what a tenant's sandbox is like, whoever the tenant is.
func (t tenant) kind() string {
	files := "none that stay"
	if t.spec.Workspace != "" {
		files = "a workspace"
	}
	return hash(t.backend, fingerprint(t.spec), files)
}

// poolable says whether sandboxes of a backend can stand ready: their files must
// have names of their own, and they must not need whoever opened them.
func poolable(maker backends.Backend) bool {
	_, keeps := maker.(backends.Keeper)
	_, adopts := maker.(backends.Adopter)
	return keeps && adopts
}

// take returns a sandbox that is ready for a tenant, and has others made for who
// comes next; nil if there is none.
func (p *pool) take(t tenant, maker backends.Backend) *spare {
	if !poolable(maker) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.want(t, maker)
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
		p.kick()
		return s
	}
	return nil
}

// want notes that a kind of sandbox was asked for; nil if none stand ready at all.
func (p *pool) want(t tenant, maker backends.Backend) *want {
	if p.most <= 0 || p.closed {
		return nil
	}
	kind := t.kind()
	w := p.wanted[kind]
	if w == nil {
		w = &want{maker: maker}
		w.timer = time.AfterFunc(wantedFor, func() { p.forget(w) })
		p.wanted[kind] = w
	}
	w.timer.Reset(wantedFor)
	w.tenant, w.asked = t, time.Now()
	return w
}

// unfit is why a spare is of no use to a tenant, if it is of none.
func (s *spare) unfit(t tenant) string {
	select {
	case <-s.sandbox.Done():
		return reasonFailed
	default:
	}
	if s.spec.Expires.Before(time.Now().Add(t.age)) {
		return reasonExpired
	}
	return ""
}

// await counts in a request that waits until a sandbox is made, until the returned
// function is called.
func (p *pool) await() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.waiting--
		p.kick()
	}
}

// kick has what is lacking made, unless that is under way.
func (p *pool) kick() {
	if p.filling || p.lacking() == nil {
		return
	}
	p.filling = true
	p.work.Go(p.fill)
}

// lacking is the kind that was asked for last among those of which there are too
// few; nil if there are enough, or no room, or this is no time to make one.
func (p *pool) lacking() (latest *want) {
	if p.closed || p.waiting > 0 || len(p.all) >= p.most {
		return nil
	}
	for _, w := range p.wanted {
		if len(w.ready) < sparesEach && (latest == nil || w.asked.After(latest.asked)) {
			latest = w
		}
	}
	return latest
}

// fill makes sandboxes, one after the other, until there are enough.
func (p *pool) fill() {
	for {
		w, s := p.next()
		if s == nil {
			return
		}
		ctx, cancel := context.WithTimeout(p.running, openTimeout)
		sandbox, err := p.readiness.open(ctx, s.backend, s.maker, s.spec)
		cancel()
		p.put(w, s, sandbox, err)
	}
}

// next begins a sandbox, with a workspace that nobody has had.
func (p *pool) next() (*want, *spare) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.lacking()
	if w == nil {
		p.filling = false
		return nil, nil
	}
	s := &spare{backend: w.tenant.backend, spec: w.tenant.spec, maker: w.maker}
	s.spec.Session, s.spec.Expires = "", time.Now().Add(spareAge+w.tenant.age)
	if s.spec.Workspace != "" {
		s.spec.Workspace = strings.ToLower(rand.Text())
	}
	p.all[s] = true
	return w, s
}

// put adds what was made to what is ready. A kind of which none can be made is not
// tried again before somebody asks for it.
func (p *pool) put(w *want, s *spare, sandbox backends.Sandbox, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kind := w.tenant.kind()
	if err != nil {
		if !p.closed { // else it was broken off
			p.log.Warn("making a sandbox that stands ready", "backend", s.backend, "error", err)
		}
		delete(p.all, s)
		if p.wanted[kind] == w {
			p.drop(kind, reasonFailed)
		}
		return
	}
	s.sandbox = sandbox
	if p.wanted[kind] != w || len(p.all) > p.most {
		p.discard(s, reasonIdle)
		return
	}
	w.ready = append(w.ready, s)
}

// forget drops a kind that nobody has asked for in a while.
func (p *pool) forget(w *want) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kind := w.tenant.kind(); p.wanted[kind] == w && time.Since(w.asked) >= wantedFor {
		p.drop(kind, reasonIdle)
	}
}

func (p *pool) drop(kind, reason string) {
	w := p.wanted[kind]
	delete(p.wanted, kind)
	w.timer.Stop()
	for _, s := range w.ready {
		p.discard(s, reason)
	}
}

// discard closes a sandbox that is ready for nobody.
func (p *pool) discard(s *spare, reason string) {
	p.work.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
		defer cancel()
		err := s.sandbox.Close(ctx)
		if keeper, ok := s.maker.(backends.Keeper); ok && s.spec.Workspace != "" {
			err = errors.Join(err, keeper.RemoveWorkspace(ctx, s.spec.Owner, s.spec.Workspace))
		}
		p.observer.SandboxReaped(s.backend, reason)
		if err != nil {
			p.log.Error("removing a sandbox that stood ready", "backend", s.backend, "sandbox", s.sandbox.ID(), "error", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.all, s)
		p.kick()
	})
}

// bound sets how many may stand ready.
func (p *pool) bound(most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.most = most; len(p.all) > most {
		p.empty(reasonRemoved)
	}
	p.kick()
}

// drain closes all that stand ready, and forgets what was asked for.
func (p *pool) drain(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.empty(reason)
}

func (p *pool) empty(reason string) {
	for kind := range p.wanted {
		p.drop(kind, reason)
	}
}

// tend closes those that have failed.
func (p *pool) tend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wanted {
		var sound []*spare
		for _, s := range w.ready {
			if reason := s.unfit(w.tenant); reason != "" {
				p.discard(s, reason)
				continue
			}
			sound = append(sound, s)
		}
		w.ready = sound
	}
	p.kick()
}

// close empties the pool for good, and returns when all its sandboxes are gone.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.empty(reasonShutdown)
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
}

// holds says whether a sandbox is the pool's, or could be the one that is just
// being made and whose id is not known yet.
func (p *pool) holds(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.all {
		if s.sandbox == nil || s.sandbox.ID() == id {
			return true
		}
	}
	return false
}

// keeps says whether a workspace is one of the pool's sandboxes'.
func (p *pool) keeps(workspace string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.all {
		if s.spec.Workspace == workspace {
			return true
		}
	}
	return false
}
