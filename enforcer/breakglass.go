package enforcer

import (
	"context"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// BreakGlass runs what the policies deny or would ask about, on an operator's
// word, which stands in the decision log beside the decision. The sandbox is the
// one that the policies would have chosen, and no variable enters; where they
// chose none there is nothing to run in. Nothing lifts the floor.
func (e *Enforcer) BreakGlass(ctx context.Context, req bailiff.Request, order api.BreakGlass) bailiff.Answer {
	return e.runGuarded(ctx, req, func(ctx context.Context) answer {
		m := e.judge(ctx, req)
		ctx = m.concerning(ctx)
		m.news = func(bailiff.Progress) {}
		m.event.Custom.BreakGlass = &order
		e.override(m)
		m.fault = e.provide(ctx, m)
		if m.Decision.Outcome == bailiff.Allow {
			e.config.Observer.BreakGlassUsed()
			e.config.Log.WarnContext(ctx, "an operator uses break-glass", "by", order.By, "via", order.Via, "reason", order.Reason,
				"session", req.Session.ID)
		}
		return e.proceed(ctx, m, false)
	})
}

// override lets a request run against the policies, as far as they said how.
func (e *Enforcer) override(m *judged) {
	d := m.Decision
	if m.Fault != nil || fromTheFloor(d) || d.Backend.Name == "" || d.Backend.Scope == "" || d.Limits.TimeoutSeconds == 0 ||
		d.Limits.OutputBytes == 0 {
		if d.Outcome != bailiff.Deny {
			d = deny(d, bailiff.RuleBreakGlass, "The decision does not say where and how the request could run.")
		}
		m.Decision = d
		return
	}
	d.Outcome, d.Approval = bailiff.Allow, nil // the denials stay to be read
	d.Env.Forward, d.Env.Sealed = nil, nil
	m.Decision = e.floor(m.located, d)
}

func fromTheFloor(d bailiff.Decision) bool {
	return slices.ContainsFunc(d.Denials, func(r bailiff.Reason) bool { return strings.HasPrefix(r.Rule, "floor.") })
}
