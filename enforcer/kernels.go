package enforcer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/kernel"
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

// kernels are the interpreters that live in a lease, a seat for each user of each
// session. They do not count as use of it, and end when somebody must be alone there.
type kernels struct {
	mu    sync.Mutex
	seats map[sitter]*seat
}

// sitter is whose scripts share an interpreter: those that a user of a session runs
// on a backend.
type sitter struct {
	session                 sessionKey
	platform, user, backend string
}

func sitterOf(req bailiff.Request, backend string) sitter {
	return sitter{keyOf(req), req.Session.Platform, req.Session.UserID, backend}
}

// seat is where a sitter's scripts run, one after another.
type seat struct {
	who  sitter
	turn turn // whose script runs

	// For whose turn it is.
	kernel    *kernel.Kernel // nil while there is none
	constants map[string]string
	used      time.Time
	idle      *time.Timer
}

// seatOf is a sitter's seat.
func (ks *kernels) seatOf(who sitter) *seat {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if ks.seats == nil {
		ks.seats = map[sitter]*seat{}
	}
	if ks.seats[who] == nil {
		ks.seats[who] = &seat{who: who, turn: newTurn()}
	}
	return ks.seats[who]
}

func (ks *kernels) all() []*seat {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	return slices.Collect(maps.Values(ks.seats))
}

// sitters are those whose interpreters live.
func (ks *kernels) sitters() (all []sitter) {
	for _, s := range ks.all() {
		if !s.turn.tryTake() { // a script runs there, or is about to
			all = append(all, s.who)
			continue
		}
		if s.isLive() {
			all = append(all, s.who)
		}
		s.turn.pass()
	}
	return all
}

// isLive says whether the seat has an interpreter that lives.
func (s *seat) isLive() bool {
	if s.kernel == nil {
		return false
	}
	select {
	case <-s.kernel.Done():
		return false
	default:
		return true
	}
}

// clear ends the seat's interpreter.
func (s *seat) clear(ctx context.Context) (err error) {
	if s.isLive() {
		err = s.kernel.End(ctx)
	}
	s.kernel = nil
	if s.idle != nil {
		s.idle.Stop()
	}
	return err
}

// evictKernel ends a seat's interpreter, and remembers why.
func (l *lease) evictKernel(ctx context.Context, s *seat, why loss) error {
	if !s.isLive() {
		return nil
	}
	l.leases.losses.note(s.who, why)
	return s.clear(ctx)
}

// endKernels ends all interpreters of a lease in which no script runs, for somebody
// who must be alone.
func (l *lease) endKernels(ctx context.Context) error {
	for _, s := range l.kernels.all() {
		if err := s.turn.take(ctx); err != nil {
			return err
		}
		err := l.evictKernel(ctx, s, lostAlone)
		if s.turn.pass(); err != nil {
			return err
		}
	}
	return nil
}

// endScripts ends a session's interpreters, wherever no script runs in them, for
// it does not come back for their variables.
func (e *Enforcer) endScripts(ctx context.Context, key sessionKey) (err error) {
	for _, l := range e.leases.standing() {
		err = errors.Join(err, l.kernels.dismiss(ctx, key))
	}
	e.leases.losses.forget(key)
	return err
}

func (ks *kernels) dismiss(ctx context.Context, key sessionKey) (err error) {
	for _, s := range ks.all() {
		if s.who.session == key && s.turn.tryTake() {
			err = errors.Join(err, s.clear(ctx))
			s.turn.pass()
		}
	}
	return err
}

// makeRoom ends the interpreter that ran nothing for longest, if there are so many
// that there is no room for another.
func (l *lease) makeRoom(ctx context.Context) error {
	live := 0
	var oldest *seat // whose turn is taken
	for _, s := range l.kernels.all() {
		if !s.turn.tryTake() {
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
			s.turn.pass()
		}
	}
	if oldest == nil {
		return nil
	}
	defer oldest.turn.pass()
	if live <= maxKernels { // with the one that is about to be started
		return nil
	}
	return l.evictKernel(ctx, oldest, lostToOthers)
}

// rest starts the idle clock of a seat's interpreter.
func (l *lease) rest(s *seat) {
	s.used = time.Now()
	s.idle = time.AfterFunc(kernelIdle, func() {
		_ = s.turn.take(context.Background()) // whoever has it passes it on
		defer s.turn.pass()
		if time.Since(s.used) >= kernelIdle {
			_ = l.evictKernel(context.Background(), s, lostIdle)
		}
	})
}

// bereave remembers whose interpreters go with a sandbox.
func (l *lease) bereave(reason string) {
	if l.bereaved = l.bereaved || reason == reasonEnd; l.bereaved { // who ends a session does not come back for them
		return
	}
	l.bereaved = true
	why := lostSandbox
	if reason == reasonFailed {
		why = lostFailed
	}
	for _, s := range l.kernels.all() {
		if !s.turn.tryTake() {
			continue // its script is told itself
		}
		if s.kernel != nil { // it may have ended with its sandbox
			l.leases.losses.note(s.who, why)
		}
		s.turn.pass()
	}
}
