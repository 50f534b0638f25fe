package pdp

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

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
