package enforcer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/past"
	"github.com/bailiff-dev/bailiff/enforcer/process"
	"github.com/bailiff-dev/bailiff/internal/project/snapshot"
)

// judged is a request with its judgement, on its way to its end.
type judged struct {
	placed
	bailiff.Judgement
	look
	holding
	reporter
	event api.Event
	took  time.Duration // to the judgement
	// reloads is how many reloads of policies came before it was judged.
	reloads uint64
	// claimed tells whether the request's id is this sidecar's; nil where that is known.
	claimed answers.Own
	// files are those that the text runs or may depend on, as they are in the sandbox; unbound
	// are the names of those that have no content which stands.
	files   []bailiff.File
	unbound []string
	// approval is what humans said.
	approval *bailiff.Approval
	// fault is why the request can have no sandbox.
	fault error
	// kept is the snapshot that was taken for it.
	kept *snapshot.Entry
	// young are the files where it unpacks what its session brought.
	young past.Young
}

// placed is a request in the place where it runs. Nothing of it changes once it is judged.
type placed struct {
	// located is the request with the working folder that was judged.
	located bailiff.Request
	// atStart says that this folder is the one where a session's first command starts.
	atStart bool
	// process is the one that the request names, nil if there is none; begun is how
	// much of the data had been typed before.
	process *process.Process
	begun   int
	// script is the hold of the script that called, nil if none did.
	script *lease.Hold
}

// reporter reports to the client what becomes of its request.
type reporter struct {
	news func(bailiff.Progress)
	told bool // news has a decision already
	// streams says that the client hears news as it comes.
	streams bool
}

// again is a request that humans have approved, to be judged once more. Nothing of the
// first judgement is in it, nor of what was held by it.
func (m *judged) again() *judged {
	approval := *m.approval
	return &judged{placed: m.placed, reporter: reporter{news: m.news, streams: m.streams, told: true}, approval: &approval}
}

// needsSandbox is false for what addresses a process, for a call of a tool that the agent runs, and
// for a server that runs elsewhere.
func (p placed) needsSandbox() bool {
	return p.located.Args.URL == "" && (p.located.Tool == bailiff.Terminal || p.located.Tool == bailiff.ExecuteCode)
}

// claim is what approvers are asked about the request. A session's first command and
// a later one from the same folder are one claim.
func (m *judged) claim() bailiff.Claim {
	req := m.located
	if m.atStart {
		req.Args.Workdir = ""
	}
	return bailiff.Claim{Request: req, Decision: m.Decision, DecisionID: m.event.DecisionID, TraceID: m.event.TraceID, Files: m.files,
		Unbound: m.unbound, Ground: m.ground, Plain: m.Plain, Call: m.Call, Input: m.Input}
}

// judgementEvent is the event of the judgement, as it stands now.
func (m *judged) judgementEvent() api.Event {
	m.event.Input, m.event.Result, m.event.Custom.Approval = m.Input, m.Decision, m.approval
	return m.event
}

// replaceJudgement replaces the judgement, and with it the obligations. The request depends on the
// files that were read for it, even where its text is understood by now.
func (m *judged) replaceJudgement(j bailiff.Judgement) {
	j.Decision.Backend.Image = m.Decision.Backend.Image // as it was pinned
	for _, c := range m.contents {
		if !slices.Contains(j.Files, c.Path) && !slices.Contains(j.Opens, c.Path) {
			j.Opens = append(j.Opens, c.Path)
		}
		j.Plain, j.Call = false, nil
	}
	m.Judgement = j
}

func (m *judged) tellDecision() {
	if !m.told {
		m.told = true
		m.news(bailiff.Progress{Decision: &bailiff.Decided{ID: m.event.DecisionID, Decision: m.Decision}})
	}
}

func (m *judged) tellApproval(a bailiff.Approval) {
	m.approval = &a
	m.news(bailiff.Progress{Approval: &a})
}

// judge asks the PDP, lays the floor under the answer, and words the event for
// the decision log. A working folder that the request leaves open is filled in
// first, so that what is judged is what runs; where the decision leads to a
// sandbox that does not know that folder, the request is judged without it.
func (e *Enforcer) judge(ctx context.Context, req bailiff.Request) *judged {
	m := &judged{placed: placed{located: req}}
	e.judgeBy(ctx, m, e.settle)
	return m
}

// judgeToRun judges a request that runs here, where what it changes can be kept before.
func (e *Enforcer) judgeToRun(ctx context.Context, req bailiff.Request) *judged {
	m := &judged{placed: placed{located: req}}
	e.judgeBy(ctx, m, func(ctx context.Context, m *judged) {
		e.settle(ctx, m)
		e.offerUndo(ctx, m)
	})
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
	m.took, m.event = time.Since(start), decisionEvent(req, m.Judgement, start)
}

// settle judges a request in the working folder where it will run.
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
	m.Judgement = e.weigh(ctx, m, found{})
	if at.Path != "" && m.Decision.Outcome != bailiff.Deny && !at.Serves(e.leases.SpecOf(req, m.Decision)) {
		m.located, at = req, lease.Workdir{}
		m.Judgement = e.weigh(ctx, m, found{})
	}
	m.atStart = at.InWorkspace
	if at.Path == "" && req.Args.Workdir == "" && m.needsSandbox() {
		e.settleAtStart(ctx, m)
	}
	e.noteProjects(m)
}

// noteProjects remembers what projects declare before a request changes files there, on this host or where its sandbox shows them.
func (e *Enforcer) noteProjects(m *judged) {
	if m.Decision.Outcome == bailiff.Deny {
		return
	}
	var err error
	if _, isHere := e.config.Backends[m.Decision.Backend.Name].(backends.Installer); isHere {
		err = e.sights.Note(m.located.Args.Workdir, m.Changes)
	}
	for _, mount := range m.Decision.Backend.Mounts {
		err = errors.Join(err, e.sights.Note(mount.Source, nil))
	}
	if err != nil {
		m.Decision = deny(m.Decision, ruleUnnoted, "What the project declares could not be remembered: "+err.Error())
	}
}

// settleAtStart judges a session's first request anew, in the folder where the backend
// that it was given starts it. If the policies choose another backend in that folder, the
// request runs in that folder there, or not at all: what is judged is what runs.
func (e *Enforcer) settleAtStart(ctx context.Context, m *judged) {
	backend := m.Decision.Backend.Name
	start := e.leases.StartFolder(backend)
	if start == "" || m.Decision.Outcome == bailiff.Deny {
		return
	}
	m.located.Args.Workdir = start
	m.Judgement = e.weigh(ctx, m, found{})
	m.atStart = m.Decision.Backend.Name == backend
}

// Placement is a request in the folder where it would run, and the circumstances there, for
// queries of the policies.
func (e *Enforcer) Placement(ctx context.Context, req bailiff.Request) (bailiff.Request, bailiff.Circumstances) {
	m := &judged{placed: placed{located: req}}
	if req.Args.Workdir == "" && m.needsSandbox() {
		e.settle(ctx, m)
	}
	at := e.Circumstances(req)
	at.Ground.Sought = true // nothing is looked at for a query
	return m.located, at
}

// found is what was found in a sandbox of the files of a request, as far as it was looked for.
type found struct {
	files    []bailiff.File
	contents []bailiff.Content
	ground   bailiff.Ground
	// undo is the backend where what the request changes can be undone.
	undo string
	// spent is what others used of budgets.
	spent *bailiff.Spent
}

// weigh judges a request that may be about to run, for which its budgets must have something left.
func (e *Enforcer) weigh(ctx context.Context, m *judged, by found) bailiff.Judgement {
	by.spent = e.config.Budgets.Of(e.asker(m.located))
	return e.decide(ctx, m.located, by)
}

// decide judges a request by what was found of its files.
func (e *Enforcer) decide(ctx context.Context, req bailiff.Request, by found) bailiff.Judgement {
	at := e.Circumstances(req)
	at.Files, at.Contents, at.Ground, at.Spent = by.files, by.contents, by.ground, by.spent
	if by.undo != "" {
		undoable := at.Backends[by.undo]
		undoable.Undo = true
		at.Backends[by.undo] = undoable
	}
	j := e.config.Decider.Decide(ctx, req, at)
	if j.Decision.Outcome == bailiff.Allow {
		if at.Scripts = e.leases.Scripts(req, j.Decision.Backend.Name); len(at.Scripts) > 0 {
			if after := e.config.Decider.Decide(ctx, req, at); after.Decision.Outcome != bailiff.Allow {
				j = after // by what the script's names hold
			}
		}
	}
	j.Decision = e.floor(req, j.Decision)
	return j
}

// Circumstances are those under which a request would be judged now.
func (e *Enforcer) Circumstances(req bailiff.Request) bailiff.Circumstances {
	return bailiff.Circumstances{
		EnvAvailable: e.config.Environ.Available(req.Env),
		Backends:     e.leases.States(req.Caller, req.Session.ID),
		History:      e.config.History.Of(req),
		Requester:    e.config.People.Of(req),
		Time:         time.Now().UTC(),
	}
}
