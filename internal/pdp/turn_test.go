package pdp

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff"
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
			const limit = 40 * time.Millisecond
			turn, err := takeTurn(t.Context(), limit)
			must(t, err)
			defer turn.end()
			turn.mu.Lock()
			turn.began, turn.clock = 0, func() time.Duration { return c.used }
			turn.mu.Unlock()
			for time.Since(turn.start) < wallFactor*limit/2 && !turn.cancel.Cancelled() {
				time.Sleep(time.Millisecond)
			}
			if got := turn.cancel.Cancelled(); got != c.cancels {
				t.Fatalf("after %v it is cancelled: %v", time.Since(turn.start), got)
			}
			for !turn.cancel.Cancelled() {
				if time.Since(turn.start) > time.Minute {
					t.Fatal("it goes on for ever")
				}
				time.Sleep(time.Millisecond)
			}
			if turn.isStarved() != c.afterAll {
				t.Errorf("it is said to have had no processor: %v, want %v", turn.isStarved(), c.afterAll)
			}
			if took := time.Since(turn.start); c.afterAll && took < wallFactor*limit {
				t.Errorf("it was cancelled after %v, want %v", took, wallFactor*limit)
			}
		})
	}
}

func TestAnEvaluationThatGotNoProcessorIsTriedOnceMore(t *testing.T) {
	for name, c := range map[string]struct {
		fault error
		tries int
	}{
		"it got no processor": {fmt.Errorf("evaluating: %w", errStarved), 2},
		"it had its time":     {errNoAnswer, 1},
		"it answered":         {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			_, err := unlessStarved(func() (*ast.Term, error) {
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

// timeouts counts evaluations that took too long.
type timeouts struct{ atomic.Int64 }

func (*timeouts) Reloaded(bool, string) {}

func (c *timeouts) OutOfTime() { c.Add(1) }

func TestPoliciesThatNeverEndHoldUpNoOther(t *testing.T) {
	folder := tree(t, map[string]string{"p.rego": `package bailiff

decision := {"outcome": "allow", "denials": [], "backend": {"name": "docker", "scope": "session", "network": "none"},
	"limits": {"timeout_seconds": 180, "output_bytes": 50000}} if {
	not _loops
}

_loops if {
	input.args.command == "loop"
	count([1 | some a in numbers.range(1, 5000); some b in numbers.range(1, 5000); a * b == -1]) == 0
}
`})
	var late timeouts
	p, err := Open(t.Context(), Config{EvalTimeout: 60 * time.Millisecond, Paths: []string{folder}, Observer: &late})
	must(t, err)
	ask := func(command string, i int) bailiff.Judgement {
		r := listing
		r.Args.Command, r.Session.ID = command, fmt.Sprint(i)
		return p.Decide(t.Context(), r, ready)
	}
	var loops sync.WaitGroup
	ended := make(chan struct{})
	for i := range 32 {
		loops.Go(func() {
			if j := ask("loop", i); j.Fault == nil {
				t.Errorf("a policy that never ends decides %+v", j.Decision)
			}
		})
	}
	go func() { loops.Wait(); close(ended) }()
	beside := 0
	for i := 0; ; i++ {
		if j := ask(fmt.Sprint("ls ", i), i); j.Fault != nil {
			t.Fatal(j.Fault)
		}
		select {
		case <-ended:
			if beside < 32 {
				t.Errorf("%d other requests were judged beside those that never end", beside)
			}
			if n := late.Load(); n != 32 {
				t.Errorf("%d evaluations are said to have been out of time, want 32", n)
			}
			return
		default:
			beside++
		}
	}
}

func TestARequestThatIsGivenUpWaitsForNoTurn(t *testing.T) {
	for range cap(turns) {
		turns <- struct{}{}
	}
	defer func() {
		for range cap(turns) {
			<-turns
		}
	}()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := takeTurn(ctx, time.Second); err == nil {
		t.Error("it has a turn")
	}
}
