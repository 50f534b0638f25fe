package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/feed"
)

func TestAnAnswerEndsAnApproval(t *testing.T) {
	for _, c := range []struct {
		name    string
		quorum  int
		votes   []string // who and what
		state   bailiff.ApprovalState
		scope   string
		message string
	}{
		{"one yes is enough where one is needed", 1, []string{"ana once"}, "approved", "once", "approved by ana, once, until "},
		{"no scope means the narrowest", 1, []string{"ana yes"}, "approved", "once", "approved by ana, once, until "},
		{"a session is granted for its time", 1, []string{"ana session"}, "approved", "session", "approved by ana, for this session until "},
		{"always is granted until it is revoked", 1, []string{"ana always"}, "approved", "always", "approved by ana, for this user until it is revoked"},
		{"one no denies", 1, []string{"ana no"}, "denied", "", "denied by ana: no"},
		{"one yes of two waits", 2, []string{"ana once"}, "pending", "", "waiting for 2 of ana, ben, cleo (1 said yes) to answer on operator until "},
		{"two say yes", 2, []string{"ana once", "ben once"}, "approved", "once", "approved by ana, ben, once, until "},
		{"the narrowest scope voted for is granted", 2, []string{"ana always", "ben session"}, "approved", "session", "approved by ana, ben, for this session until "},
		{"one no denies whatever was said before", 3, []string{"ana always", "ben always", "cleo no"}, "denied", "", "denied by cleo: no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, quorum(c.quorum))
			id := f.ask(claim("rm -r build", "build"))
			for _, vote := range c.votes {
				person, verdict, _ := strings.Cut(vote, " ")
				v := Verdict{Approve: verdict != "no", Scope: verdict, Reason: verdict}
				if verdict == "yes" || verdict == "no" {
					v.Scope = ""
				}
				if _, err := f.Answer(t.Context(), id, by(person), v); err != nil {
					t.Fatal(err)
				}
			}
			for _, when := range []string{"at once", "after a restart"} {
				e, _ := f.Get(id)
				if e.State != c.state || e.Scope != c.scope || !strings.HasPrefix(e.Message, c.message) || len(e.Votes) != len(c.votes) {
					t.Errorf("%s: %s, scope %q, %d votes: %s", when, e.State, e.Scope, len(e.Votes), e.Message)
				}
				if granted := f.Covered(claim("rm -r build", "build")); granted != (c.state == "approved") {
					t.Errorf("%s: covered is %v", when, granted)
				}
				f.restart()
			}
		})
	}
}

func TestAnswersThatAreNotTaken(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(f *fixture, id string)
		id     string
		person string
		scope  string
		err    error
		says   string
	}{
		{"an id that nobody knows", nil, "a-nothing", "ana", "once", ErrUnknown, "there is no approval a-nothing"},
		{"an approval that was answered", func(f *fixture, id string) { f.approve(id, "ben", "once") }, "", "ana", "once", ErrSettled, "approved by ben"},
		{"an approval that was cancelled", func(f *fixture, _ string) {
			f.Freeze(f.t.Context(), Freeze{Kind: "all", By: "ben", Reason: "lunch"})
		}, "", "ana", "once", ErrSettled, "ben froze everything: lunch"},
		{"a scope that is not offered", nil, "", "ana", "forever", ErrScope, `offers scope once, session, always, not "forever"`},
		{"a person who may not", nil, "", "mallory", "once", ErrIneligible, "ana and ben and cleo could"},
		{"the same person twice", func(f *fixture, id string) { f.approve(id, "ana", "once") }, "", "ana", "once", ErrVoted, "ana has answered approval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t)
			if c.err == ErrVoted {
				f = open(t, quorum(2))
			}
			id := f.ask(claim("rm -r build", "build"))
			if c.before != nil {
				c.before(f, id)
			}
			if c.id != "" {
				id = c.id
			}
			was, _ := f.Get(id)
			_, err := f.Answer(t.Context(), id, by(c.person), Verdict{Approve: true, Scope: c.scope})
			if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if is, _ := f.Get(id); !reflect.DeepEqual(is, was) {
				t.Errorf("it changed from %+v to %+v", was, is)
			}
		})
	}
}

func TestOnePersonByTwoCredentialsIsOne(t *testing.T) {
	f := open(t, quorum(2))
	id := f.ask(claim("rm -r build", "build"))
	f.approve(id, "ana", "once")
	_, err := f.Answer(t.Context(), id, Approver{Person: "ana", Credential: "uid:7", Channel: "console"}, Verdict{Approve: true})
	if !errors.Is(err, ErrVoted) || f.state(id) != bailiff.ApprovalPending {
		t.Errorf("got %v, and it is %s", err, f.state(id))
	}
}

func TestOneCredentialOfTwoNamesIsOne(t *testing.T) {
	f := open(t, quorum(2))
	id := f.ask(claim("rm -r build", "build"))
	f.approve(id, "ana", "once")
	_, err := f.Answer(t.Context(), id, Approver{Person: "ben", Credential: "uid:ana", Channel: "operator"}, Verdict{Approve: true})
	if !errors.Is(err, ErrVoted) || f.state(id) != bailiff.ApprovalPending {
		t.Errorf("got %v, and it is %s", err, f.state(id))
	}
}

func TestVotesAreCountedByThePeopleAndRoutesOfTheMoment(t *testing.T) {
	without := func(name string) func(*roster) {
		return func(r *roster) {
			r.people = slices.DeleteFunc(slices.Clone(r.people), func(p string) bool { return p == name })
		}
	}
	for _, c := range []struct {
		name   string
		change func(*roster)
		says   string // what comes of ben's yes after ana's
		votes  int
		then   string // who says yes after both, if that is needed
	}{
		{"as they were", func(*roster) {}, "approved by ana, ben, once", 2, ""},
		{"without somebody who did not vote", without("cleo"), "approved by ana, ben, once", 2, ""},
		{"without the first", without("ana"), "waiting for 2 of ana, ben, cleo (1 said yes)", 1, "cleo"},
		{"with a larger quorum", func(r *roster) { r.quorum = 3 }, "waiting for 3 of ana, ben, cleo (2 said yes)", 2, "cleo"},
		{"with a smaller quorum", func(r *roster) { r.quorum = 1 }, "approved by ana, ben, once", 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, quorum(2))
			id := f.ask(claim("rm -r build", "build"))
			f.approve(id, "ana", "once")
			f.change(c.change)
			e := f.approve(id, "ben", "once")
			if !strings.HasPrefix(e.Message, c.says) || len(e.Votes) != c.votes {
				t.Errorf("%d votes: %s", len(e.Votes), e.Message)
			}
			if c.then != "" {
				f.approve(id, c.then, "once")
			}
			if f.state(id) != bailiff.ApprovalApproved || !f.redeem(claim("rm -r build", "build")) {
				t.Errorf("it is %s", f.state(id))
			}
			if dropped := slices.Contains(f.steps(id), "dropped"); dropped != (c.votes == 1) {
				t.Errorf("the log says %v", f.steps(id))
			}
		})
	}
	t.Run("leading to nobody: it takes a no, and no yes", func(t *testing.T) {
		f := open(t, quorum(2))
		id := f.ask(claim("rm -r build", "build"))
		f.Book.Router = dissolved{f.Book.Router}
		if _, err := f.Answer(t.Context(), id, by("ana"), Verdict{Approve: true}); !errors.Is(err, ErrIneligible) || err.Error() != "there are too few people" {
			t.Errorf("yes: %v", err)
		}
		if e, err := f.Answer(t.Context(), id, by("ana"), Verdict{}); err != nil || e.State != bailiff.ApprovalDenied {
			t.Errorf("no: %s, %v", e.State, err)
		}
	})
}

// dissolved is a router that lets people answer but finds too few of them.
type dissolved struct{ Router }

func (dissolved) Plan(bailiff.Claim) (Plan, error) {
	return Plan{}, &Unanswerable{"there are too few people"}
}

func TestScopesThatMayBeGranted(t *testing.T) {
	for _, c := range []struct {
		name    string
		claim   bailiff.Claim
		offered string
	}{
		{"what the decision offers, from the narrowest", with(claim("x", "m"), func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"always", "session", "once"} }), "once session always"},
		{"nothing that it does not offer", with(claim("x", "m"), func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"session"} }), "session"},
		{"only once if a reason names no part of the request", claim("x", "m", ""), "once"},
		{"only once if there is no reason", claim("x"), "once"},
		{"no session that has no id", with(claim("x", "m"), func(c *bailiff.Claim) { c.Request.Session.ID = "" }), "once always"},
		{"not always for nobody", with(claim("x", "m"), func(c *bailiff.Claim) { c.Request.Session.UserID = "" }), "once session"},
		{"only once if nothing that is offered is possible", with(claim("x", ""), func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"always"} }), "once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t)
			e, _ := f.Get(f.ask(c.claim))
			if got := strings.Join(e.Scopes, " "); got != c.offered {
				t.Errorf("offered %s, want %s", got, c.offered)
			}
		})
	}
}

func TestWhatAGrantCovers(t *testing.T) {
	same := func(*bailiff.Claim) {}
	text := func(c *bailiff.Claim) { c.Request.Args.Command = "rm -rf build" }
	match := func(c *bailiff.Claim) { *c = claim("rm -r build", "src") }
	more := func(c *bailiff.Claim) { *c = claim("rm -r build", "build", "src") }
	nothing := func(c *bailiff.Claim) { *c = claim("rm -r build") }
	session := func(c *bailiff.Claim) { c.Request.Session.ID = "s2" }
	user := func(c *bailiff.Claim) { c.Request.Session.UserID = "43" }
	platform := func(c *bailiff.Claim) { c.Request.Session.Platform = "discord" }
	caller := func(c *bailiff.Claim) { c.Request.Caller = "other" }
	backend := func(c *bailiff.Claim) { c.Decision.Backend.Name = "local" }
	image := func(c *bailiff.Claim) { c.Decision.Backend.Image = "sha256:2" }
	file := func(c *bailiff.Claim) { c.Files = []bailiff.File{{Path: "/x", SHA256: "1"}} }
	names := func(c *bailiff.Claim) { c.Request.ID, c.Request.Session.UserName = "other", "Al" }
	for _, c := range []struct {
		name   string
		other  func(*bailiff.Claim)
		covers string // the scopes that do
	}{
		{"the same claim", same, "once session always"},
		{"the same under another id and display name", names, "once session always"},
		{"another text for the same reasons", text, "session always"},
		{"another file for the same reasons", file, "session always"},
		{"another image of the same backend", image, "session always"},
		{"another session of the user", session, "always"},
		{"another match", match, ""},
		{"one more match", more, ""},
		{"no reason at all", nothing, ""},
		{"another user", user, ""},
		{"another platform", platform, ""},
		{"another caller", caller, ""},
		{"another backend", backend, ""},
	} {
		for _, scope := range []string{"once", "session", "always"} {
			t.Run(c.name+" by "+scope, func(t *testing.T) {
				f := open(t)
				f.approve(f.ask(claim("rm -r build", "build")), "ana", scope)
				f.restart()
				other := with(claim("rm -r build", "build"), c.other)
				want := strings.Contains(c.covers, scope)
				if f.Covered(other) != want || f.redeem(other) != want {
					t.Errorf("covered is not %v", want)
				}
				if again := f.redeem(other); again != (want && scope != "once") {
					t.Errorf("covered again is %v", again)
				}
			})
		}
	}
}

func TestAWiderGrantHoldsForNothingThatWasNotApproved(t *testing.T) {
	asked := func() bailiff.Claim {
		return with(claim("git push origin", "origin"), func(c *bailiff.Claim) {
			c.Decision.Env.Forward = []string{"CI", "BRANCH"}
		})
	}
	route := func(name string) func(*roster) { return func(r *roster) { r.route = name } }
	needs := func(n int) func(*roster) { return func(r *roster) { r.quorum = n } }
	for _, c := range []struct {
		name   string
		claim  func(*bailiff.Claim)
		router func(*roster)
		covers string // the scopes that do
	}{
		{"the same", nil, nil, "session always"},
		{"another plain text in the same folder", func(c *bailiff.Claim) { c.Request.Args.Command = "git push -q origin" }, nil, "session always"},
		{"fewer variables", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"CI"} }, nil, "session always"},
		{"the variables in another order", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"BRANCH", "CI"} }, nil, "session always"},
		{"one more variable", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"CI", "BRANCH", "GITHUB_TOKEN"} }, nil, ""},
		{"another variable", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"GITHUB_TOKEN"} }, nil, ""},
		{"code", func(c *bailiff.Claim) { c.Request.Tool = bailiff.ExecuteCode }, nil, ""},
		{"a process", func(c *bailiff.Claim) { c.Request.Tool = bailiff.Process }, nil, ""},
		{"another peer", func(c *bailiff.Claim) { c.Request.Peer = "uid:1002" }, nil, ""},
		{"another caller", func(c *bailiff.Claim) { c.Request.Caller = "other" }, nil, ""},
		{"another folder", func(c *bailiff.Claim) { c.Request.Args.Workdir = "/etc" }, nil, ""},
		{"a text that is not plain", func(c *bailiff.Claim) { c.Plain = false }, nil, ""},
		{"another rule", func(c *bailiff.Claim) { c.Decision.Approval.Reasons[0].Rule = "command.pushes" }, nil, ""},
		{"a match that begins where the rule ended", func(c *bailiff.Claim) {
			c.Decision.Approval.Reasons[0].Rule, c.Decision.Approval.Reasons[0].Match = "command.delete", "sorigin"
		}, nil, ""},
		{"a folder that begins in the match", func(c *bailiff.Claim) {
			c.Decision.Approval.Reasons[0].Match, c.Request.Args.Workdir = "origin/", "w"
		}, nil, ""},
		{"another backend", func(c *bailiff.Claim) { c.Decision.Backend.Name = "local" }, nil, ""},
		{"policies that offer once only", func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"once"} }, nil, ""},
		{"policies that offer no more than a session", func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"once", "session"} }, nil, "session"},
		{"policies that want as many people", func(c *bailiff.Claim) { c.Decision.Approval.Quorum = 2 }, nil, "session always"},
		{"policies that want more people", func(c *bailiff.Claim) { c.Decision.Approval.Quorum = 3 }, nil, ""},
		{"a route that wants as many people", nil, needs(2), "session always"},
		{"a route that wants more people", nil, needs(3), ""},
		{"another route", nil, route("everybody"), ""},
		{"a route to nobody", nil, func(r *roster) { r.people = nil }, ""},
	} {
		for _, scope := range []string{"session", "always"} {
			t.Run(c.name+" by "+scope, func(t *testing.T) {
				f := open(t, quorum(2))
				id := f.ask(asked())
				f.approve(id, "ana", scope)
				f.approve(id, "ben", scope)
				f.restart()
				other := asked()
				if c.claim != nil {
					c.claim(&other)
				}
				if c.router != nil {
					f.change(c.router)
				}
				want := strings.Contains(c.covers, scope)
				if f.Covered(other) != want || f.redeem(other) != want {
					t.Errorf("covered is not %v", want)
				}
				a, err := f.Ask(t.Context(), other)
				if granted := a.State == bailiff.ApprovalApproved; err != nil || granted != want {
					t.Errorf("asked: %+v, %v", a, err)
				}
			})
		}
	}
}

func TestAGrantOfScopeOnceIsForAsManyPeopleAndTheRouteThatGaveIt(t *testing.T) {
	for name, c := range map[string]struct {
		claim  func(*bailiff.Claim)
		router func(*roster)
	}{
		"policies that want more people":   {func(c *bailiff.Claim) { c.Decision.Approval.Quorum = 2 }, func(*roster) {}},
		"a route that wants more people":   {func(*bailiff.Claim) {}, func(r *roster) { r.quorum = 2 }},
		"another route":                    {func(*bailiff.Claim) {}, func(r *roster) { r.route = "everybody" }},
		"a route that leads to nobody now": {func(*bailiff.Claim) {}, func(r *roster) { r.people = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			f.approve(f.ask(claim("rm", "x")), "ana", "once")
			f.change(c.router)
			if other := with(claim("rm", "x"), c.claim); f.Covered(other) || f.redeem(other) {
				t.Error("it is covered")
			}
			f.Book.Router = f.config.Router
			if !f.redeem(claim("rm", "x")) {
				t.Error("the grant is gone")
			}
		})
	}
}

func TestAGrantSaysWhatItHoldsFor(t *testing.T) {
	f := open(t, quorum(2))
	c := with(claim("rm", "x"), func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"TOKEN", "CI"} })
	id := f.ask(c)
	f.approve(id, "ana", "session")
	f.approve(id, "ben", "session")
	for range 2 {
		text, err := json.Marshal(f.Grants()[0])
		for _, part := range []string{`"peer":"uid:1001"`, `"tool":"terminal"`, `"env":["CI","TOKEN"]`, `"route":"security"`, `"quorum":2`, `"context":"/w"`} {
			if err != nil || !strings.Contains(string(text), part) {
				t.Errorf("%s is not in %s, %v", part, text, err)
			}
		}
		f.restart()
	}
}

func TestGrantsCoverTogether(t *testing.T) {
	f := open(t)
	both := claim("rm -r build src", "build", "src")
	f.approve(f.ask(claim("rm -r build", "build")), "ana", "session")
	if f.Covered(both) {
		t.Error("half is taken for all")
	}
	f.approve(f.ask(claim("rm -r src", "src")), "ben", "always")
	if withToken := with(both, func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"GITHUB_TOKEN"} }); f.Covered(withToken) {
		t.Error("a variable is covered that nobody was asked about")
	}
	a, granted, err := f.Redeem(t.Context(), both)
	if err != nil || !granted || a.By != "ana, ben" || a.State != bailiff.ApprovalApproved {
		t.Errorf("granted %v: %+v, %v", granted, a, err)
	}
	for _, g := range f.Grants() {
		if g.Uses != 1 || g.LastUsed.IsZero() {
			t.Errorf("uses are not counted: %+v", g)
		}
	}
}

func TestAGrantOfScopeOnceIsUsedOnce(t *testing.T) {
	f := open(t)
	for round := range 5 {
		c := claim(fmt.Sprint("rm ", round), "x")
		f.approve(f.ask(c), "ana", "once")
		var granted atomic.Int32
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if _, ok, err := f.Redeem(t.Context(), c); err != nil {
					t.Error(err)
				} else if ok {
					granted.Add(1)
				}
			})
		}
		all.Wait()
		if granted.Load() != 1 {
			t.Errorf("granted %d times", granted.Load())
		}
		if f.restart(); f.redeem(c) {
			t.Error("granted again after a restart")
		}
	}
}

func TestTheSameRequestIsAskedOnce(t *testing.T) {
	f := open(t)
	var ids sync.Map
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			c := claim("rm -r build", "build")
			c.Request.ID = fmt.Sprint(n)
			ids.Store(f.ask(c), true)
		})
	}
	all.Wait()
	entries, _ := f.List(Query{})
	if len(entries) != 1 {
		t.Fatalf("%d approvals", len(entries))
	}
	for _, other := range []func(*bailiff.Claim){
		func(c *bailiff.Claim) { c.Request.Caller = "other" },
		func(c *bailiff.Claim) { c.Request.Peer = "uid:1002" },
		func(c *bailiff.Claim) { c.Request.Session.ID = "s2" },
		func(c *bailiff.Claim) { c.Request.Args.Command += " " },
	} {
		if id := f.ask(with(claim("rm -r build", "build"), other)); id == entries[0].ID {
			t.Error("another request joined")
		}
	}
	f.approve(entries[0].ID, "ana", "once")
	if a, err := f.Ask(t.Context(), claim("rm -r build", "build")); err != nil || a.State != bailiff.ApprovalApproved || a.ID != entries[0].ID {
		t.Errorf("asked again after the yes: %+v, %v", a, err)
	}
}

func TestWhatNobodyCanAnswerEndsAtOnce(t *testing.T) {
	f := open(t, func(c *Config) { c.Router = roster{} })
	a, err := f.Ask(t.Context(), claim("rm", "x"))
	if err != nil || a.State != bailiff.ApprovalExpired || a.Message != "nobody is configured to answer" {
		t.Errorf("%+v, %v", a, err)
	}
	if got := f.Await(t.Context(), a.ID); !reflect.DeepEqual(got, a) {
		t.Errorf("awaited %+v", got)
	}
}

func TestTimeRunsOut(t *testing.T) {
	t.Run("for a pending approval", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id, begun := f.ask(claim("rm", "x")), time.Now()
			a := f.Await(t.Context(), id)
			if waited := time.Since(begun); a.State != bailiff.ApprovalExpired || a.Message != "nobody answered within 1m0s" || waited < time.Minute || waited > time.Minute+time.Second {
				t.Errorf("after %s: %+v", waited, a)
			}
			if _, err := f.Answer(t.Context(), id, by("ana"), Verdict{Approve: true}); !errors.Is(err, ErrSettled) {
				t.Errorf("answered: %v", err)
			}
			f.Close()
		})
	})
	t.Run("for one whose time passed while the book was closed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			f.Close()
			time.Sleep(2 * time.Minute)
			f.start()
			if state := f.state(id); state != bailiff.ApprovalExpired {
				t.Errorf("it is %s", state)
			}
			f.Close()
		})
	})
	t.Run("for one that is asked again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			time.Sleep(time.Minute)
			if again := f.ask(claim("rm", "x")); again == id || f.state(id) != bailiff.ApprovalExpired {
				t.Errorf("joined one that is %s", f.state(id))
			}
			f.Close()
		})
	})
	for scope, lives := range map[string]bool{"once": false, "session": false, "always": true} {
		t.Run("for a grant of scope "+scope, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t)
				f.approve(f.ask(claim("rm", "x")), "ana", scope)
				time.Sleep(599 * time.Second)
				if !f.Covered(claim("rm", "x")) {
					t.Error("it ended early")
				}
				time.Sleep(time.Second)
				if f.redeem(claim("rm", "x")) != lives || len(f.Grants()) > 0 != lives {
					t.Errorf("it lives: %v", !lives)
				}
				f.Close()
			})
		})
	}
}

func TestAwaitTellsAtOnce(t *testing.T) {
	f := open(t)
	var late []time.Duration
	for n := range 20 {
		id := f.ask(claim(fmt.Sprint("rm ", n), "x"))
		woken := make(chan time.Time)
		go func() {
			if a := f.Await(t.Context(), id); a.State != bailiff.ApprovalApproved || a.By != "ana" || a.Via != "uid:ana on operator" {
				t.Errorf("awaited %+v", a)
			}
			woken <- time.Now()
		}()
		f.approve(id, "ana", "once")
		answered := time.Now()
		late = append(late, (<-woken).Sub(answered))
		f.redeem(claim(fmt.Sprint("rm ", n), "x"))
	}
	slices.Sort(late) // the slowest are the machine's doing
	if late[len(late)/2] > 10*time.Millisecond {
		t.Errorf("told after %s", late)
	}
}

func TestAwaitEndsWithItsCaller(t *testing.T) {
	f := open(t)
	id := f.ask(claim("rm", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := f.Await(ctx, id); a.State != bailiff.ApprovalPending || !strings.HasPrefix(a.Message, "waiting for ana or ben or cleo to answer on operator until ") {
		t.Errorf("%+v", a)
	}
	if a := f.Await(t.Context(), "a-nothing"); a.State != bailiff.ApprovalExpired {
		t.Errorf("unknown: %+v", a)
	}
}

func TestTooManyPending(t *testing.T) {
	for _, c := range []struct {
		name  string
		caps  Caps
		other func(*bailiff.Claim)
		says  string
	}{
		{"of a caller", Caps{Caller: 2}, func(c *bailiff.Claim) { c.Request.Caller = "other" }, `caller "hermes" has 2 approvals pending`},
		{"of a session", Caps{Session: 2}, func(c *bailiff.Claim) { c.Request.Session.ID = "s2" }, `session "s1" has 2 approvals pending`},
		{"of a user", Caps{User: 2}, func(c *bailiff.Claim) { c.Request.Session.UserID = "43" }, `user "42" has 2 approvals pending`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, func(config *Config) { config.Caps = c.caps })
			first := f.ask(claim("rm 1", "x"))
			f.ask(claim("rm 2", "x"))
			f.restart()
			_, err := f.Ask(t.Context(), claim("rm 3", "x"))
			if err == nil || !strings.HasPrefix(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			f.ask(claim("rm 1", "x")) // joins
			f.ask(with(claim("rm 3", "x"), c.other))
			f.approve(first, "ana", "once")
			f.ask(claim("rm 3", "x"))
		})
	}
}

func TestAQuestionThatIsRefusedIsCountedAndLoggedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		observed, log := &counts{pending: map[string]int{}, resolved: map[string]int{}}, &strings.Builder{}
		f := open(t, func(c *Config) {
			c.Caps, c.Observer, c.Log = Caps{User: 1}, observed, slog.New(slog.NewTextHandler(log, nil))
		})
		f.ask(claim("rm", "x"))
		for range 2 {
			for n := range 3 {
				if _, err := f.Ask(t.Context(), claim(fmt.Sprint("rm ", n), "x")); err == nil {
					t.Error("it was kept")
				}
			}
			time.Sleep(time.Second)
		}
		if observed.refused != 6 || observed.pending["telegram"] != 1 {
			t.Errorf("%d refused, %d pending", observed.refused, observed.pending["telegram"])
		}
		if lines := strings.Count(log.String(), "a question to people was refused"); lines != 2 {
			t.Errorf("the log says it %d times:\n%s", lines, log)
		}
		f.Close()
	})
}

func TestVoid(t *testing.T) {
	drift := "the file changed"
	t.Run("takes the grant of an approval back", func(t *testing.T) {
		for _, scope := range []string{"once", "session"} {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			f.approve(id, "ana", scope)
			if err := f.Void(t.Context(), id, drift); err != nil {
				t.Fatal(err)
			}
			f.restart()
			if e, _ := f.Get(id); e.State != bailiff.ApprovalVoid || e.Message != drift || f.redeem(claim("rm", "x")) {
				t.Errorf("%s: %s", e.State, e.Message)
			}
		}
	})
	t.Run("comes too late for a grant that was used", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		f.approve(id, "ana", "once")
		f.redeem(claim("rm", "x"))
		if err := f.Void(t.Context(), id, drift); !errors.Is(err, ErrSettled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("knows a grant whose approval is forgotten", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		f.approve(id, "ana", "once")
		f.floodUnanswerable(keepResolved)
		if _, found := f.Get(id); found {
			t.Fatal("it is still known")
		}
		if err := f.Void(t.Context(), id, drift); err != nil || f.redeem(claim("rm", "x")) {
			t.Errorf("the grant lives, %v", err)
		}
	})
	t.Run("of what nobody has approved", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		if err := f.Void(t.Context(), id, drift); err == nil || f.state(id) != bailiff.ApprovalPending {
			t.Errorf("it is %s, %v", f.state(id), err)
		}
	})
	t.Run("of what nobody knows", func(t *testing.T) {
		if err := open(t).Void(t.Context(), "a-nothing", drift); !errors.Is(err, ErrUnknown) {
			t.Errorf("got %v", err)
		}
	})
}

// floodUnanswerable asks for as much as nobody can answer.
func (f *fixture) floodUnanswerable(n int) {
	f.Book.Router = roster{}
	var all sync.WaitGroup
	for n := range n {
		all.Go(func() {
			if _, err := f.Ask(f.t.Context(), claim(fmt.Sprint("flood ", n), "y")); err != nil {
				f.t.Error(err)
			}
		})
	}
	all.Wait()
	f.Book.Router = f.config.Router
}

func TestResolvedApprovalsAreKeptForAWhile(t *testing.T) {
	t.Run("the last thousand", func(t *testing.T) {
		f := open(t)
		id := f.ask(claim("rm", "x"))
		f.floodUnanswerable(keepResolved + 50)
		for range 2 {
			entries, _ := f.List(Query{Limit: 5000})
			if len(entries) != keepResolved+1 || f.state(id) != bailiff.ApprovalPending {
				t.Errorf("%d are kept, and the pending one is %s", len(entries), f.state(id))
			}
			f.restart()
		}
	})
	t.Run("seven days", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			f := open(t)
			id := f.ask(claim("rm", "x"))
			f.approve(id, "ana", "always")
			time.Sleep(keepFor - time.Second)
			if _, found := f.Get(id); !found {
				t.Error("it is gone too early")
			}
			time.Sleep(2 * sweepAtMost)
			if _, found := f.Get(id); found || !f.Covered(claim("rm", "x")) {
				t.Errorf("it is kept: %v; its grant lives: %v", found, f.Covered(claim("rm", "x")))
			}
			f.Close()
		})
	})
}

func TestARevokedGrantCoversNothing(t *testing.T) {
	f := open(t)
	f.approve(f.ask(claim("rm", "x")), "ana", "always")
	g := f.Grants()[0]
	if g.By != "ana" || g.User != "42" || g.Session != "" || g.Backend != "docker" || !slices.Equal(g.Pairs, []bailiff.Pair{{Rule: "command.deletes", Match: "x", Context: "/w"}}) || !g.Expires.IsZero() {
		t.Errorf("granted %+v", g)
	}
	if got, err := f.Revoke(t.Context(), g.ID, by("ben")); err != nil || got.ID != g.ID {
		t.Errorf("revoked %+v, %v", got, err)
	}
	f.restart()
	if f.redeem(claim("rm", "x")) || len(f.Grants()) != 0 {
		t.Error("it lives")
	}
	if _, err := f.Revoke(t.Context(), g.ID, by("ben")); !errors.Is(err, ErrUnknown) {
		t.Errorf("revoked again: %v", err)
	}
}

func TestAFreezeStopsWhatItNames(t *testing.T) {
	for _, c := range []struct {
		name   string
		freeze Freeze
		stops  bool
	}{
		{"everything", Freeze{Kind: "all"}, true},
		{"the session", Freeze{Kind: "session", ID: "s1"}, true},
		{"another session", Freeze{Kind: "session", ID: "s2"}, false},
		{"the user on every platform", Freeze{Kind: "user", ID: "42"}, true},
		{"the user on this platform", Freeze{Kind: "user", ID: "telegram:42"}, true},
		{"the user of another platform", Freeze{Kind: "user", ID: "discord:42"}, false},
		{"another user", Freeze{Kind: "user", ID: "4"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t)
			f.approve(f.ask(claim("rm granted", "x")), "ana", "session")
			f.approve(f.ask(claim("rm once", "y")), "ana", "once")
			id := f.ask(claim("rm asked", "z"))
			c.freeze.By, c.freeze.Reason = "ben", "too fast"
			if _, err := f.Freeze(t.Context(), c.freeze); err != nil {
				t.Fatal(err)
			}
			check := func() {
				t.Helper()
				_, frozen := f.Frozen(claim("x").Request.Session)
				if frozen != c.stops || (f.state(id) == bailiff.ApprovalCancelled) != c.stops || (len(f.Grants()) == 0) != c.stops ||
					f.Covered(claim("rm granted", "x")) == c.stops || f.Covered(claim("rm once", "y")) == c.stops {
					t.Errorf("frozen %v, the pending one %s, %d grants", frozen, f.state(id), len(f.Grants()))
				}
			}
			check()
			f.restart()
			check()
			if a, err := f.Ask(t.Context(), claim("rm new", "w")); err != nil || (a.State == bailiff.ApprovalCancelled) != c.stops {
				t.Errorf("asked: %+v, %v", a, err)
			}
			found, err := f.Thaw(t.Context(), c.freeze.Kind, c.freeze.ID, by("ana"))
			if again, _ := f.Thaw(t.Context(), c.freeze.Kind, c.freeze.ID, by("ana")); !found || again || err != nil {
				t.Errorf("thawed %v, again %v, %v", found, again, err)
			}
			f.restart()
			if _, frozen := f.Frozen(claim("x").Request.Session); frozen || len(f.Freezes()) != 0 {
				t.Error("it is frozen still")
			}
			if c.stops && (f.Covered(claim("rm granted", "x")) || f.Covered(claim("rm once", "y"))) {
				t.Error("thawing brought a grant back")
			}
		})
	}
}

func TestAFreezeIsToldToWhomItStopsWithoutIDs(t *testing.T) {
	for _, c := range []struct {
		freeze     Freeze
		what, told string
	}{
		{Freeze{Kind: "all", By: "ben"}, "everything", "ben froze everything. Nothing runs until it is thawed."},
		{Freeze{Kind: "session", ID: "s1", By: "ben", Reason: "It is odd."}, "session s1", "ben froze this session: It is odd. Nothing runs until it is thawed."},
		{Freeze{Kind: "user", ID: "telegram:42", By: "ben"}, "user telegram:42", "ben froze this user. Nothing runs until it is thawed."},
	} {
		if what, told := c.freeze.What(), c.freeze.Told(); what != c.what || told != c.told {
			t.Errorf("%q and %q, want %q and %q", what, told, c.what, c.told)
		}
	}
}

func TestFreezesThatMakeNoSense(t *testing.T) {
	f := open(t)
	for says, freeze := range map[string]Freeze{
		"not \"\"":           {},
		"needs its id":       {Kind: "session"},
		"has no id":          {Kind: "all", ID: "s1"},
		"not \"everything\"": {Kind: "everything"},
	} {
		if _, err := f.Freeze(t.Context(), freeze); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v", freeze, err)
		}
	}
}

func TestAFrozenSessionUsesNoGrantOfItsUser(t *testing.T) {
	f := open(t)
	c := claim("rm", "x")
	f.approve(f.ask(c), "ana", "always")
	f.Freeze(t.Context(), Freeze{Kind: "session", ID: "s1", By: "ben"})
	if f.Covered(c) || f.redeem(c) {
		t.Error("it does")
	}
	if !f.redeem(with(c, func(c *bailiff.Claim) { c.Request.Session.ID = "s2" })) {
		t.Error("neither does another session")
	}
	f.Thaw(t.Context(), "session", "s1", by("ben"))
	if !f.redeem(c) {
		t.Error("it does not when it is thawed")
	}
}

func TestStepsThatShareATransactionComeInTheirOrder(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{}, 100)
	f := open(t, func(c *Config) {
		c.reached = func(point string) {
			if point == "staged" {
				held <- struct{}{}
				<-hold
			}
		}
	})
	freeze := func() { f.Freeze(t.Context(), Freeze{Kind: "session", ID: "s1", By: "ben"}) }
	thaw := func() { f.Thaw(t.Context(), "session", "s1", by("ben")) }
	var all sync.WaitGroup
	all.Go(freeze)
	<-held // the writer stands still, so what follows is one batch
	for n, do := range []func(){thaw, freeze, thaw, freeze} {
		all.Go(do)
		within(t, time.Second, "queueing", func() bool { return len(f.queue) == n+1 })
	}
	close(hold)
	all.Wait()
	if n := len(held); n > 2 {
		t.Errorf("%d transactions", n)
	}
	for _, when := range []string{"at once", "after a restart"} {
		if _, frozen := f.Frozen(bailiff.Session{ID: "s1"}); !frozen {
			t.Errorf("%s: it is not frozen", when)
		}
		f.restart()
	}
}

func TestPagesOfAList(t *testing.T) {
	f := open(t, func(c *Config) { c.Caps = Caps{Session: 100, User: 100} })
	var ids []string
	for n := range 25 {
		c := claim(fmt.Sprint("rm ", n), "x")
		c.Request.Session.ID = fmt.Sprint("s", n%2)
		ids = append(ids, f.ask(c))
	}
	f.approve(ids[3], "ana", "once")
	f.restart()
	page := func(q Query) (got []string, pages int) {
		for {
			entries, next := f.List(q)
			for _, e := range entries {
				got = append(got, e.ID)
			}
			if pages++; next == "" {
				return got, pages
			}
			q.After = next
		}
	}
	for _, c := range []struct {
		name         string
		query        Query
		count, pages int
	}{
		{"all in one", Query{}, 25, 1},
		{"all in pages of ten", Query{Limit: 10}, 25, 3},
		{"pages that come out even", Query{Limit: 5}, 25, 5},
		{"pending ones", Query{State: "pending", Limit: 10}, 24, 3},
		{"approved ones", Query{State: "approved"}, 1, 1},
		{"of a session", Query{Session: "s1"}, 12, 1},
		{"of a user", Query{User: "telegram:42"}, 25, 1},
		{"of another user", Query{User: "4"}, 0, 1},
	} {
		got, pages := page(c.query)
		if len(got) != c.count || pages != c.pages || !slices.IsSortedFunc(got, func(x, y string) int { return slices.Index(ids, x) - slices.Index(ids, y) }) {
			t.Errorf("%s: %d in %d pages: %v", c.name, len(got), pages, got)
		}
	}
}

func TestBigTextsStayOnDisk(t *testing.T) {
	f := open(t)
	c := claim(strings.Repeat("é", 1<<19), strings.Repeat("x", 1<<20))
	c.Request.Session.ID = "big"
	c.Input = json.RawMessage(`{"big":"` + strings.Repeat("y", 1<<20) + `"}`)
	c.Files = []bailiff.File{{Path: "/f", SHA256: "1"}}
	id := f.ask(c)
	f.approve(f.ask(claim("small", strings.Repeat("x", 1<<20))), "ana", "session")
	for range 2 {
		whole, _ := f.Get(id)
		if whole.Shortened || whole.Request.Args != c.Request.Args || !slices.Equal(whole.Files, c.Files) || whole.Reasons[0] != c.Decision.Approval.Reasons[0] || len(whole.Input) < 1<<20 {
			t.Error("it is not whole")
		}
		entries, _ := f.List(Query{Session: "big"})
		text, err := json.Marshal(entries)
		if err != nil || len(text) > 8000 || !entries[0].Shortened || entries[0].Input != nil {
			t.Errorf("a list has %d bytes, %v", len(text), err)
		}
		if !f.Covered(claim("other", strings.Repeat("x", 1<<20))) || f.Covered(claim("other", strings.Repeat("x", 1<<20-1))) {
			t.Error("a grant goes by a part of its match")
		}
		f.restart()
	}
}

func TestKnownSecretsAreShownNowhere(t *testing.T) {
	const secret = "hunter2-\"x\""
	hide := func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), secret, "[hidden]")) }
	f := open(t, func(c *Config) { c.Scrub = hide })
	c := claim("curl -H "+secret, "a "+secret)
	c.Request.Args.Stdin, c.Request.Session.UserName = secret, secret
	c.Files = []bailiff.File{{Path: "/" + secret, SHA256: "1"}}
	input, err := json.Marshal(map[string]any{"command": map[string]any{secret: []string{secret}}})
	if err != nil {
		t.Fatal(err)
	}
	c.Input = json.RawMessage(input)
	changes, stop := f.Watch()
	defer stop()
	id := f.ask(c)
	e, err := f.Answer(t.Context(), id, by("ana"), Verdict{Approve: true, Scope: "session", Reason: "since " + secret})
	if err != nil {
		t.Fatal(err)
	}
	f.Freeze(t.Context(), Freeze{Kind: "session", ID: "other", Reason: secret, By: "ana"})
	shown := []any{e, f.Grants(), f.Freezes(), <-changes, <-changes}
	entries, _ := f.List(Query{})
	whole, _ := f.Get(id)
	within(t, time.Second, "all events", func() bool { return len(f.journal.steps()) == 4 })
	for _, what := range append(shown, entries, whole, f.journal.events) {
		text, err := json.Marshal(what)
		if err != nil || strings.Contains(string(text), "hunter2") {
			t.Errorf("shown: %s, %v", text, err)
		}
	}
	if whole.Request.Args.Command != "curl -H [hidden]" || whole.Digest != c.Digest() {
		t.Errorf("%s, digest %s", whole.Request.Args.Command, whole.Digest)
	}
	if f.restart(); !f.redeem(c) {
		t.Error("what was approved is not covered")
	}
	if f.redeem(with(c, func(c *bailiff.Claim) { *c = claim("curl", "a [hidden]") })) {
		t.Error("what looks like it is covered too")
	}
}

func TestWatching(t *testing.T) {
	f := open(t)
	changes, stop := f.Watch()
	id := f.ask(claim("rm", "x"))
	f.approve(id, "ana", "once")
	f.redeem(claim("rm", "x"))
	f.Freeze(t.Context(), Freeze{Kind: "all", By: "ben"})
	f.Thaw(t.Context(), "all", "", by("ben"))
	var got []string
	for range 6 {
		c := <-changes
		switch {
		case c.Entry != nil:
			got = append(got, string(c.Entry.State))
		case c.Grant != nil:
			got = append(got, fmt.Sprint("grant gone ", c.Gone))
		case c.Freeze != nil:
			got = append(got, fmt.Sprint("freeze gone ", c.Gone))
		}
	}
	want := []string{"pending", "approved", "grant gone false", "grant gone true", "freeze gone false", "freeze gone true"}
	if !slices.Equal(got, want) {
		t.Errorf("changes are %v", got)
	}
	stop()
	stop()
	if _, more := <-changes; more {
		t.Error("it goes on after stop")
	}
}

func TestASlowWatcherIsToldThatItLostChanges(t *testing.T) {
	f := open(t)
	changes, stop := f.Watch()
	defer stop()
	for range 3 * feed.Buffer / 2 {
		f.Freeze(t.Context(), Freeze{Kind: "all", By: "ben"})
	}
	for n := range feed.Buffer {
		if c := <-changes; c.Lost != (n == feed.Buffer-1) {
			t.Fatalf("change %d: %+v", n, c)
		}
	}
	f.Thaw(t.Context(), "all", "", by("ben"))
	if c := <-changes; c.Lost || !c.Gone {
		t.Errorf("afterwards %+v", c)
	}
}

// counts is an observer.
type counts struct {
	mu                sync.Mutex
	pending, resolved map[string]int
	grants, refused   int
}

func (c *counts) ApprovalOpened(platform string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[platform]++
}

func (c *counts) ApprovalResolved(platform, resolution, scope string, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[platform]--
	c.resolved[strings.TrimSpace(resolution+" "+scope)]++
}

func (c *counts) ApprovalRefused(string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused++
}

func (c *counts) GrantsActive(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grants = n
}

func TestWhatIsCounted(t *testing.T) {
	c := &counts{pending: map[string]int{}, resolved: map[string]int{}}
	f := open(t, func(config *Config) { config.Observer = c })
	f.approve(f.ask(claim("rm 1", "x")), "ana", "session")
	f.Answer(t.Context(), f.ask(claim("rm 2", "y")), by("ana"), Verdict{})
	f.floodUnanswerable(2)
	f.ask(with(claim("rm 3", "z"), func(c *bailiff.Claim) { c.Request.Session.ID = "s2" }))
	f.ask(claim("rm 4", "z"))
	f.Freeze(t.Context(), Freeze{Kind: "session", ID: "s2", By: "ben"})
	if c.pending["telegram"] != 1 || c.grants != 1 || fmt.Sprint(c.resolved) != "map[approved session:1 cancelled:1 denied:1 unanswerable:2]" {
		t.Errorf("%+v", c)
	}
	*c = counts{pending: map[string]int{}}
	if f.restart(); c.pending["telegram"] != 1 || c.grants != 1 {
		t.Errorf("after a restart %+v", c)
	}
}

func TestAnIncompleteConfigIsRefused(t *testing.T) {
	if _, err := Open(Config{}); err == nil || err.Error() != "approval config lacks Path, Recorder, Router" {
		t.Errorf("got %v", err)
	}
}
