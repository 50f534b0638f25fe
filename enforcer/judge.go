package enforcer

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// judge asks the PDP, lays the floor under the answer, and words the event for
// the decision log. A working folder that the request leaves open is filled in
// first, so that what is judged is what runs; where the decision leads to a
// sandbox that does not know that folder, the request is judged without it.
func (e *Enforcer) judge(ctx context.Context, req bailiff.Request) *judged {
	m := &judged{located: req}
	e.judgeBy(ctx, m, e.settle)
	return m
}

// judgeBy has a request judged, and words the event of that from the request as it was
// before.
func (e *Enforcer) judgeBy(ctx context.Context, m *judged, judge func(context.Context, *judged)) {
	e.parts.judgement(ctx, m, judge)
	e.name(ctx, &m.event)
}

// judgement is a part of a request's way.
func (e *Enforcer) judgement(ctx context.Context, m *judged, judge func(context.Context, *judged)) {
	req, start := m.located, time.Now()
	m.reloads = e.reloads.Load()
	judge(ctx, m)
	m.took, m.event = time.Since(start), decided(req, m.Judgement, start)
}

// settle judges a matter in the working folder where it will run.
func (e *Enforcer) settle(ctx context.Context, m *judged) {
	req := m.located
	var at lease.Workdir
	switch {
	case req.Tool == bailiff.Process:
		if m.process = e.processes.Find(req); m.process != nil {
			m.located, m.begun = m.process.Address(req)
		}
	case req.Args.Workdir == "" && m.needsSandbox():
		at = e.leases.Workdir(req.Caller, req.Session.ID)
		m.located.Args.Workdir = at.Path
	}
	m.Judgement = e.decide(ctx, m.located, nil)
	if at.Path != "" && m.Decision.Outcome != bailiff.Deny && !at.Serves(e.leases.SpecOf(req, m.Decision)) {
		m.located, at = req, lease.Workdir{}
		m.Judgement = e.decide(ctx, m.located, nil)
	}
	m.atStart = at.InWorkspace
}

// decide judges a request whose files, if they are known, are these.
func (e *Enforcer) decide(ctx context.Context, req bailiff.Request, files []bailiff.File) bailiff.Judgement {
	at := e.Circumstances(req)
	at.Files = files
	j := e.config.Decider.Decide(ctx, req, at)
	j.Decision = e.floor(req, j.Decision)
	return j
}

// Circumstances are those under which a request would be judged now.
func (e *Enforcer) Circumstances(req bailiff.Request) bailiff.Circumstances {
	return bailiff.Circumstances{
		EnvAvailable: e.config.Environ.Available(req.Env),
		Backends:     e.leases.States(req.Caller, req.Session.ID),
		Time:         time.Now().UTC(),
	}
}
