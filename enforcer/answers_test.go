package enforcer

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

func named(id string, req bailiff.Request) bailiff.Request {
	req.ID = id
	return req
}

func TestARequestIDRunsAtMostOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.run = prints("once") })
	var all sync.WaitGroup
	answers := make([]bailiff.Answer, 20)
	for i := range answers {
		all.Go(func() { answers[i] = b.Execute(t.Context(), named("r1", request("date")), nil) })
	}
	all.Wait()
	for _, a := range answers {
		if a.Status != bailiff.Completed || string(a.Output) != "once" || a.DecisionID != answers[0].DecisionID {
			t.Errorf("answer is %+v", a)
		}
	}
	if n := len(b.fakeBackend.sandboxes()[0].cmds); n != 1 {
		t.Errorf("the command ran %d times", n)
	}
}

func TestARememberedAnswerIsTellingAsMuchAsTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.run = prints("once") })
	for range 2 {
		var told []byte
		decisions := 0
		b.Execute(t.Context(), named("r1", request("date")), func(p bailiff.Progress) {
			told = append(told, p.Output...)
			if p.Decision != nil {
				decisions++
			}
		})
		if string(told) != "once" || decisions != 1 {
			t.Errorf("told %q and %d decisions", told, decisions)
		}
	}
}

func TestWhatARequestIDCovers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bailiff.Request)
		code   string
		runs   int
	}{
		"another command is a conflict":     {func(r *bailiff.Request) { r.Args.Command = "rm x" }, bailiff.CodeConflict, 1},
		"another variable is a conflict":    {func(r *bailiff.Request) { r.Env = []string{"X"} }, bailiff.CodeConflict, 1},
		"another session has its own ids":   {func(r *bailiff.Request) { r.Session.ID = "s2" }, "", 2},
		"another caller has its own ids":    {func(r *bailiff.Request) { r.Caller = "codex" }, "", 2},
		"another waiting time is no matter": {func(r *bailiff.Request) { r.WaitSeconds = 7 }, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Execute(t.Context(), named("r1", request("date")), nil)
			second := named("r1", request("date"))
			c.change(&second)
			if a := b.Execute(t.Context(), second, nil); a.Code != c.code {
				t.Errorf("answer is %+v, want code %q", a, c.code)
			}
			runs := 0
			for _, sandbox := range b.fakeBackend.sandboxes() {
				runs += len(sandbox.cmds)
			}
			if runs != c.runs {
				t.Errorf("%d commands ran, want %d", runs, c.runs)
			}
		})
	}
}

func TestAnUnavailableAnswerIsNotRemembered(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.fault = errBoom })
	b.Execute(t.Context(), named("r1", request("date")), nil)
	b.fakeBackend.fault = nil
	if a := b.Execute(t.Context(), named("r1", request("date")), nil); a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
}

func TestASandboxThatBreaksUnderACommandLeavesTheOutcomeUnknown(t *testing.T) {
	t.Parallel()
	runs := 0
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			runs++
			return backends.Exit{}, errBoom
		}
	})
	for range 2 {
		if a := b.Execute(t.Context(), named("r1", request("date")), nil); a.Code != bailiff.CodeOutcomeUnknown ||
			a.Status != bailiff.Failed {
			t.Errorf("answer is %+v", a)
		}
	}
	if runs != 1 {
		t.Errorf("it ran %d times", runs)
	}
}

// claimsOf answers each claim alike, and remembers what was given back.
type claimsOf struct {
	first, same bool
	err         error
	free        []bool
}

func (c *claimsOf) Claim(context.Context, string, string, string, string) (first, same bool, err error) {
	return c.first, c.same, c.err
}

func (c *claimsOf) Ended(_, _, _ string, free bool) { c.free = append(c.free, free) }

// Nothing runs, no approver is asked and no grant is used under an id that may be another's. That holds for each decision.
func TestWhatAnotherSidecarMayHaveRunIsNotRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims claimsOf
		code   string
		free   bool
	}{
		"an id that is free":                     {claims: claimsOf{first: true}},
		"the same request, begun by another":     {claims: claimsOf{same: true}, code: bailiff.CodeOutcomeUnknown},
		"another request of that id":             {claims: claimsOf{}, code: bailiff.CodeConflict, free: true},
		"an id of which the store tells nothing": {claims: claimsOf{err: errors.New("away")}, code: bailiff.CodeStore, free: true},
	} {
		for kind, decision := range map[string]bailiff.Decision{"allowed": allow(), "granted": allow(ask)} {
			t.Run(name+", "+kind, func(t *testing.T) {
				claims := c.claims
				b := newBench(t, func(b *bench) { b.claims, b.judge.decision = &claims, decision })
				b.human.answer = always(bailiff.ApprovalApproved)
				var ran atomic.Int32
				b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
					ran.Add(1)
					return backends.Exit{}, nil
				}
				req := named("r1", request("date"))
				req.WaitSeconds = 300
				a := b.Execute(t.Context(), req, nil)
				if runs := ran.Load() == 1; a.Code != c.code || runs != (c.code == "") || !slices.Equal(claims.free, []bool{c.free}) {
					t.Errorf("ran %v, answered %+v, given back %v", runs, a, claims.free)
				}
				if asked := len(b.human.asked); c.code != "" && asked != 0 {
					t.Errorf("%d questions were asked", asked)
				}
			})
		}
	}
}

// slowClaims says that an id is free once the decision is recorded.
type slowClaims struct {
	claimsOf
	tape *tape
}

func (c *slowClaims) Claim(ctx context.Context, _, _, _, _ string) (first, same bool, err error) {
	select {
	case <-c.tape.noted:
		return true, false, nil
	case <-ctx.Done():
		return false, false, ctx.Err()
	}
}

// An allowed request is judged and recorded while its id is claimed, and runs after both.
func TestAnIDIsClaimedWhileItsRequestIsRecorded(t *testing.T) {
	t.Parallel()
	claims := &slowClaims{}
	b := newBench(t, func(b *bench) {
		b.tape.noted = make(chan struct{}, 1)
		claims.tape, b.claims = b.tape, claims
	})
	if a := b.Execute(t.Context(), named("r1", request("date")), nil); a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
}
