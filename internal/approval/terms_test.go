package approval

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestAYesHoldsNoLongerAndNoMoreOftenThanItSays(t *testing.T) {
	f := open(t)
	id := f.ask(claim("rm", "x"))
	e, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true, For: time.Minute, Times: 2})
	if err != nil || e.Scope != bailiff.ScopeSession || !strings.Contains(e.Message, "for 2 requests at most") {
		t.Fatalf("%+v, %v", e, err)
	}
	if left := time.Until(f.Grants()[0].Expires); left > time.Minute {
		t.Errorf("it holds for %s", left)
	}
	f.restart()
	for n, want := range []bool{true, true, false} {
		if f.redeem(claim("rm", "x")) != want {
			t.Errorf("use %d: want %v", n, want)
		}
	}
	if len(f.Grants()) > 0 || f.Covered(claim("rm", "x")) {
		t.Error("the grant is there after its last use")
	}
}

func TestTimesAreCountedOverAllSidecars(t *testing.T) { timesAreCounted(t, open(t)) }

// timesAreCounted has many redeem one grant at a time, on each of the replicas.
func timesAreCounted(t *testing.T, replicas ...*fixture) {
	t.Helper()
	c := claim("rm", "x")
	if _, err := replicas[0].Answer(t.Context(), replicas[0].ask(c), by("ana"), bailiff.Verdict{Approve: true, Times: 5}); err != nil {
		t.Fatal(err)
	}
	var granted atomic.Int32
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			_, ok, err := replicas[n%len(replicas)].Redeem(t.Context(), c)
			if err != nil {
				t.Error(err)
			}
			if ok {
				granted.Add(1)
			}
		})
	}
	all.Wait()
	if n := granted.Load(); n != 5 {
		t.Errorf("granted %d times, want 5", n)
	}
}

func TestTheStrictestTermsOfAllVotesHold(t *testing.T) {
	f := open(t, quorum(2))
	id := f.ask(claim("rm", "x"))
	for person, v := range map[string]bailiff.Verdict{"ana": {Approve: true, Scope: "always", For: time.Hour, Times: 9},
		"ben": {Approve: true, Scope: "always", Times: 3}} {
		if _, err := f.Answer(t.Context(), id, by(person), v); err != nil {
			t.Fatal(err)
		}
	}
	if g := f.Grants()[0]; g.Times != 3 || g.Expires.IsZero() || time.Until(g.Expires) > time.Hour {
		t.Errorf("the grant is %+v", g)
	}
}

func TestNoTermsAreWiderThanTheDecision(t *testing.T) {
	f := open(t)
	id := f.ask(with(claim("rm", "x"), func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"once", "session"} }))
	only := f.ask(with(claim("rm", "y"), func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"once"} }))
	for _, c := range []struct {
		id   string
		v    bailiff.Verdict
		want string
	}{
		{id, bailiff.Verdict{For: time.Hour}, "may hold for 10m at most, not for 1h"},
		{id, bailiff.Verdict{Scope: "once", For: time.Hour}, "may hold for 10m at most, not for 1h"},
		{id, bailiff.Verdict{Scope: "once", Times: 2}, "for once is for one request, not 2: say session"},
		{id, bailiff.Verdict{For: -1}, "a time above zero"},
		{id, bailiff.Verdict{Times: -1}, "for 1 to 1000 requests"},
		{id, bailiff.Verdict{Times: 1001}, "for 1 to 1000 requests"},
		{id, bailiff.Verdict{Scope: "always", Times: 2}, "offers scope once, session, not \"always\""},
		{only, bailiff.Verdict{Times: 2}, "offers scope once, not \"session\""},
		{only, bailiff.Verdict{For: time.Minute}, "offers scope once, not \"session\""},
	} {
		c.v.Approve = true
		if _, err := f.Answer(t.Context(), c.id, by("ana"), c.v); !errors.Is(err, api.ErrScope) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.v, err, c.want)
		}
	}
	if e, err := f.Answer(t.Context(), only, by("ana"), bailiff.Verdict{Approve: true, Times: 1, For: time.Minute}); err != nil ||
		e.Scope != bailiff.ScopeOnce || time.Until(e.GrantExpires) > time.Minute {
		t.Errorf("once within a minute: %+v, %v", e, err)
	}
}
