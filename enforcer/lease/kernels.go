package lease

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/backends/kernel"
	"github.com/bailiff-dev/bailiff/enforcer/turn"
)

const (
	// kernelIdle is how long an interpreter stays that runs no script.
	kernelIdle = 10 * time.Minute
	// maxKernels bounds the interpreters of a sandbox that several sessions share.
	maxKernels = 4
	// kernelRoom is the bound on processes below which no interpreter stays: it
	// would take the room that commands need.
	kernelRoom = 64
)

// kernels are the interpreters that live in a lease, a slot for each user of each
// session. They do not count as use of it, and end when a request must be alone there.
type kernels struct {
	mu    sync.Mutex
	slots map[kernelKey]*kernelSlot
}

// kernelKey is whose scripts share an interpreter: those that a user of a session runs
// on a backend.
type kernelKey struct {
	session                 Key
	platform, user, backend string
	// peer is the credential of the request: on the command line it says who asks, and not the user that the client names.
	peer string
	// agent is that of the session: none runs in what another agent made of its interpreter.
	agent string
}

func (h *Hold) kernelKey() kernelKey {
	return kernelKey{Key{h.lease.caller, h.session.ID}, h.session.Platform, h.session.UserID, h.lease.backend, h.peer, h.session.Agent.ID}
}

// kernelSlot is where the scripts of one key run, one after another.
type kernelSlot struct {
	who  kernelKey
	turn turn.Turn // whose script runs

	// For the holder of the turn.
	kernel    *kernel.Kernel // nil while there is none
	constants map[string]string
	label     uint32 // by which it dials its way out
	used      time.Time
	idle      *time.Timer

	ran scripts
}

// slotOf is the slot of a key.
func (ks *kernels) slotOf(who kernelKey) *kernelSlot {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if ks.slots == nil {
		ks.slots = map[kernelKey]*kernelSlot{}
	}
	if ks.slots[who] == nil {
		ks.slots[who] = &kernelSlot{who: who, turn: turn.New()}
	}
	return ks.slots[who]
}

func (ks *kernels) all() []*kernelSlot {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	return slices.Collect(maps.Values(ks.slots))
}

// keys are those whose interpreters live.
func (ks *kernels) keys() (all []kernelKey) {
	for _, s := range ks.all() {
		if !s.turn.TryTake() { // a script runs there, or is about to
			all = append(all, s.who)
			continue
		}
		if s.isLive() {
			all = append(all, s.who)
		}
		s.turn.Pass()
	}
	return all
}

// isLive says whether the slot has an interpreter that lives.
func (s *kernelSlot) isLive() bool { return s.kernel != nil && !isClosed(s.kernel.Done()) }

// clear ends the slot's interpreter.
func (s *kernelSlot) clear(ctx context.Context) (err error) {
	if s.isLive() {
		err = s.kernel.End(ctx)
	}
	s.kernel = nil
	s.ran.forget()
	if s.idle != nil {
		s.idle.Stop()
	}
	return err
}

// evictKernel ends a slot's interpreter, and remembers why.
func (l *Lease) evictKernel(ctx context.Context, s *kernelSlot, why loss) error {
	if !s.isLive() {
		return nil
	}
	l.pool.losses.note(s.who, why)
	return s.clear(ctx)
}

// endKernels ends all interpreters of a lease in which no script runs, for a request
// that must be alone.
func (l *Lease) endKernels(ctx context.Context) error {
	for _, s := range l.kernels.all() {
		if err := s.turn.Take(ctx); err != nil {
			return err
		}
		err := l.evictKernel(ctx, s, lostAlone)
		if s.turn.Pass(); err != nil {
			return err
		}
	}
	return nil
}

// endKernels ends a session's interpreters, wherever no script runs in them, for
// it does not come back for their variables.
func (p *Pool) endKernels(ctx context.Context, key Key) (err error) {
	for _, l := range p.standing() {
		err = errors.Join(err, l.kernels.endSession(ctx, key))
	}
	p.losses.forget(key)
	return err
}

func (ks *kernels) endSession(ctx context.Context, key Key) (err error) {
	for _, s := range ks.all() {
		if s.who.session == key && s.turn.TryTake() {
			err = errors.Join(err, s.clear(ctx))
			s.turn.Pass()
		}
	}
	return err
}

// makeRoom ends the interpreter that ran nothing for longest, if there are so many
// that there is no room for another.
func (l *Lease) makeRoom(ctx context.Context) error {
	live := 0
	var oldest *kernelSlot // whose turn is taken
	for _, s := range l.kernels.all() {
		if !s.turn.TryTake() {
			live++
			continue
		}
		if s.isLive() {
			live++
		}
		if s.isLive() && (oldest == nil || s.used.Before(oldest.used)) {
			oldest, s = s, oldest
		}
		if s != nil {
			s.turn.Pass()
		}
	}
	if oldest == nil {
		return nil
	}
	defer oldest.turn.Pass()
	if live <= maxKernels { // with the one that is about to be started
		return nil
	}
	return l.evictKernel(ctx, oldest, lostToOthers)
}

// startKernelTimer starts the idle clock of a slot's interpreter.
func (l *Lease) startKernelTimer(s *kernelSlot) {
	s.used = time.Now()
	s.idle = time.AfterFunc(kernelIdle, func() {
		_ = s.turn.Take(context.Background()) // the one that has it passes it on
		defer s.turn.Pass()
		if time.Since(s.used) >= kernelIdle {
			_ = l.evictKernel(context.Background(), s, lostIdle)
		}
	})
}

// recordLostLocked remembers whose interpreters go with a sandbox.
func (l *Lease) recordLostLocked(reason string) {
	if l.lostRecorded = l.lostRecorded || reason == reasonEnd; l.lostRecorded { // a session that was ended does not come back for them
		return
	}
	l.lostRecorded = true
	why := lostSandbox
	if reason == reasonFailed {
		why = lostFailed
	}
	for _, s := range l.kernels.all() {
		if !s.turn.TryTake() {
			continue // its script is told itself
		}
		if s.kernel != nil { // it may have ended with its sandbox
			l.pool.losses.note(s.who, why)
		}
		s.turn.Pass()
	}
}
