package enforcer

import (
	"cmp"
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Tracer is told of the parts of a request's way, for traces. A context that Begin
// returned is within its part, whatever else is made of it.
type Tracer interface {
	Begin(ctx context.Context, part string) context.Context
	// End ends the part that ctx is of.
	End(ctx context.Context, said bailiff.Span)
	// IDs are those of the trace and the part that ctx is of; empty if it is not told of.
	IDs(ctx context.Context) (trace, span string)
}

// The parts of a request's way: all of it, a judgement, the wait for humans, the wait
// for a sandbox, what runs there.
const (
	partRequest = "request"
	partDecide  = "decide"
	partApprove = "approve"
	partStart   = "start"
	partExec    = "exec"
)

// begin costs nothing where nobody traces, and neither do the functions that end what
// it began.
func (e *Enforcer) begin(ctx context.Context, part string) context.Context {
	if e.config.Tracer == nil {
		return ctx
	}
	return e.config.Tracer.Begin(ctx, part)
}

// endRequest ends all of a request's way. One without a status panicked on it.
func (e *Enforcer) endRequest(ctx context.Context, req bailiff.Request, a bailiff.Answer) {
	if e.config.Tracer == nil {
		return
	}
	status := cmp.Or(a.Status, bailiff.Failed)
	said := spanOf(req, a.DecisionID, a.Decision)
	said.Outcome, said.Code, said.Failed = string(status), a.Code, isFault(status)
	said.Backend = cmp.Or(a.Backend, said.Backend)
	said.Text = textOf(req)
	e.config.Tracer.End(ctx, said)
}

// endJudged ends the way of a request that is only judged. One without a decision
// panicked on it.
func (e *Enforcer) endJudged(ctx context.Context, req bailiff.Request, d bailiff.Decided) {
	if e.config.Tracer == nil {
		return
	}
	said := spanOf(req, d.ID, d.Decision)
	if d.ID == "" {
		said.Outcome, said.Failed = string(bailiff.Failed), true
	}
	said.Text = textOf(req)
	e.config.Tracer.End(ctx, said)
}

// endDecide ends a judgement.
func (e *Enforcer) endDecide(ctx context.Context, m *matter) {
	if e.config.Tracer == nil {
		return
	}
	said := spanOf(m.located, m.event.DecisionID, m.Decision)
	said.Failed = m.Fault != nil
	e.config.Tracer.End(ctx, said)
}

// endWait ends the wait for humans.
func (e *Enforcer) endWait(ctx context.Context, m *matter, asked bailiff.Approval, err error) {
	if e.config.Tracer == nil {
		return
	}
	said := spanOf(m.located, m.event.DecisionID, m.Decision)
	said.Outcome, said.Failed = string(asked.State), err != nil
	e.config.Tracer.End(ctx, said)
}

// endStart ends the wait for a sandbox.
func (e *Enforcer) endStart(ctx context.Context, m *matter, err error) {
	if e.config.Tracer == nil {
		return
	}
	said := spanOf(m.located, m.event.DecisionID, m.Decision)
	if said.Outcome = "held"; err != nil {
		said.Outcome, said.Failed = "failed", true
	}
	e.config.Tracer.End(ctx, said)
}

// endExec ends what ran.
func (e *Enforcer) endExec(ctx context.Context, m *matter, a answer) {
	if e.config.Tracer == nil {
		return
	}
	said := spanOf(m.located, m.event.DecisionID, m.Decision)
	said.Outcome, said.Code, said.Failed = string(a.Status), a.Code, isFault(a.Status)
	e.config.Tracer.End(ctx, said)
}

// spanOf is what every part says.
func spanOf(req bailiff.Request, decisionID string, d bailiff.Decision) bailiff.Span {
	said := bailiff.Span{
		Tool: req.Tool, Platform: req.Session.Platform, ChatType: req.Session.ChatType, Unattended: req.Session.Unattended,
		RequestID: req.ID, DecisionID: decisionID, Backend: d.Backend.Name, Outcome: d.Outcome.String(),
	}
	for _, reason := range d.Reasons() {
		said.Rules = append(said.Rules, reason.Rule)
	}
	return said
}

// textOf is what a request would run.
func textOf(req bailiff.Request) string { return req.Args.Command + req.Args.Code + req.Args.Data }

func isFault(s bailiff.Status) bool { return s == bailiff.Unavailable || s == bailiff.Failed }

// traced names in an event the part of a trace that ctx is of.
func (e *Enforcer) traced(ctx context.Context, event *api.Event) {
	if e.config.Tracer != nil {
		event.TraceID, event.SpanID = e.config.Tracer.IDs(ctx)
	}
}

// concerning marks what is logged from here on with the request that it is about.
func (m *matter) concerning(ctx context.Context) context.Context {
	return bailiff.Concerning(ctx, bailiff.Concern{RequestID: m.located.ID, DecisionID: m.event.DecisionID, TraceID: m.event.TraceID})
}
