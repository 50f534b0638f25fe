package enforcer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/ledger"
)

const (
	// maxAge is when a sandbox goes, whoever uses it, where the policies say nothing.
	maxAge = 24 * time.Hour
	// openTimeout bounds the making of a sandbox whose requester has gone away.
	openTimeout = 2 * time.Minute
)

// leases are the sandboxes that are in use or kept warm, at most one a slot.
type leases struct {
	observer SandboxObserver
	log      *slog.Logger
	ready    *readiness
	let      Ledger[ledger.Sandbox]
	kept     *kept
	pool     *pool
	// processes are those in a lease, for the ledger; reaped is told when one is gone.
	processes func(l *lease) []ledger.Process
	reaped    func(l *lease, reason string, err error)

	mu   sync.Mutex
	most Bounds
	// live are the leases that new requests may join, by slot; all are those whose
	// sandbox is not gone yet, retired ones that still have users among them.
	live     map[string]*lease
	all      map[*lease]bool
	workdirs map[string]workdir // by caller and session
	// parked are workspaces that nobody is in and that stay for a while, by key.
	parked map[string]parking
	// homes are the workspaces that are called otherwise than their scope, by slot.
	homes map[string]string
	// failed are the slots whose sandbox failed and whose next user is to be told.
	failed map[string]bool
	losses losses
}

func newLeases(c Config, ready *readiness, kept *kept, processes func(*lease) []ledger.Process, reaped func(*lease, string, error)) *leases {
	return &leases{
		observer: c.Observer, log: c.Log, ready: ready, let: c.Ledger, kept: kept, pool: newPool(c.Observer, ready, c.Log), processes: processes, reaped: reaped,
		live: map[string]*lease{}, all: map[*lease]bool{}, workdirs: map[string]workdir{},
		parked: map[string]parking{}, homes: kept.homes(), failed: map[string]bool{},
	}
}

// lease is one sandbox with those who use it.
type lease struct {
	tenant
	leases      *leases
	fingerprint string
	maker       backends.Backend
	ready       chan struct{} // closed when sandbox or err is set
	steps       board
	sandbox     backends.Sandbox
	err         error
	gone        chan struct{} // closed when the sandbox is
	gate        *semaphore.Weighted
	ink         sync.Mutex // held while its record is written
	kernels     kernels

	// Guarded by leases.mu.
	users      int               // requests and occupants
	guests     []bailiff.Session // whose requests were in it, each once
	guestBytes int
	retired    string // why it goes when its last user has; empty while it is kept
	// occupants are those who live in it, some of them ended.
	occupants []occupant
	// heir is set if it replaces one that failed, successor until its first user is
	// told so.
	heir, successor bool
	// taken is why it is closed under those who use it, stops are what ends these.
	taken   taking
	stops   map[*context.CancelCauseFunc]bool
	removed bool // its sandbox is being closed
	// bereaved says that whose interpreters went with it will be told.
	bereaved bool
	// emptying is set once its workspace is to be deleted and whoever comes waits for
	// that, filed once its workspace stays, or is another's to delete.
	emptying, filed bool
	// stale is set while its record is not what the lease is.
	stale   bool
	timer   *time.Timer // until it was idle for long enough
	ageing  *time.Timer
	since   time.Time
	expires time.Time // when it goes at the latest
	used    time.Time
}

func (l *lease) alive() bool {
	if l.isOpening() {
		return true
	}
	if l.err != nil {
		return false
	}
	select {
	case <-l.sandbox.Done():
		return false
	default:
		return true
	}
}

func (l *lease) isOpening() bool {
	select {
	case <-l.ready:
		return false
	default:
		return true
	}
}

// id is the sandbox's, empty while it is being opened or if that failed.
func (l *lease) id() string {
	if l.isOpening() || l.err != nil {
		return ""
	}
	return l.sandbox.ID()
}

// acquire returns the tenant's sandbox, making it if there is none that fits.
// With alone, nothing else is running in it until the tenure is released.
func (ls *leases) acquire(ctx context.Context, t tenant, guest bailiff.Session, maker backends.Backend, alone bool) (*tenure, error) {
	use, err := ls.take(ctx, t, guest, maker, alone)
	if errors.Is(err, taking(reasonExpired)) || errors.Is(err, errDied) {
		use, err = ls.take(ctx, t, guest, maker, alone)
	}
	return use, err
}

func (ls *leases) take(ctx context.Context, t tenant, guest bailiff.Session, maker backends.Backend, alone bool) (*tenure, error) {
	use, err := ls.enter(ctx, t, guest, maker)
	if err != nil {
		return nil, err
	}
	return ls.seat(ctx, use, alone)
}

// seat waits until a tenure that has been entered may begin.
func (ls *leases) seat(ctx context.Context, use *tenure, alone bool) (*tenure, error) {
	if alone {
		use.weight = exclusive
	}
	ctx, stop := use.within(ctx)
	defer stop()
	if err := use.settle(ctx, alone); err != nil {
		err = use.blame(ctx, err)
		ls.leave(use.lease)
		return nil, err
	}
	ls.inscribe(use.lease)
	return use, nil
}

// blame says what kept a tenure from beginning: that the sandbox was taken away or
// failed meanwhile, if so.
func (u *tenure) blame(ctx context.Context, err error) error {
	switch {
	case isTaken(ctx):
		return context.Cause(ctx)
	case u.id() != "" && !u.alive():
		return fmt.Errorf("%w: %w", errDied, err)
	}
	return err
}

var errDied = errors.New("the sandbox failed")

// enter counts a user in, on the slot's lease if it fits and on a new one otherwise.
func (ls *leases) enter(ctx context.Context, t tenant, guest bailiff.Session, maker backends.Backend) (*tenure, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.live[t.slot]
	if l != nil && !l.fits(t) {
		ls.retire(l, replaceReason(l))
		l = nil
	}
	if l == nil {
		if err := ls.roomFor(t); err != nil {
			return nil, err
		}
		if err := ls.ready.admit(t.backend, fingerprint(t.spec)); err != nil {
			return nil, err
		}
		l = ls.make(ctx, t, maker)
	}
	l.agree(t)
	use := &tenure{lease: l, guest: guest, weight: 1, replaced: l.successor}
	l.successor = false
	l.welcome(guest)
	l.users++
	l.used = time.Now()
	if l.timer != nil {
		l.timer.Stop()
	}
	return use, nil
}

// make starts opening a sandbox. The opening is not the requester's alone:
// others may already wait for it, so it does not end with the request. It is part of
// its trace all the same.
func (ls *leases) make(ctx context.Context, t tenant, maker backends.Backend) *lease {
	now := time.Now()
	t.spec.Expires = now.Add(t.age)
	ready := ls.prepared(&t, maker)
	l := ls.add(t, maker, now, now.Add(t.age))
	if t.alone {
		l.retired = reasonRequest
	}
	if l.heir = ls.failed[t.slot]; l.heir {
		l.successor = true
		ls.followTo(l)
	}
	delete(ls.failed, t.slot)
	if ready != nil {
		l.sandbox = ready
		close(l.ready)
		return l
	}
	go l.open(context.WithoutCancel(ctx), ls.pool.await(), ls.emptying(t))
	return l
}

// add makes a lease that new requests may join, and has it go when it expires.
func (ls *leases) add(t tenant, maker backends.Backend, since, expires time.Time) *lease {
	l := &lease{tenant: t, leases: ls, maker: maker, fingerprint: fingerprint(t.spec), gate: ls.gateOf(t), since: since, expires: expires,
		ready: make(chan struct{}), gone: make(chan struct{}), stops: map[*context.CancelCauseFunc]bool{}}
	l.ageing = time.AfterFunc(time.Until(expires), func() { ls.dropOne(l, reasonExpired) })
	ls.live[t.slot], ls.all[l] = l, true
	delete(ls.parked, t.files())
	return l
}

// agree lets a tenant's terms hold for a lease: for how long it may be idle, and,
// if that is sooner, when it goes at the latest.
func (l *lease) agree(t tenant) {
	l.stale = l.stale || l.idle != t.idle || l.persistent != t.persistent
	l.idle, l.persistent = t.idle, t.persistent
	if expires := l.since.Add(t.age); expires.Before(l.expires) {
		l.expires, l.stale = expires, true
		l.ageing.Reset(time.Until(expires))
	}
	if l.users == 0 && l.timer != nil {
		l.wind()
	}
}

// wind starts the clock of a lease that nobody uses.
func (l *lease) wind() {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.timer = time.AfterFunc(l.idle-time.Since(l.used), func() { l.leases.expire(l) })
}

func (l *lease) open(ctx context.Context, done func(), after []<-chan struct{}) {
	defer done()
	for _, end := range after {
		<-end
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	l.sandbox, l.err = l.leases.ready.open(backends.WithSteps(ctx, l.steps.post), l.backend, l.maker, l.spec)
	close(l.ready)
}

// leave counts a user out. The last one starts the idle clock, or closes a
// lease that is not to be kept.
func (ls *leases) leave(l *lease) {
	defer ls.inscribe(l)
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l.users--
	l.used = time.Now()
	switch {
	case l.users > 0:
	case l.retired != "":
		ls.remove(l)
	case !l.alive():
		ls.retire(l, reasonFailed)
	default:
		l.wind()
	}
}
