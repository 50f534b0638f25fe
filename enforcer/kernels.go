package enforcer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

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
	// maxLosses bounds how many losses are remembered to be told.
	maxLosses = 10_000
)

// kernels are the interpreters that live in a lease, a seat for each session. They
// do not count as use of it, and end when somebody must be alone there.
type kernels struct {
	mu    sync.Mutex
	seats map[string]*seat // by who sits there
}

// seat is where a session's scripts run, one after another.
type seat struct {
	who  string
	turn chan struct{} // holds an element while somebody is in

	// For whoever is in.
	kernel    *kernel.Kernel // nil while there is none
	constants map[string]string
	used      time.Time
	idle      *time.Timer
}

// seatOf is a session's seat.
func (ks *kernels) seatOf(who string) *seat {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	if ks.seats == nil {
		ks.seats = map[string]*seat{}
	}
	if ks.seats[who] == nil {
		ks.seats[who] = &seat{who: who, turn: make(chan struct{}, 1)}
	}
	return ks.seats[who]
}

func (ks *kernels) all() []*seat {
	ks.mu.Lock()
	defer ks.mu.Unlock()
	return slices.Collect(maps.Values(ks.seats))
}

// live counts the interpreters that live.
func (ks *kernels) live() (n int) {
	for _, s := range ks.all() {
		if !s.tryEnter() { // a script runs there, or is about to
			n++
			continue
		}
		if s.isLive() {
			n++
		}
		s.leave()
	}
	return n
}

// enter waits until no other script of the session runs.
func (s *seat) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryEnter is false if somebody is in.
func (s *seat) tryEnter() bool {
	select {
	case s.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *seat) leave() { <-s.turn }

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
		if err := s.enter(ctx); err != nil {
			return err
		}
		err := l.evictKernel(ctx, s, lostAlone)
		if s.leave(); err != nil {
			return err
		}
	}
	return nil
}

// endScripts ends a session's interpreters, wherever no script runs in them, for
// it does not come back for their variables.
func (e *Enforcer) endScripts(ctx context.Context, caller, session string) (err error) {
	for backend := range e.Backends {
		who := sitterOf(caller, session, backend)
		for _, l := range e.leases.standing() {
			err = errors.Join(err, l.kernels.dismiss(ctx, who))
		}
		e.leases.losses.take(who)
	}
	return err
}

func (ks *kernels) dismiss(ctx context.Context, who string) error {
	for _, s := range ks.all() {
		if s.who == who && s.tryEnter() {
			defer s.leave()
			return s.clear(ctx)
		}
	}
	return nil
}

// makeRoom ends the interpreter that ran nothing for longest, if there are so many
// that there is no room for another.
func (l *lease) makeRoom(ctx context.Context) error {
	live := 0
	var oldest *seat // which is entered
	for _, s := range l.kernels.all() {
		if !s.tryEnter() {
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
			s.leave()
		}
	}
	if oldest == nil {
		return nil
	}
	defer oldest.leave()
	if live <= maxKernels { // with the one that is about to be started
		return nil
	}
	return l.evictKernel(ctx, oldest, lostToOthers)
}

// rest starts the idle clock of a seat's interpreter.
func (l *lease) rest(s *seat) {
	s.used = time.Now()
	s.idle = time.AfterFunc(kernelIdle, func() {
		if !s.tryEnter() {
			return
		}
		defer s.leave()
		if time.Since(s.used) >= kernelIdle {
			_ = l.evictKernel(context.Background(), s, lostIdle)
		}
	})
}

// loss is why the variables of a session's scripts are gone, as a part of a sentence.
type loss string

const (
	lostIdle      loss = "it had run no script for 10 minutes"
	lostAlone     loss = "a request had to be alone in the sandbox"
	lostToOthers  loss = "other sessions of the user needed its room"
	lostConstants loss = "the policies set other variables now"
	lostItself    loss = "it had ended between two scripts"
	lostSandbox   loss = "its sandbox was removed"
)

func (l loss) sentence() string {
	return "The variables of earlier scripts are lost: their interpreter was ended, since " + string(l) + "."
}

// losses are those that a session has not been told of.
type losses struct {
	mu  sync.Mutex
	why map[string]loss
}

func (ls *losses) note(who string, why loss) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.why == nil || len(ls.why) >= maxLosses { // of sessions that never came back
		ls.why = map[string]loss{}
	}
	ls.why[who] = why
}

// take returns the loss that is to be told, empty if there is none.
func (ls *losses) take(who string) loss {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	why := ls.why[who]
	delete(ls.why, who)
	return why
}

// bereave remembers whose interpreters go with a sandbox.
func (l *lease) bereave(reason string) {
	if reason == reasonEnd {
		return // its session does not come back for them
	}
	for _, s := range l.kernels.all() {
		if !s.tryEnter() {
			continue // its script is told itself
		}
		if s.isLive() {
			l.leases.losses.note(s.who, lostSandbox)
		}
		s.leave()
	}
}

// sitterOf names a session that runs scripts on a backend.
func sitterOf(caller, session, backend string) string { return hash(caller, session, backend) }
