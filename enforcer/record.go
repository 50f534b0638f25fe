package enforcer

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// grant is the permission to run a request, and with it what its run needs. Every step
// that starts anything takes one, and [Enforcer.record] alone makes one; the zero grant
// permits nothing.
type grant struct {
	*judged
	// vouched says that it is humans who let the request run.
	vouched bool
}

// record writes a decision down. Only then, if the policies let the request run or
// grants of humans were redeemed for it, is there a grant.
func (e *Enforcer) record(ctx context.Context, m *judged, redeemed bool) (g grant, err error) {
	if err := e.config.Recorder.Record(ctx, m.judgementEvent()); err != nil {
		e.config.Observer.Unrecorded(ctx, m.located, m.Decision, m.took)
		return g, fmt.Errorf("recording the decision: %w", err)
	}
	e.config.Observer.Decided(ctx, m.located, m.Decision, m.took)
	if m.Decision.Outcome == bailiff.Allow || redeemed {
		g = grant{m, redeemed || m.event.Custom.BreakGlass != nil}
	}
	return g, nil
}

// decisionEvent is the event of a judgement.
func decisionEvent(req bailiff.Request, j bailiff.Judgement, at time.Time) api.Event {
	event := api.Event{
		DecisionID:  audit.NewID(),
		Timestamp:   at.UTC(),
		Path:        api.DecisionPath,
		Input:       j.Input,
		Result:      j.Decision,
		Bundles:     map[string]api.Bundle{"policies": {Revision: j.Decision.Revision}},
		RequestedBy: req.Caller,
		Metrics:     j.Timers,
		Custom:      api.Custom{Event: api.DecisionEvent, Session: req.Session.ID, Agent: req.Session.Agent, RequestID: req.ID},
	}
	if j.Fault != nil {
		event.Error = &api.EventError{Message: j.Fault.Error()}
	}
	if req.ID != "" {
		event.Custom.Digest = req.Digest()
	}
	return event
}

// executionEvent is the event of what became of an allowed request.
func executionEvent(decision api.Event, a answer) api.Event {
	return api.Event{
		DecisionID:  decision.DecisionID,
		TraceID:     decision.TraceID,
		SpanID:      decision.SpanID,
		Timestamp:   time.Now().UTC(),
		RequestedBy: decision.RequestedBy,
		Custom: api.Custom{
			Event: api.ExecutionEvent, Session: decision.Custom.Session, Agent: decision.Custom.Agent, RequestID: decision.Custom.RequestID,
			Status: a.Status, ExitCode: &a.ExitCode, Backend: a.Backend, SandboxID: a.SandboxID,
			Message: a.Message, Nanoseconds: a.Duration.Nanoseconds(),
		},
	}
}
