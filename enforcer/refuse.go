package enforcer

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Refuse denies what a caller sent and was no request that could be judged. The
// decision log is told, but not waited for.
func (e *Enforcer) Refuse(caller string, because bailiff.Reason) bailiff.Decided {
	req := bailiff.Request{Caller: caller}
	d := bailiff.Decision{Outcome: bailiff.Deny, Denials: []bailiff.Reason{because}}
	e.Observer.Decided(context.Background(), req, d, 0)
	event := decided(req, bailiff.Judgement{Decision: d}, time.Now())
	e.Recorder.Note(event)
	return bailiff.Decided{ID: event.DecisionID, Decision: d}
}
