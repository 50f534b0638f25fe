package enforcer

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

var newHost = bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "egress.new_host", Message: "New.", Match: "x.test:443"}},
	Scopes: []string{bailiff.ScopeOnce}, TimeoutSeconds: 60, Quorum: 1}

// asksOf are the questions of a request, with the answer of people.
func asksOf(t *testing.T, answer bailiff.ApprovalState) (*bench, *questions) {
	t.Helper()
	b := newBench(t)
	b.human.answer = func(bailiff.Claim) bailiff.ApprovalState { return answer }
	q := b.questionsOf(grant{judged: &judged{placed: placed{located: request("curl x.test")},
		reporter: reporter{news: func(bailiff.Progress) {}}}})
	return b, &q
}

func TestConnectionsThatWaitForOneAnswerAskOnce(t *testing.T) {
	t.Parallel()
	for _, state := range []bailiff.ApprovalState{bailiff.ApprovalApproved, bailiff.ApprovalDenied} {
		b, q := asksOf(t, state)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if a, err := q.Ask(t.Context(), newHost); err != nil || a.State != state {
					t.Errorf("answered is %+v, %v, want %s", a, err, state)
				}
			})
		}
		all.Wait()
		if n := len(b.human.asked); n != 1 {
			t.Fatalf("people were asked %d times", n)
		}
		if left := time.Until(b.human.asked[0].HeldUntil); left <= 0 || left > usualHold {
			t.Errorf("people are told that the connections wait for %s", left)
		}
	}
}

func TestANoHoldsForTheSessionsLaterRequests(t *testing.T) {
	t.Parallel()
	b, first := asksOf(t, bailiff.ApprovalDenied)
	ask := func(change func(*bailiff.Request), terms bailiff.ApprovalTerms) int {
		req := request("curl x.test")
		change(&req)
		q := b.questionsOf(grant{judged: &judged{placed: placed{located: req}, reporter: reporter{news: func(bailiff.Progress) {}}}})
		before := len(b.human.asked)
		if a, err := q.Ask(t.Context(), terms); err != nil || a.State != bailiff.ApprovalDenied {
			t.Errorf("answered is %+v, %v", a, err)
		}
		return len(b.human.asked) - before
	}
	if a, err := first.Ask(t.Context(), newHost); err != nil || a.State != bailiff.ApprovalDenied {
		t.Fatalf("answered is %+v, %v", a, err)
	}
	other, brief := newHost, newHost
	other.Reasons = []bailiff.Reason{{Rule: "egress.new_host", Message: "New.", Match: "y.test:443"}}
	brief.Reasons = []bailiff.Reason{{Rule: "egress.new_host", Message: "New.", Match: "z.test:443"}}
	brief.GrantSeconds = -1
	same := func(*bailiff.Request) {}
	for _, c := range []struct {
		name   string
		change func(*bailiff.Request)
		terms  bailiff.ApprovalTerms
		asked  int
	}{
		{"the same host", func(r *bailiff.Request) { r.Args.Command = "wget x.test" }, newHost, 0},
		{"another host", same, other, 1},
		{"another user of the session", func(r *bailiff.Request) { r.Session.UserID = "another" }, newHost, 1},
		{"another session", func(r *bailiff.Request) { r.Session.ID = "another" }, newHost, 1},
		{"a no whose time is over already", same, brief, 1},
		{"the same again", same, brief, 1},
	} {
		if n := ask(c.change, c.terms); n != c.asked {
			t.Errorf("%s: people were asked %d times, want %d", c.name, n, c.asked)
		}
	}
	req := request("curl x.test")
	if _, err := b.EndSession(t.Context(), req.Caller, req.Session.ID); err != nil {
		t.Fatal(err)
	}
	if n := ask(same, newHost); n != 1 {
		t.Errorf("after the session's end people were asked %d times", n)
	}
}

func TestAYesForATimeHoldsForNoConnectionAfterIt(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]int{time.Hour: 1, -time.Second: 2} {
		b, q := asksOf(t, bailiff.ApprovalApproved)
		b.human.until = time.Now().Add(left)
		for range 2 {
			if a, err := q.Ask(t.Context(), newHost); err != nil || a.State != bailiff.ApprovalApproved {
				t.Errorf("answered is %+v, %v", a, err)
			}
		}
		if n := len(b.human.asked); n != want {
			t.Errorf("with %s left people were asked %d times, want %d", left, n, want)
		}
	}
}

func TestAConnectionThatWaitedInVainIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	b, q := asksOf(t, bailiff.ApprovalPending)
	for range 2 {
		if a, err := q.Ask(t.Context(), newHost); err != nil || a.State != bailiff.ApprovalPending || a.ID == "" {
			t.Errorf("answered is %+v, %v", a, err)
		}
	}
	if n := len(b.human.asked); n != 2 {
		t.Errorf("people were asked %d times", n)
	}
}

func TestAYesThatCannotBeUsedOpensNothing(t *testing.T) {
	t.Parallel()
	b, q := asksOf(t, bailiff.ApprovalApproved)
	b.human.fault = errors.New("the disk is full")
	if a, err := q.Ask(t.Context(), newHost); err == nil {
		t.Errorf("answered is %+v", a)
	}
	b.human.fault, b.human.meanwhile = nil, func() { b.human.keepsNone = true }
	if a, err := q.Ask(t.Context(), newHost); err == nil {
		t.Errorf("answered is %+v, though the grant was used by another request", a)
	}
}
