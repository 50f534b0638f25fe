package enforcer

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Refuse denies what a caller sent and was no request that could be judged. The
// decision log is told, but not waited for.
func (e *Enforcer) Refuse(ctx context.Context, caller string, because bailiff.Reason) (refused bailiff.Decided) {
	req := bailiff.Request{Caller: caller}
	ctx = e.begin(ctx, partRequest)
	defer func() { e.endJudged(ctx, req, refused) }()
	d := bailiff.Decision{Outcome: bailiff.Deny, Denials: []bailiff.Reason{because}}
	event := decided(req, bailiff.Judgement{Decision: d}, time.Now())
	e.traced(ctx, &event)
	e.config.Observer.Decided(ctx, req, d, 0)
	e.config.Recorder.Note(event)
	return bailiff.Decided{ID: event.DecisionID, Decision: d}
}
