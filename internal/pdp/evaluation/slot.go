package evaluation

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// slots are as many as there are processors, longSlots as many evaluations may go on beside them.
var (
	slots     = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	longSlots = make(chan struct{}, 32)
)

// longSlot is the processor time after which an evaluation lets the next one begin.
const longSlot = 20 * time.Millisecond

// WallFactor is how many times the limit an evaluation may take by the clock on the wall.
const WallFactor = 10

// Slot is an evaluation on a thread of its own, which its limit cancels.
type Slot struct {
	// Cancel is to be given to the evaluation.
	Cancel topdown.Cancel

	limit time.Duration
	clock func() time.Duration // of the thread
	start time.Time
	began time.Duration

	mu    sync.Mutex
	timer *time.Timer
	// starved says that it was cancelled by the clock on the wall, before it had its time.
	starved bool
	held    chan struct{} // where the slot is to be given back; nil after the end
}

// Take waits for a slot, and keeps this goroutine's thread for it. The end of ctx or of the limit cancels it.
func Take(ctx context.Context, limit time.Duration) (*Slot, error) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	runtime.LockOSThread()
	t := &Slot{limit: limit, Cancel: topdown.NewCancel(), clock: threadClock(), start: time.Now(), held: slots}
	t.began = t.clock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(min(limit, longSlot), t.look)
	return t, nil
}

// look cancels an evaluation that has had its time, and looks again where it has not.
func (t *Slot) look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		return
	}
	used, wall := t.clock()-t.began, time.Since(t.start)
	if used >= t.limit || wall >= WallFactor*t.limit {
		t.starved = used < t.limit
		t.Cancel.Cancel()
		return
	}
	if used >= longSlot {
		t.stepAside()
	}
	next := min(t.limit-used, WallFactor*t.limit-wall)
	if used < longSlot {
		next = min(next, longSlot-used)
	}
	t.timer.Reset(max(next, time.Millisecond))
}

// stepAside lets the next evaluation begin, unless many go on beside the others already.
func (t *Slot) stepAside() {
	if t.held != slots {
		return
	}
	select {
	case longSlots <- struct{}{}:
		<-slots
		t.held = longSlots
	default:
	}
}

func (t *Slot) isStarved() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.starved
}

// End gives the slot back.
func (t *Slot) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	<-t.held
	t.held = nil
	runtime.UnlockOSThread()
}
