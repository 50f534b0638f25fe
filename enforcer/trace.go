package enforcer

import (
	"cmp"
	"context"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
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

// parts are the parts of a request's way that a trace shows. An [Enforcer] takes them,
// [traced] tells a Tracer of each.
type parts interface {
	// serve takes a request from its arrival to its answer, which is only a decision where
	// nothing is to run.
	serve(ctx context.Context, req bailiff.Request, run func(context.Context) bailiff.Answer) bailiff.Answer
	// judgement fills in what the policies say.
	judgement(ctx context.Context, m *judged, judge func(context.Context, *judged))
	// ask waits for humans.
	ask(ctx context.Context, m *judged) (bailiff.Approval, error)
	// acquire waits for a sandbox.
	acquire(ctx context.Context, m *judged, wait func(context.Context) (*lease.Hold, error)) error
	// exec has a request run that may.
	exec(ctx context.Context, g grant) answer
}

var (
	_ parts = (*Enforcer)(nil)
	_ parts = traced{}
)

// traced tells of each part when it begins and how it ends.
type traced struct {
	parts
	Tracer
}

// serve tells of a panic as of a failure: it leaves no answer.
func (t traced) serve(ctx context.Context, req bailiff.Request, run func(context.Context) bailiff.Answer) (a bailiff.Answer) {
	ctx = t.Begin(ctx, partRequest)
	defer func() {
		said := spanOf(req, a.DecisionID, a.Decision)
		status := a.Status
		if a.DecisionID == "" {
			status = cmp.Or(status, bailiff.Failed)
		}
		said.Outcome, said.Code, said.Failed = cmp.Or(string(status), said.Outcome), a.Code, isFault(status)
		said.Backend = cmp.Or(a.Backend, said.Backend)
		said.Text = textOf(req)
		t.End(ctx, said)
	}()
	return t.parts.serve(ctx, req, run)
}

func (t traced) judgement(ctx context.Context, m *judged, judge func(context.Context, *judged)) {
	ctx = t.Begin(ctx, partDecide)
	t.parts.judgement(ctx, m, judge)
	said := m.span()
	said.Failed = m.Fault != nil
	t.End(ctx, said)
}

func (t traced) ask(ctx context.Context, m *judged) (asked bailiff.Approval, err error) {
	ctx = t.Begin(ctx, partApprove)
	asked, err = t.parts.ask(ctx, m)
	said := m.span()
	said.Outcome, said.Failed = string(asked.State), err != nil
	t.End(ctx, said)
	return asked, err
}

func (t traced) acquire(ctx context.Context, m *judged, wait func(context.Context) (*lease.Hold, error)) error {
	ctx = t.Begin(ctx, partStart)
	err := t.parts.acquire(ctx, m, wait)
	said := m.span()
	if said.Outcome = "held"; err != nil {
		said.Outcome, said.Failed = "failed", true
	}
	t.End(ctx, said)
	return err
}

func (t traced) exec(ctx context.Context, g grant) answer {
	ctx = t.Begin(ctx, partExec)
	a := t.parts.exec(ctx, g)
	said := g.span()
	said.Outcome, said.Code, said.Failed = string(a.Status), a.Code, isFault(a.Status)
	t.End(ctx, said)
	return a
}

func (m *judged) span() bailiff.Span { return spanOf(m.located, m.event.DecisionID, m.Decision) }

// spanOf is what every part says.
func spanOf(req bailiff.Request, decisionID string, d bailiff.Decision) bailiff.Span {
	return bailiff.Span{
		Tool: req.Tool, Platform: req.Session.Platform, ChatType: req.Session.ChatType, Unattended: req.Session.Unattended,
		RequestID: req.ID, DecisionID: decisionID, Backend: d.Backend.Name, Outcome: d.Outcome.String(),
		Rules: d.Rules(),
	}
}

// textOf is what a request would run.
func textOf(req bailiff.Request) string { return req.Args.Command + req.Args.Code + req.Args.Data }

func isFault(s bailiff.Status) bool { return s == bailiff.Unavailable || s == bailiff.Failed }

// name names in an event the part of a trace that ctx is of.
func (e *Enforcer) name(ctx context.Context, event *api.Event) {
	if e.config.Tracer != nil {
		event.TraceID, event.SpanID = e.config.Tracer.IDs(ctx)
	}
}

// concerning marks what is logged from here on with the request that it is about.
func (m *judged) concerning(ctx context.Context) context.Context {
	return bailiff.Concerning(ctx, bailiff.Concern{RequestID: m.located.ID, DecisionID: m.event.DecisionID, TraceID: m.event.TraceID})
}
