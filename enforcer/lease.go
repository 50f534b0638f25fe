package enforcer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/audit"
)

const (
	// maxAge is when a sandbox is replaced even if it is in constant use.
	maxAge = 24 * time.Hour
	// openTimeout bounds the making of a sandbox whose requester has gone away.
	openTimeout = 2 * time.Minute
	// maxFailed bounds how many failures are remembered to be told.
	maxFailed = 10_000
	// exclusive is the whole weight of a lease's gate; a request without
	// variables takes one.
	exclusive = 1 << 20
)

// tenant is who wants a sandbox, and what it must be like.
type tenant struct {
	caller, session string
	backend         string
	// slot is what a tenant has at most one of: a scope's identity and a backend.
	slot string
	// shared is set when the sandbox is a user's, whatever the session.
	shared bool
	// alone is set when nobody else, and no later request, may share the sandbox.
	alone bool
	idle  time.Duration
	spec  backends.Spec
}

// tenancy derives from a decision who may share the sandbox of a request.
func tenancy(req bailiff.Request, d bailiff.Decision, owner string) tenant {
	t := tenant{
		caller: req.Caller, session: req.Session.ID, backend: d.Backend.Name,
		alone: d.Backend.Scope == "request" || len(d.Env.Sealed) > 0,
		idle:  time.Duration(d.Backend.IdleSeconds) * time.Second,
	}
	scope := []string{"session", req.Caller, req.Session.ID}
	switch {
	case t.alone:
		scope = []string{"request", audit.NewID()}
	case d.Backend.Scope == "user" && req.Session.UserID != "":
		t.shared = true
		scope = []string{"user", req.Caller, req.Session.Platform, req.Session.UserID}
	}
	t.slot = hash(append(scope, d.Backend.Name)...)
	t.spec = backends.Spec{
		Owner: owner, Session: hash(req.Caller, req.Session.ID), Image: d.Backend.Image, Network: d.Backend.Network,
		CPUs: d.Backend.CPUs, MemoryMB: d.Backend.MemoryMB, DiskMB: d.Backend.DiskMB, PIDs: d.Backend.PIDs,
		ReadOnly: d.Backend.ReadOnly, Mounts: d.Backend.Mounts,
	}
	if !t.alone {
		t.spec.Workspace = hash(scope...)
	}
	return t
}

// hash names something by its parts, so that no part of a chat's identity ends
// up in a label or a path.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// serves says whether a tenant's request would be in this lease. The image does
// not count: a tenant's may be one that is not pinned yet.
func (l *lease) serves(t tenant) bool {
	t.spec.Image = l.spec.Image
	return l.slot == t.slot && l.fits(t)
}

// fits says whether a tenant may use a sandbox that was made for another request.
func (l *lease) fits(t tenant) bool {
	return l.alive() && time.Now().Before(l.spec.Expires) && l.fingerprint == fingerprint(t.spec)
}

func fingerprint(spec backends.Spec) string {
	spec.Expires = time.Time{}
	spec.Session = "" // a user's sandbox serves several of their sessions
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // strings, numbers and booleans only: cannot fail
	}
	return hash(string(text))
}

// leases are the sandboxes that are in use or kept warm, at most one a slot.
type leases struct {
	owner string
	// most is how many sandboxes one caller's requests may have; zero means no bound.
	most   int
	opened func(backend string, err error, took time.Duration)
	reaped func(l *lease, reason string, err error)

	mu sync.Mutex
	// live are the leases that new requests may join, by slot; all are those whose
	// sandbox is not gone yet, retired ones that still have users among them.
	live     map[string]*lease
	all      map[*lease]bool
	workdirs map[string]workdir // by caller and session
	// parked are the workspaces of halted sessions, and until when each is kept.
	parked map[string]time.Time
	// failed are the slots whose sandbox failed and whose next user is to be told.
	failed map[string]bool
}

func newLeases(owner string, opened func(string, error, time.Duration), reaped func(*lease, string, error)) *leases {
	return &leases{owner: owner, opened: opened, reaped: reaped, live: map[string]*lease{}, all: map[*lease]bool{}, workdirs: map[string]workdir{}, failed: map[string]bool{}, parked: map[string]time.Time{}}
}

// lease is one sandbox with those who use it.
type lease struct {
	tenant
	leases      *leases
	fingerprint string
	maker       backends.Backend
	ready       chan struct{} // closed when sandbox or err is set
	sandbox     backends.Sandbox
	err         error
	gone        chan struct{} // closed when the sandbox is
	gate        *semaphore.Weighted

	// Guarded by leases.mu.
	users   int
	guests  []bailiff.Session // whose requests were in it, each once
	retired string            // why it goes when its last user has; empty while it is kept
	// successor is set until its first user is told that it replaces one that failed.
	successor bool
	removed   bool // its sandbox is being closed
	// emptying is set once nobody else works on its workspace and it is being deleted.
	emptying bool
	timer    *time.Timer
	since    time.Time
	used     time.Time
}

// tenure is one request's use of a lease.
type tenure struct {
	*lease
	weight int64
	// replaced says that the sandbox is there because the one before failed.
	replaced bool
	// stopped counts the processes of earlier commands that were killed so that
	// this request is alone.
	stopped int
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

// acquire returns the tenant's sandbox, making it if there is none that fits.
// With alone, nothing else is running in it until the tenure is released.
func (ls *leases) acquire(ctx context.Context, t tenant, guest bailiff.Session, maker backends.Backend, alone bool) (*tenure, error) {
	use, err := ls.enter(t, guest, maker)
	if err != nil {
		return nil, err
	}
	if alone {
		use.weight = exclusive
	}
	if err := use.settle(ctx, alone); err != nil {
		ls.leave(use.lease)
		return nil, err
	}
	return use, nil
}

// settle waits for the sandbox and for the others in it.
func (u *tenure) settle(ctx context.Context, alone bool) error {
	select {
	case <-u.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if u.err != nil {
		return u.err
	}
	if err := u.gate.Acquire(ctx, u.weight); err != nil {
		return err
	}
	if !alone {
		return nil
	}
	if err := u.endOthers(ctx); err != nil {
		u.gate.Release(u.weight)
		return err
	}
	return nil
}

// endOthers ends what earlier commands left running, in this sandbox and in any
// other that stands on the same files; nobody is in one of these.
func (u *tenure) endOthers(ctx context.Context) error {
	for _, other := range u.leases.others(u.lease) {
		if err := u.quiet(ctx, other); err != nil {
			return fmt.Errorf("stopping what stands on the same files: %w", err)
		}
	}
	left, err := u.sandbox.Alive(ctx)
	if err != nil {
		return fmt.Errorf("looking for processes of earlier commands: %w", err)
	}
	if left == 0 {
		return nil
	}
	u.stopped = left
	if err := u.sandbox.Kill(ctx); err != nil {
		return fmt.Errorf("stopping processes of earlier commands: %w", err)
	}
	return nil
}

// quiet waits for the end of another sandbox that is on its way out, and ends what
// is left in one that is not.
func (u *tenure) quiet(ctx context.Context, other *lease) error {
	ready := other.ready
	if u.leases.isLeaving(other) {
		ready = other.gone
	}
	select {
	case <-ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	if other.id() == "" || u.leases.isLeaving(other) {
		return nil
	}
	return other.sandbox.Kill(ctx)
}

// release ends a tenure.
func (u *tenure) release() {
	u.gate.Release(u.weight)
	u.leases.leave(u.lease)
}

// enter counts a user in, on the slot's lease if it fits and on a new one otherwise.
func (ls *leases) enter(t tenant, guest bailiff.Session, maker backends.Backend) (*tenure, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.live[t.slot]
	if l != nil && !l.fits(t) {
		ls.retire(l, replaceReason(l))
		l = nil
	}
	if l == nil {
		if err := ls.roomFor(t.caller); err != nil {
			return nil, err
		}
		l = ls.make(t, maker)
	}
	use := &tenure{lease: l, weight: 1, replaced: l.successor}
	l.successor = false
	l.welcome(guest)
	l.users++
	l.used = time.Now()
	if l.timer != nil {
		l.timer.Stop()
	}
	return use, nil
}

// maxGuests bounds whom a lease remembers; one with so many is halted with anybody.
const maxGuests = 1000

// welcome remembers whose request is in the sandbox.
func (l *lease) welcome(s bailiff.Session) {
	guest := bailiff.Session{ID: s.ID, Platform: s.Platform, UserID: s.UserID}
	if len(l.guests) < maxGuests && !slices.Contains(l.guests, guest) {
		l.guests = append(l.guests, guest)
	}
}

// isFor says whether a halt of those that match is this lease's too.
func (l *lease) isFor(match func(bailiff.Session) bool) bool {
	return len(l.guests) == maxGuests || slices.ContainsFunc(l.guests, match)
}

// roomFor says whether a caller may have one more sandbox.
func (ls *leases) roomFor(caller string) error {
	n := 0
	for l := range ls.all {
		if l.caller == caller && !l.removed {
			n++
		}
	}
	if ls.most == 0 || n < ls.most {
		return nil
	}
	return fmt.Errorf("%w: listener %s has %d, as many as agent.max_sandboxes allows; end a session, or wait until one was idle for long enough",
		errNoRoom, caller, n)
}

var errNoRoom = errors.New("too many sandboxes")

func replaceReason(l *lease) string {
	if l.alive() {
		return "expired"
	}
	return "failed"
}

// make starts opening a sandbox. The opening is not the requester's alone:
// others may already wait for it, so it does not end with the request.
func (ls *leases) make(t tenant, maker backends.Backend) *lease {
	now := time.Now()
	t.spec.Expires = now.Add(maxAge)
	l := &lease{tenant: t, leases: ls, maker: maker, fingerprint: fingerprint(t.spec),
		ready: make(chan struct{}), gone: make(chan struct{}), gate: ls.gateOf(t), since: now}
	if t.alone {
		l.retired = "request_end"
	}
	l.successor = ls.failed[t.slot]
	delete(ls.failed, t.slot)
	ls.live[t.slot], ls.all[l] = l, true
	delete(ls.parked, t.spec.Workspace)
	go l.open(ls.emptying(t.spec.Workspace))
	return l
}

// gateOf is the gate of a tenant's workspace: whoever is alone in a sandbox is
// alone on its files too, whatever other sandboxes still stand on them.
func (ls *leases) gateOf(t tenant) *semaphore.Weighted {
	for l := range ls.all {
		if t.spec.Workspace != "" && l.spec.Workspace == t.spec.Workspace && l.backend == t.backend && l.gate != nil {
			return l.gate
		}
	}
	return semaphore.NewWeighted(exclusive)
}

// others are the leases that stand on the same files.
func (ls *leases) others(than *lease) (all []*lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for l := range ls.all {
		if l != than && than.spec.Workspace != "" && l.spec.Workspace == than.spec.Workspace && l.backend == than.backend {
			all = append(all, l)
		}
	}
	return all
}

// isLeaving says whether a lease is closed as soon as nobody uses it.
func (ls *leases) isLeaving(l *lease) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return l.retired != ""
}

// emptying lists the ends to wait for before a workspace is used again.
func (ls *leases) emptying(workspace string) (ends []<-chan struct{}) {
	for l := range ls.all {
		if l.emptying && l.spec.Workspace == workspace {
			ends = append(ends, l.gone)
		}
	}
	return ends
}

func (l *lease) open(after []<-chan struct{}) {
	for _, end := range after {
		<-end
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	start := time.Now()
	l.sandbox, l.err = l.maker.Open(ctx, l.spec)
	l.leases.opened(l.backend, l.err, time.Since(start))
	close(l.ready)
}

// leave counts a user out. The last one starts the idle clock, or closes a
// lease that is not to be kept.
func (ls *leases) leave(l *lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l.users--
	l.used = time.Now()
	switch {
	case l.users > 0:
	case l.retired != "":
		ls.remove(l)
	case !l.alive():
		ls.retire(l, "failed")
	default:
		l.timer = time.AfterFunc(l.idle, func() { ls.expire(l) })
	}
}

// expire ends a lease that nobody has used since its clock was started.
func (ls *leases) expire(l *lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.users == 0 && time.Since(l.used) >= l.idle {
		ls.retire(l, "idle")
	}
}

// retire takes a lease out of use; it is closed when its last user leaves.
func (ls *leases) retire(l *lease, reason string) {
	if l.retired == "" {
		l.retired = reason
	}
	if reason == "failed" && !l.alone && l.id() != "" {
		if len(ls.failed) >= maxFailed { // of sessions that never came back
			clear(ls.failed)
		}
		ls.failed[l.slot] = true
	}
	if ls.live[l.slot] == l {
		delete(ls.live, l.slot)
	}
	if l.users == 0 {
		ls.remove(l)
	}
}

// remove closes a lease's sandbox in the background, once.
func (ls *leases) remove(l *lease) {
	if l.removed {
		return
	}
	l.removed = true
	if ls.live[l.slot] == l {
		delete(ls.live, l.slot)
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	for session, at := range ls.workdirs {
		if at.lease == l {
			delete(ls.workdirs, session)
		}
	}
	go l.close(l.retired)
}

func (l *lease) close(reason string) {
	defer l.leases.forget(l)
	ctx, cancel := context.WithTimeout(context.Background(), openTimeout)
	defer cancel()
	<-l.ready
	if l.err != nil {
		return
	}
	err := l.sandbox.Close(ctx)
	if reason == reasonFrozen {
		l.leases.park(l.spec.Workspace)
	} else if keeper, ok := l.maker.(backends.Keeper); ok && l.leases.isLastIn(l) {
		err = errors.Join(err, keeper.RemoveWorkspace(ctx, l.spec.Owner, l.spec.Workspace))
	}
	l.leases.reaped(l, reason, err)
}

// park keeps a workspace that no lease has for a while.
func (ls *leases) park(workspace string) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.parked[workspace] = time.Now().Add(maxAge)
}

// isLastIn says whether nobody else works, or is about to, on a closed lease's
// workspace; whoever comes now waits until it is gone.
func (ls *leases) isLastIn(l *lease) bool {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l.spec.Workspace == "" {
		return false
	}
	for other := range ls.all {
		if other != l && other.spec.Workspace == l.spec.Workspace {
			return false
		}
	}
	l.emptying = true
	return true
}

func (ls *leases) forget(l *lease) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.all, l)
	close(l.gone)
}
