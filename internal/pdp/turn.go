package pdp

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// An evaluation has a limit of processor time, so that a busy machine denies nothing: what counts is the time of its own thread.
// As many evaluations go on at once as there are processors; to wait for a turn does not count. One that takes long
// lets the next one begin beside it, so that policies which never end hold up no other request for long.

// turns are as many as there are processors, longTurns as many evaluations may go on beside them.
var (
	turns     = make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))
	longTurns = make(chan struct{}, 32)
)

// longTurn is the processor time after which an evaluation lets the next one begin.
const longTurn = 20 * time.Millisecond

// wallFactor is how many times the limit an evaluation may take by the clock on the wall.
const wallFactor = 10

// turn is an evaluation on a thread of its own, which its limit cancels.
type turn struct {
	limit  time.Duration
	cancel topdown.Cancel
	clock  func() time.Duration // of the thread
	start  time.Time
	began  time.Duration

	mu    sync.Mutex
	timer *time.Timer
	// starved says that it was cancelled by the clock on the wall, before it had its time.
	starved bool
	held    chan struct{} // where the turn is to be given back; nil after the end
}

// takeTurn waits for a turn, and keeps this goroutine's thread for it. The end of ctx or of the limit cancels it.
func takeTurn(ctx context.Context, limit time.Duration) (*turn, error) {
	select {
	case turns <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	runtime.LockOSThread()
	t := &turn{limit: limit, cancel: topdown.NewCancel(), clock: threadClock(), start: time.Now(), held: turns}
	t.began = t.clock()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(min(limit, longTurn), t.look)
	return t, nil
}

// look cancels an evaluation that has had its time, and looks again where it has not.
func (t *turn) look() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		return
	}
	used, wall := t.clock()-t.began, time.Since(t.start)
	if used >= t.limit || wall >= wallFactor*t.limit {
		t.starved = used < t.limit
		t.cancel.Cancel()
		return
	}
	if used >= longTurn {
		t.stepAside()
	}
	next := min(t.limit-used, wallFactor*t.limit-wall)
	if used < longTurn {
		next = min(next, longTurn-used)
	}
	t.timer.Reset(max(next, time.Millisecond))
}

// stepAside lets the next evaluation begin, unless many go on beside the others already.
func (t *turn) stepAside() {
	if t.held != turns {
		return
	}
	select {
	case longTurns <- struct{}{}:
		<-turns
		t.held = longTurns
	default:
	}
}

func (t *turn) isStarved() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.starved
}

func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer.Stop()
	<-t.held
	t.held = nil
	runtime.UnlockOSThread()
}
