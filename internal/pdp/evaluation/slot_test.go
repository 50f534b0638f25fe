package evaluation

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
)

func TestTheTimeOfAnEvaluationIsThatOfItsThread(t *testing.T) {
	for name, c := range map[string]struct {
		used     time.Duration // of the thread, whatever the clock on the wall says
		cancels  bool
		afterAll bool // as soon as the wall's bound is reached
	}{
		"it waits for a processor": {used: 0, afterAll: true},
		"it nearly had its time":   {used: 39 * time.Millisecond, afterAll: true},
		"it had its time":          {used: 40 * time.Millisecond, cancels: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const limit = 40 * time.Millisecond
				slot, err := Take(t.Context(), limit)
				if err != nil {
					t.Fatal(err)
				}
				defer slot.End()
				slot.mu.Lock()
				slot.began, slot.clock = 0, func() time.Duration { return c.used }
				slot.mu.Unlock()
				for time.Since(slot.start) < WallFactor*limit/2 && !slot.Cancel.Cancelled() {
					time.Sleep(time.Millisecond)
				}
				if got := slot.Cancel.Cancelled(); got != c.cancels {
					t.Fatalf("after %v it is cancelled: %v", time.Since(slot.start), got)
				}
				for !slot.Cancel.Cancelled() {
					if time.Since(slot.start) > time.Minute {
						t.Fatal("it goes on for ever")
					}
					time.Sleep(time.Millisecond)
				}
				if slot.isStarved() != c.afterAll {
					t.Errorf("it is said to have had no processor: %v, want %v", slot.isStarved(), c.afterAll)
				}
				if took := time.Since(slot.start); c.afterAll && took < WallFactor*limit {
					t.Errorf("it was cancelled after %v, want %v", took, WallFactor*limit)
				}
			})
		})
	}
}

func TestAnEvaluationThatGotNoProcessorIsTriedOnceMore(t *testing.T) {
	for name, c := range map[string]struct {
		fault error
		tries int
	}{
		"it got no processor": {fmt.Errorf("evaluating: %w", errStarved), 2},
		"it had its time":     {ErrNoAnswer, 1},
		"it answered":         {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			_, err := Retry(func() (*ast.Term, error) {
				tries++
				return nil, c.fault
			})
			if tries != c.tries || err != c.fault {
				t.Errorf("tried %d times, and failed with %v, want %d times and %v", tries, err, c.tries, c.fault)
			}
		})
	}
}

func TestTheClockOfAThreadStandsWhileItSleeps(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock := threadClock()
	start := clock()
	time.Sleep(50 * time.Millisecond)
	if slept := clock() - start; runtime.GOOS == "linux" && slept > 40*time.Millisecond {
		t.Errorf("asleep it used %v", slept)
	}
	for start, wall := clock(), time.Now(); clock() == start; {
		if time.Since(wall) > time.Minute {
			t.Fatal("it uses no time at work")
		}
	}
}

func TestARequestThatIsGivenUpWaitsForNoSlot(t *testing.T) {
	for range cap(slots) {
		slots <- struct{}{}
	}
	defer func() {
		for range cap(slots) {
			<-slots
		}
	}()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Take(ctx, time.Second); err == nil {
		t.Error("it has a slot")
	}
}
