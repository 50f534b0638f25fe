package enforcer

import (
	"context"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/budget"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// Decide judges a request and runs nothing. The client may run it on the strength of the
// answer, so that a decision which is no denial is on disk before it is told.
func (e *Enforcer) Decide(ctx context.Context, req bailiff.Request) bailiff.Decided {
	var unread []string
	var m *judged
	var aside *budget.Reservation
	d := e.decideOnly(ctx, req, func(ctx context.Context) (api.Event, bailiff.Decision, time.Duration) {
		m = e.judge(ctx, req)
		unread = e.readForClient(ctx, m)
		if m.Decision.Snapshot {
			m.Decision = deny(m.Decision, ruleSnapshot,
				"The policies order a snapshot before it, which what does not run here cannot have.")
		}
		aside = e.setAsideForClient(m)
		return m.judgementEvent(), m.Decision, m.took
	})
	if d.Decision.Outcome == bailiff.Deny {
		aside.End(nil)
	}
	e.rememberForClient(ctx, m, d.Decision)
	d.Unread, d.Projects = unread, e.projects(d.Decision.Backend)
	return withFurther(d)
}

// Preview judges a request that its client has run by [Enforcer.Execute] if it may run at all,
// where it is judged again and written down. Here only a denial is, after which nothing comes.
// While the log fails a preview is written like any decision, so that the client learns at
// once that nothing runs.
func (e *Enforcer) Preview(ctx context.Context, req bailiff.Request) (d bailiff.Decided) {
	if e.config.Recorder.Err() != nil {
		return e.Decide(ctx, req)
	}
	e.parts.serve(ctx, req, func(ctx context.Context) bailiff.Answer {
		m := e.judgeToRun(ctx, req)
		event := m.judgementEvent()
		if m.Decision.Outcome == bailiff.Deny {
			e.config.Recorder.Note(event)
			e.config.Observer.Decided(ctx, req, m.Decision, m.took)
			e.rememberForClient(ctx, m, m.Decision)
		}
		d = bailiff.Decided{ID: event.DecisionID, Decision: m.Decision, Unread: m.Files, Projects: e.projects(m.Decision.Backend)}
		return bailiff.Answer{DecisionID: d.ID, Decision: d.Decision}
	})
	return withFurther(d)
}

// withFurther adds to what a client's file tools leave alone in a project that to which the protected places lead.
func withFurther(d bailiff.Decided) bailiff.Decided {
	mounts := slices.Clone(d.Decision.Backend.Mounts)
	for i, m := range mounts {
		if slices.Contains(d.Projects, m.Source) && len(m.Protected) > 0 {
			mounts[i].Protected = slices.Concat(m.Protected, protected.Further(m.Source, m.Protected))
		}
	}
	d.Decision.Backend.Mounts = mounts
	return d
}

// projects are the folders of this machine in which a file tool of the client may do what a
// decision lets a command do: the sandbox shows them as they are, may write them, and keeps
// protected files in them.
func (e *Enforcer) projects(place bailiff.BackendTerms) (all []string) {
	shower, ok := e.config.Backends[place.Name].(backends.Shower)
	if !ok || shower.Shows(place.Mounts) != nil {
		return nil
	}
	for _, m := range place.Mounts {
		if m.Source == m.Target && !m.ReadOnly && len(m.Protected) > 0 {
			all = append(all, m.Source)
		}
	}
	return all
}

// Refuse denies a message that is no request which could be judged.
func (e *Enforcer) Refuse(ctx context.Context, caller string, because bailiff.Reason) bailiff.Decided {
	req := bailiff.Request{Caller: caller}
	return e.decideOnly(ctx, req, func(ctx context.Context) (api.Event, bailiff.Decision, time.Duration) {
		d := bailiff.Decision{Outcome: bailiff.Deny, Denials: []bailiff.Reason{because}}
		event := decisionEvent(req, bailiff.Judgement{Decision: d}, time.Now())
		e.name(ctx, &event)
		return event, d, 0
	})
}

// decideOnly tells a decision after which nothing runs here.
func (e *Enforcer) decideOnly(ctx context.Context, req bailiff.Request,
	decide func(context.Context) (api.Event, bailiff.Decision, time.Duration)) bailiff.Decided {
	a := e.parts.serve(ctx, req, func(ctx context.Context) bailiff.Answer {
		event, d, took := decide(ctx)
		d = e.written(ctx, event, d)
		e.config.Observer.Decided(ctx, req, d, took)
		return bailiff.Answer{DecisionID: event.DecisionID, Decision: d}
	})
	return bailiff.Decided{ID: a.DecisionID, Decision: a.Decision}
}

// written returns the decision that may be told. A denial may be told at once, since nothing
// depends on its record. Any other may be told once it is on disk; if it cannot be written, a
// denial takes its place. The log holds it even if the client hangs up meanwhile.
func (e *Enforcer) written(ctx context.Context, event api.Event, d bailiff.Decision) bailiff.Decision {
	if d.Outcome == bailiff.Deny {
		e.config.Recorder.Note(event)
		return d
	}
	if err := e.config.Recorder.Record(context.WithoutCancel(ctx), event); err != nil {
		return deny(d, bailiff.RuleUnwritable, "Nothing may run while the decision log cannot be written: "+err.Error()+".")
	}
	return d
}
