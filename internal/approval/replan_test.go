package approval

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func (f *fixture) replan() {
	f.t.Helper()
	if err := f.Replan(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

func TestWhatIsPendingIsPlannedAnewWhenPeopleOrRoutesChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*roster)
		state  bailiff.ApprovalState
		says   string
		plan   string // route, quorum and approvers
		votes  int
		step   string // the last in the log
	}{
		{"nothing changed", func(*roster) {}, "pending", "waiting for 2 of ana, ben, cleo (1 said yes) to answer",
			"security 2 ana ben cleo", 1, "vote"},
		{"somebody is there instead of another", func(r *roster) { r.people = []string{"ana", "dora"} },
			"pending", "waiting for 2 of ana, dora (1 said yes) to answer", "security 2 ana dora", 1, "replanned"},
		{"somebody who voted is gone", func(r *roster) { r.people = []string{"ben", "cleo"} },
			"pending", "waiting for 2 of ben, cleo (0 said yes) to answer", "security 2 ben cleo", 0, "replanned"},
		{"the route is another", func(r *roster) { r.route = "owners" }, "pending", "waiting for 2 of ana, ben, cleo",
			"owners 2 ana ben cleo", 1, "replanned"},
		{"more are needed", func(r *roster) { r.quorum = 3 }, "pending", "waiting for 3 of ana, ben, cleo", "security 3 ana ben cleo", 1,
			"replanned"},
		{"fewer would do", func(r *roster) { r.quorum = 1 }, "pending", "waiting for 2 of ana, ben, cleo", "security 2 ana ben cleo", 1,
			"vote"},
		{"fewer would do, and fewer than are needed are there", func(r *roster) { r.quorum, r.people = 1, []string{"ben"} },
			"expired", "2 people must say yes, as when this was asked, but only ben could now; ask again", "security 2 ana ben cleo", 1,
			"unanswerable"},
		{"nobody is left", func(r *roster) { r.people = nil }, "expired", "nobody is configured to answer", "security 2 ana ben cleo", 1,
			"unanswerable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			observed := &counts{pending: map[string]int{}, resolved: map[string]int{}}
			f := open(t, quorum(2), func(config *Config) { config.Observer = observed })
			id := f.ask(claim("rm -r build", "build"))
			f.approve(id, "ana", "once")
			before, _ := f.Get(id)
			f.change(c.change)
			f.replan()
			if f.state(id) != bailiff.ApprovalPending && observed.resolved["unanswerable"] != 1 {
				t.Errorf("counted are %v", observed.resolved)
			}
			for _, when := range []string{"at once", "after a restart"} {
				e, _ := f.Get(id)
				plan := fmt.Sprint(e.Plan.Route, " ", e.Plan.Quorum, " ", strings.Join(e.Plan.Approvers, " "))
				if e.State != c.state || !strings.HasPrefix(e.Message, c.says) || plan != c.plan || len(e.Votes) != c.votes {
					t.Errorf("%s: %s by %s with %d votes: %s", when, e.State, plan, len(e.Votes), e.Message)
				}
				if !e.Expires.Equal(before.Expires) || e.Plan.Timeout != before.Plan.Timeout {
					t.Errorf("%s: its time is %s, was %s", when, e.Expires, before.Expires)
				}
				f.restart()
			}
			awaittest.Until(t, "the decision log", func() bool { steps := f.journal.steps(); return steps[len(steps)-1] == c.step })
		})
	}
}

func TestWhoWaitsForWhatNobodyCanAnswerAnyMoreIsWoken(t *testing.T) {
	f := open(t)
	id := f.ask(claim("rm", "x"))
	awaited := make(chan bailiff.Approval, 1)
	go func() { awaited <- f.Await(t.Context(), id) }()
	f.change(func(r *roster) { r.people = nil })
	f.replan()
	if a := <-awaited; a.State != bailiff.ApprovalExpired || a.Message != "nobody is configured to answer" {
		t.Errorf("awaited %+v", a)
	}
}

// turning is a router whose word becomes old at the moment it is given.
type turning struct {
	Router
	turn   func()
	turned bool
}

func (r *turning) Plan(c bailiff.Claim) (api.Plan, error) {
	p, err := r.Router.Plan(c)
	if !r.turned {
		r.turned = true
		r.turn()
	}
	return p, err
}

func TestNobodyGoesByAPlanFromBeforeAChange(t *testing.T) {
	other := roster{people: []string{"dora"}, quorum: 1, timeout: time.Minute, route: "owners"}
	turn := func(f *fixture) {
		r := &turning{Router: f.Book.config.Router}
		r.turn = func() {
			r.Router = other
			f.replan()
		}
		f.Book.config.Router = r
	}
	t.Run("to ask", func(t *testing.T) {
		f := open(t)
		turn(f)
		if e, _ := f.Get(f.ask(claim("rm", "x"))); e.Plan.Route != "owners" || !slices.Equal(e.Plan.Approvers, []string{"dora"}) {
			t.Errorf("it goes to %+v", e.Plan)
		}
	})
	t.Run("to answer", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		turn(f)
		if e, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true}); err == nil ||
			f.state(id) != bailiff.ApprovalPending {
			t.Errorf("who may not answer any more made it %s", e.State)
		}
		f.approve(id, "dora", "once")
	})
}

func TestAVoteThatComesWhileWhatIsPendingIsPlannedAnewIsKept(t *testing.T) {
	f := open(t, quorum(3))
	id := f.ask(claim("rm", "x"))
	r := f.Book.config.Router.(roster)
	r.route = "owners"
	f.Book.config.Router = &turning{Router: r, turn: func() { f.approve(id, "ana", "once") }}
	f.replan()
	if e, _ := f.Get(id); len(e.Votes) != 1 || e.Plan.Route != "owners" {
		t.Errorf("%d votes by route %s", len(e.Votes), e.Plan.Route)
	}
}

func TestTenThousandPendingArePlannedAnewInAFewTransactions(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes a hundred megabytes")
	}
	const pending = 10_000
	var transactions atomic.Int64
	b := loaded(t, pending, func(c *Config) {
		c.reached = func(point string) {
			if point == "staged" { // what is staged is written in one transaction
				transactions.Add(1)
			}
		}
	})
	r := b.config.Router.(roster)
	r.people, r.route = []string{"dora"}, "owners"
	b.config.Router = r
	before := transactions.Load()
	for _, round := range []string{"with new people", "with nothing new", "with nobody"} {
		if round == "with nobody" {
			b.config.Router = roster{}
		}
		begun := time.Now()
		must(t, b.Replan(t.Context()))
		t.Logf("%s: %s", round, time.Since(begun))
		left, _ := b.List(api.Query{State: bailiff.ApprovalPending, Limit: pending})
		if round == "with nobody" != (len(left) == 0) ||
			slices.ContainsFunc(left, func(e api.Entry) bool { return e.Plan.Route != "owners" }) {
			t.Errorf("%s: %d are left, or not all by the new route", round, len(left))
		}
	}
	if made, most := transactions.Load()-before, int64(2*pending/replanLength+60); made > most { // the outbox makes one a second
		t.Errorf("%d transactions, more than %d", made, most)
	}
}
