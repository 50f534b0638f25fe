package enforcer

import (
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/audit"
)

// decided words the event of a judgement.
func decided(req bailiff.Request, j bailiff.Judgement, at time.Time) bailiff.Event {
	event := bailiff.Event{
		DecisionID:  audit.NewID(),
		Timestamp:   at.UTC(),
		Path:        bailiff.DecisionPath,
		Input:       j.Input,
		Result:      j.Decision,
		Bundles:     map[string]bailiff.Bundle{"policies": {Revision: j.Decision.Revision}},
		RequestedBy: req.Caller,
		Metrics:     j.Timers,
		Custom:      bailiff.Custom{Event: bailiff.DecisionEvent, Session: req.Session.ID, RequestID: req.ID},
	}
	if j.Fault != nil {
		event.Error = &bailiff.EventError{Message: j.Fault.Error()}
	}
	if req.ID != "" {
		event.Custom.Digest = req.Digest()
	}
	return event
}

// executed words the event of what became of an allowed request.
func executed(decision bailiff.Event, a answer) bailiff.Event {
	return bailiff.Event{
		DecisionID:  decision.DecisionID,
		TraceID:     decision.TraceID,
		SpanID:      decision.SpanID,
		Timestamp:   time.Now().UTC(),
		RequestedBy: decision.RequestedBy,
		Custom: bailiff.Custom{
			Event: bailiff.ExecutionEvent, Session: decision.Custom.Session, RequestID: decision.Custom.RequestID,
			Status: a.Status, ExitCode: &a.ExitCode, Backend: a.Backend, SandboxID: a.SandboxID,
			Message: a.Message, Nanoseconds: a.Duration.Nanoseconds(),
		},
	}
}
