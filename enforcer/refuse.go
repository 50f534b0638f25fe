package enforcer

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Refuse denies what a caller sent and was no request that could be judged. The
// decision log is told, but not waited for.
func (e *Enforcer) Refuse(ctx context.Context, caller string, because bailiff.Reason) bailiff.Decided {
	req := bailiff.Request{Caller: caller}
	return e.decideOnly(ctx, req, func(ctx context.Context) (api.Event, bailiff.Decision, time.Duration) {
		d := bailiff.Decision{Outcome: bailiff.Deny, Denials: []bailiff.Reason{because}}
		event := decided(req, bailiff.Judgement{Decision: d}, time.Now())
		e.name(ctx, &event)
		return event, d, 0
	})
}
