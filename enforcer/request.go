package enforcer

import (
	"context"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// execute is the one way from a request to a sandbox, for a call of a script within
// the script's hold. Its id is claimed meanwhile: that is waited for before approvers are asked, anything
// is taken or held, or anything runs. After a yes of approvers the request is judged again, and must still be what they approved.
func (e *Enforcer) execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress), within *lease.Hold,
	claimed answers.Own) answer {
	judge := e.judgeToRun
	if within != nil { // its script writes, too
		judge = e.judge
	}
	m := judge(ctx, req)
	ctx = m.concerning(ctx)
	m.script, m.claimed = within, claimed
	m.news = func(bailiff.Progress) {}
	if m.streams = news != nil; m.streams {
		p := &progress{news: news}
		defer p.end()
		m.news, ctx = p.tell, backends.WithSteps(ctx, p.tellStep)
	}
	if m.Decision.Outcome != bailiff.Allow || m.Decision.Snapshot || e.readsFiles(m) || e.recalls(m) {
		if refused := claimed(); refused != nil {
			return answer{Answer: *refused}
		}
	}
	a := e.proceed(ctx, m, e.prepare(ctx, m))
	if !a.approved {
		return a
	}
	again := e.judgeAgain(ctx, m)
	ctx = again.concerning(ctx)
	return e.proceed(ctx, again, e.prepareApproved(ctx, again, m.claim()))
}

// prepare finds out what a request needs besides its decision: what its image
// stands for, and humans' grants where they are asked.
func (e *Enforcer) prepare(ctx context.Context, m *judged) (redeemed bool) {
	if m.fault = e.provide(ctx, m); m.fault == nil && m.Decision.Outcome == bailiff.Allow { // else they are as grants are looked for
		m.fault = e.readFiles(ctx, m)
	}
	if m.fault == nil && m.Decision.Snapshot && !e.keepBefore(ctx, m) {
		return e.prepare(ctx, m)
	}
	return m.Decision.Outcome == bailiff.Ask && m.fault == nil && e.redeem(ctx, m)
}

// provide makes sure that there can be a sandbox for a request. One that addresses a
// process runs in that one's, and a call of the agent's tools needs none.
func (e *Enforcer) provide(ctx context.Context, m *judged) error {
	switch {
	case m.Decision.Outcome == bailiff.Deny:
		return nil
	case m.located.Tool == bailiff.Process:
		if m.located.Args.Action == "list" || m.process != nil {
			return nil
		}
		return e.processes.Missing(m.located)
	case !m.needsSandbox():
		return nil
	case m.located.Args.Background:
		if err := e.processes.Room(m.located, m.Decision.Limits); err != nil {
			return err
		}
	}
	if err := e.leases.Pin(ctx, &m.Decision); err != nil {
		return err
	}
	return e.leases.Refusal(e.leases.SpecOf(m.located, m.Decision))
}

// proceed records a request's decision and then does what it says. Redeemed says that
// humans' grants were taken for it.
func (e *Enforcer) proceed(ctx context.Context, m *judged, redeemed bool) answer {
	defer m.release()
	aside := e.setAside(m, redeemed)
	g, err := e.record(ctx, m, redeemed && m.Decision.Outcome != bailiff.Deny)
	if err != nil {
		aside.End(nil)
		return failure(bailiff.Unavailable, bailiff.CodeRecord, err)
	}
	m.tellDecision()
	a := e.carryOut(ctx, m, g)
	settleBudgets(aside, a)
	if !a.approved { // else it is judged again
		e.remember(ctx, m, a)
	}
	a.DecisionID, a.Decision, a.Approval = m.event.DecisionID, m.Decision, m.approval
	if g.judged == nil {
		return a
	}
	if m.script == nil { // else the answer is its script's to read
		a.Note(slices.Concat(e.processes.Losses(m.located), m.Decision.Notes())...)
	}
	e.config.Recorder.Note(executionEvent(m.event, a))
	e.config.Observer.Executed(ctx, m.located.Tool, a.Backend, a.Status, a.Duration)
	return a
}

// carryOut runs what may run, asks humans about what they may let run, and
// refuses the rest.
func (e *Enforcer) carryOut(ctx context.Context, m *judged, g grant) answer {
	if m.claimed != nil {
		if refused := m.claimed(); refused != nil {
			return answer{Answer: *refused}
		}
	}
	if m.fault != nil {
		return e.noSandbox(ctx, m.Decision, m.fault)
	}
	if m.Decision.Outcome == bailiff.Deny {
		return denial(m.Decision)
	}
	if g.judged == nil {
		return e.wait(ctx, m)
	}
	return e.enforce(ctx, g)
}

// enforce meets the obligations of a grant, or refuses.
func (e *Enforcer) enforce(ctx context.Context, g grant) answer {
	if !g.needsSandbox() {
		return e.parts.exec(ctx, g)
	}
	if err := e.hold(ctx, g.judged, false); err != nil {
		return e.noSandbox(ctx, g.Decision, err)
	}
	e.config.Observer.Forwarded(g.Decision.Env.Forward)
	e.noteYoung(ctx, g.judged)
	a := e.parts.exec(ctx, g)
	if a.sandboxGone && !g.held.IsShared() { // else its script is lost with it
		if err := e.replace(ctx, g); err != nil {
			return e.noSandbox(ctx, g.Decision, err)
		}
		a = e.parts.exec(ctx, g)
	}
	return a
}

// exec has what a grant lets run do so: at its process, at the agent, or in its sandbox.
func (e *Enforcer) exec(ctx context.Context, g grant) answer {
	switch {
	case g.located.Tool == bailiff.Process:
		return e.attend(ctx, g)
	case g.located.Tool == bailiff.Call || g.located.Tool == bailiff.MCP:
		return e.handOver(ctx, g)
	case g.located.Args.URL != "":
		return e.reach(ctx, g)
	}
	return e.execInside(ctx, g)
}
