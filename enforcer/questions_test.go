package enforcer

import (
	"errors"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

var newHost = bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "egress.new_host", Message: "New.", Match: "x.test:443"}},
	Scopes: []string{bailiff.ScopeOnce}, TimeoutSeconds: 60, Quorum: 1}

// asksOf are the questions of a request, with the answer of people.
func asksOf(t *testing.T, answer bailiff.ApprovalState) (*bench, *questions) {
	t.Helper()
	b := newBench(t)
	b.human.answer = func(bailiff.Claim) bailiff.ApprovalState { return answer }
	q := b.questionsOf(grant{judged: &judged{located: request("curl x.test"), news: func(bailiff.Progress) {}}})
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
			t.Errorf("people were asked %d times", n)
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
