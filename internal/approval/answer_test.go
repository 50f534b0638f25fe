package approval

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
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
		{"a session is granted for its time", 1, []string{"ana session"}, "approved", "session",
			"approved by ana, for this session until "},
		{"always is granted until it is revoked", 1, []string{"ana always"}, "approved", "always",
			"approved by ana, for this user until it is revoked"},
		{"one no denies", 1, []string{"ana no"}, "denied", "", "denied by ana: no"},
		{"one yes of two waits", 2, []string{"ana once"}, "pending", "",
			"waiting for 2 of ana, ben, cleo (1 said yes) to answer on operator until "},
		{"two say yes", 2, []string{"ana once", "ben once"}, "approved", "once", "approved by ana, ben, once, until "},
		{"the narrowest scope voted for is granted", 2, []string{"ana always", "ben session"}, "approved", "session",
			"approved by ana, ben, for this session until "},
		{"one no denies whatever was said before", 3, []string{"ana always", "ben always", "cleo no"}, "denied", "", "denied by cleo: no"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t, quorum(c.quorum))
			id := f.ask(claim("rm -r build", "build"))
			for _, vote := range c.votes {
				person, verdict, _ := strings.Cut(vote, " ")
				v := bailiff.Verdict{Approve: verdict != "no", Scope: verdict, Reason: verdict}
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
		{"an id that nobody knows", nil, "a-nothing", "ana", "once", api.ErrUnknown, "there is no approval a-nothing"},
		{"an approval that was answered", func(f *fixture, id string) { f.approve(id, "ben", "once") }, "", "ana", "once", api.ErrSettled,
			"approved by ben"},
		{"an approval that was cancelled", func(f *fixture, _ string) {
			f.Freeze(f.t.Context(), api.Freeze{Kind: "all", By: "ben", Reason: "lunch"})
		}, "", "ana", "once", api.ErrSettled, "ben froze everything: lunch"},
		{"a scope that is not offered", nil, "", "ana", "forever", api.ErrScope, `offers scope once, session, always, not "forever"`},
		{"a person who may not", nil, "", "mallory", "once", api.ErrIneligible, "ana and ben and cleo could"},
		{"the same person twice", func(f *fixture, id string) { f.approve(id, "ana", "once") }, "", "ana", "once", api.ErrVoted,
			"ana has answered approval"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := open(t)
			if c.err == api.ErrVoted {
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
			_, err := f.Answer(t.Context(), id, by(c.person), bailiff.Verdict{Approve: true, Scope: c.scope})
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
	_, err := f.Answer(t.Context(), id, bailiff.Approver{Person: "ana", Credential: "uid:7", Channel: "console"},
		bailiff.Verdict{Approve: true})
	if !errors.Is(err, api.ErrVoted) || f.state(id) != bailiff.ApprovalPending {
		t.Errorf("got %v, and it is %s", err, f.state(id))
	}
}

func TestOneCredentialOfTwoNamesIsOne(t *testing.T) {
	f := open(t, quorum(2))
	id := f.ask(claim("rm -r build", "build"))
	f.approve(id, "ana", "once")
	_, err := f.Answer(t.Context(), id, bailiff.Approver{Person: "ben", Credential: "uid:ana", Channel: "operator"},
		bailiff.Verdict{Approve: true})
	if !errors.Is(err, api.ErrVoted) || f.state(id) != bailiff.ApprovalPending {
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
		f.Book.config.Router = dissolved{f.Book.config.Router}
		if _, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{Approve: true}); !errors.Is(err, api.ErrIneligible) ||
			err.Error() != "there are too few people" {
			t.Errorf("yes: %v", err)
		}
		if e, err := f.Answer(t.Context(), id, by("ana"), bailiff.Verdict{}); err != nil || e.State != bailiff.ApprovalDenied {
			t.Errorf("no: %s, %v", e.State, err)
		}
	})
}

// dissolved is a router that lets people answer but finds too few of them.
type dissolved struct{ Router }

func (dissolved) Plan(bailiff.Claim) (api.Plan, error) {
	return api.Plan{}, &Unanswerable{Reason: "there are too few people"}
}
