package approval

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestScopesThatMayBeGranted(t *testing.T) {
	for _, c := range []struct {
		name    string
		claim   bailiff.Claim
		offered string
	}{
		{"what the decision offers, from the narrowest",
			with(claim("x", "m"), func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"always", "session", "once"} }),
			"once session always"},
		{"nothing that it does not offer", with(claim("x", "m"),
			func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"session"} }), "session"},
		{"only once if a reason names no part of the request", claim("x", "m", ""), "once"},
		{"only once if there is no reason", claim("x"), "once"},
		{"no session that has no id", with(claim("x", "m"), func(c *bailiff.Claim) { c.Request.Session.ID = "" }), "once always"},
		{"not always for nobody", with(claim("x", "m"), func(c *bailiff.Claim) { c.Request.Session.UserID = "" }), "once session"},
		{"not always for an agent that another started", with(claim("x", "m"), sub), "once session"},
		{"only once for an agent where always alone is offered", with(claim("x", "m"), func(c *bailiff.Claim) {
			c.Decision.Approval.Scopes = []string{"always"}
			sub(c)
		}), "once"},
		{"only once if nothing that is offered is possible",
			with(claim("x", ""), func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"always"} }), "once"},
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
	cases := []struct {
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
	}
	f := open(t)
	scopes := []string{"once", "session", "always"}
	for n := range cases {
		for _, scope := range scopes {
			f.approve(f.ask(ofCase(claim("rm -r build", "build"), n, scope)), "ana", scope)
		}
	}
	f.restart()
	for n, c := range cases {
		for _, scope := range scopes {
			t.Run(c.name+" by "+scope, func(t *testing.T) {
				other := ofCase(with(claim("rm -r build", "build"), c.other), n, scope)
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

// ofCase is the claim of a user, in a session, that no other case of a table has, so that one book is enough for all.
func ofCase(c bailiff.Claim, n int, scope string) bailiff.Claim {
	c.Request.Session.UserID += fmt.Sprint(" ", n, scope)
	c.Request.Session.ID += fmt.Sprint(" ", n, scope)
	return c
}

func TestAWiderGrantHoldsForNothingThatWasNotApproved(t *testing.T) {
	asked := func() bailiff.Claim {
		return with(claim("git push origin", "origin"), func(c *bailiff.Claim) {
			c.Decision.Env.Forward = []string{"CI", "BRANCH"}
			c.Decision.Env.Swap = []bailiff.Swap{{Name: "CI", Hosts: []string{"a.test", "b.test"}, In: []string{"bearer"}}}
		})
	}
	hosts := func(hosts ...string) func(*bailiff.Claim) {
		return func(c *bailiff.Claim) {
			c.Decision.Env.Swap = []bailiff.Swap{{Name: "CI", Hosts: hosts, In: []string{"bearer"}}}
		}
	}
	route := func(name string) func(*roster) { return func(r *roster) { r.route = name } }
	needs := func(n int) func(*roster) { return func(r *roster) { r.quorum = n } }
	cases := []struct {
		name   string
		claim  func(*bailiff.Claim)
		router func(*roster)
		covers string // the scopes that do
	}{
		{"the same", nil, nil, "session always"},
		{"another plain text in the same folder", func(c *bailiff.Claim) { c.Request.Args.Command = "git push -q origin" }, nil,
			"session always"},
		{"fewer variables", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"CI"} }, nil, "session always"},
		{"the variables in another order", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"BRANCH", "CI"} }, nil,
			"session always"},
		{"one more variable", func(c *bailiff.Claim) { c.Decision.Env.Forward = []string{"CI", "BRANCH", "GITHUB_TOKEN"} }, nil, ""},
		{"a value in place of its stand-in", func(c *bailiff.Claim) { c.Decision.Env.Swap = nil }, nil, ""},
		{"a value that goes to another host", hosts("a.test", "evil.test"), nil, ""},
		{"a value that goes in another place", func(c *bailiff.Claim) {
			c.Decision.Env.Swap = []bailiff.Swap{{Name: "CI", Hosts: []string{"a.test"}, In: []string{"bearer", "path"}}}
		}, nil, ""},
		{"a value that goes to fewer hosts", hosts("b.test"), nil, "session always"},
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
		{"policies that offer no more than a session", func(c *bailiff.Claim) { c.Decision.Approval.Scopes = []string{"once", "session"} },
			nil, "session"},
		{"policies that want as many people", func(c *bailiff.Claim) { c.Decision.Approval.Quorum = 2 }, nil, "session always"},
		{"policies that want more people", func(c *bailiff.Claim) { c.Decision.Approval.Quorum = 3 }, nil, ""},
		{"a route that wants as many people", nil, needs(2), "session always"},
		{"a route that wants more people", nil, needs(3), ""},
		{"another route", nil, route("everybody"), ""},
		{"a route to nobody", nil, func(r *roster) { r.people = nil }, ""},
	}
	f := open(t, quorum(2))
	scopes := []string{"session", "always"}
	for n := range cases {
		for _, scope := range scopes {
			id := f.ask(ofCase(asked(), n, scope))
			f.approve(id, "ana", scope)
			f.approve(id, "ben", scope)
		}
	}
	f.restart()
	for n, c := range cases {
		for _, scope := range scopes {
			t.Run(c.name+" by "+scope, func(t *testing.T) {
				other := ofCase(asked(), n, scope)
				if c.claim != nil {
					c.claim(&other)
				}
				if c.router != nil {
					f.change(c.router)
					defer f.change(func(*roster) {})
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
		"a route that wants proof now":     {func(*bailiff.Claim) {}, func(r *roster) { r.proof = bailiff.ProofWebAuthn }},
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
			f.Book.config.Router = f.config.Router
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
		for _, part := range []string{`"peer":"uid:1001"`, `"tool":"terminal"`, `"env":["CI","TOKEN"]`, `"route":"security"`, `"quorum":2`,
			`"context":"/w"`} {
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

func TestARevokedGrantCoversNothing(t *testing.T) {
	f := open(t)
	f.approve(f.ask(claim("rm", "x")), "ana", "always")
	g := f.Grants()[0]
	if g.By != "ana" || g.User != "42" || g.Session != "" || g.Backend != "docker" ||
		!slices.Equal(g.Pairs, []bailiff.Pair{{Rule: "command.deletes", Match: "x", Context: "/w"}}) || !g.Expires.IsZero() {
		t.Errorf("granted %+v", g)
	}
	if got, err := f.Revoke(t.Context(), g.ID, by("ben")); err != nil || got.ID != g.ID {
		t.Errorf("revoked %+v, %v", got, err)
	}
	f.restart()
	if f.redeem(claim("rm", "x")) || len(f.Grants()) != 0 {
		t.Error("it lives")
	}
	if _, err := f.Revoke(t.Context(), g.ID, by("ben")); !errors.Is(err, api.ErrUnknown) {
		t.Errorf("revoked again: %v", err)
	}
}
