package enforcer

import (
	"context"
	"errors"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/budget"
)

// asker is a request with the person whose budgets it uses.
func (e *Enforcer) asker(req bailiff.Request) budget.Asker {
	return budget.Asker{Request: req, Person: e.config.People.Of(req).Person}
}

// setAside sets aside what a request that is about to run uses of its budgets. Where that is used up meanwhile the request is judged
// anew, and denied if nothing can be set aside then.
func (e *Enforcer) setAside(ctx context.Context, m *judged, redeemed bool) (turn *budget.Turn) {
	mayRun := func() bool { return m.fault == nil && (m.Decision.Outcome == bailiff.Allow || redeemed) }
	if !mayRun() {
		return nil
	}
	turn, err := e.config.Budgets.Take(e.asker(m.located), m.Decision)
	if errors.Is(err, budget.ErrUsedUp) && !redeemed {
		if e.rejudge(ctx, m, m.files); !mayRun() {
			return nil
		}
		turn, err = e.config.Budgets.Take(e.asker(m.located), m.Decision)
	}
	m.denyUncounted(err)
	return turn
}

// setAsideForClient counts a request that its client runs by itself, whose seconds and bytes no one tells.
func (e *Enforcer) setAsideForClient(m *judged) {
	by := e.asker(m.located)
	by.Elsewhere = true
	_, err := e.config.Budgets.Take(by, m.Decision)
	m.denyUncounted(err)
}

func (m *judged) denyUncounted(err error) {
	if err != nil {
		m.Decision = deny(m.Decision, ruleBudget, "Nothing may run that cannot be counted: "+err.Error()+".")
	}
}

// settleBudgets gives back what a request did not use. Of one whose end is unknown all that was set aside counts.
func settleBudgets(turn *budget.Turn, a answer) {
	switch {
	case !a.started:
		turn.End(nil)
	case a.Code != bailiff.CodeOutcomeUnknown:
		ran := budget.Ran{Took: a.Duration}
		if a.Egress != nil {
			ran.Sent = a.Egress.SentTo
		}
		turn.End(&ran)
	}
}
