package enforcer

import (
	"errors"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/budget"
)

// asker is a request with the person whose budgets it uses.
func (e *Enforcer) asker(req bailiff.Request) budget.Asker {
	return budget.Asker{Request: req, Person: e.config.People.Of(req).Person}
}

// setAside sets aside what a request that is about to run uses of its budgets; else it is denied. It runs no longer than that lasts.
func (e *Enforcer) setAside(m *judged, redeemed bool) *budget.Reservation {
	if m.fault != nil || m.Decision.Outcome == bailiff.Ask && !redeemed {
		return nil
	}
	aside, err := e.config.Budgets.Take(e.asker(m.located), m.Decision)
	m.denyUncounted(err)
	limits := &m.Decision.Limits
	if m.located.Args.Background {
		limits.BackgroundSeconds = aside.Seconds(limits.BackgroundSeconds)
	} else {
		limits.TimeoutSeconds = aside.Seconds(limits.TimeoutSeconds)
	}
	return aside
}

// setAsideForClient counts a request that its client runs by itself, whose seconds and bytes no one tells.
func (e *Enforcer) setAsideForClient(m *judged) *budget.Reservation {
	by := e.asker(m.located)
	by.Elsewhere = true
	aside, err := e.config.Budgets.Take(by, m.Decision)
	m.denyUncounted(err)
	return aside
}

func (m *judged) denyUncounted(err error) {
	switch {
	case errors.Is(err, budget.ErrUsedUp):
		m.Decision = deny(m.Decision, ruleBudget, bailiff.Sentence(err.Error()))
	case err != nil:
		m.Decision = deny(m.Decision, ruleBudget, "Nothing may run that cannot be counted: "+err.Error()+".")
	}
}

// settleBudgets gives back what a request did not use. Of one whose end is unknown all that was set aside counts.
func settleBudgets(aside *budget.Reservation, a answer) {
	switch {
	case !a.started:
		aside.End(nil)
	case a.Code != bailiff.CodeOutcomeUnknown:
		ran := budget.Ran{Took: a.Duration}
		if a.Egress != nil {
			ran.Sent = a.Egress.SentTo
		}
		aside.End(&ran)
	}
}
