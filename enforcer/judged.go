package enforcer

import (
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/process"
)

// matter is a judged request on its way to its end.
type judged struct {
	// located is the request with the working folder that was judged.
	located bailiff.Request
	// atStart says that this folder is the one where a session's first command starts.
	atStart bool
	// process is the one that the request names, nil if there is none; begun is how
	// much of the data had been typed before.
	process *process.Process
	begun   int
	bailiff.Judgement
	event api.Event
	took  time.Duration // to the judgement
	news  func(bailiff.Progress)
	told  bool // news has a decision already
	// streams says that the client hears news as it comes.
	streams bool
	// script is the hold of the script that called, nil if none did.
	script *lease.Hold

	// files are those that the text runs, as they are in the sandbox.
	files []bailiff.File
	// approval is what humans said.
	approval *bailiff.Approval
	// fault is why the request can have no sandbox.
	fault error

	// reloads is how many reloads of policies came before it was judged.
	reloads uint64
	// held and env are set while the sandbox is held.
	held *lease.Hold
	env  map[string]bailiff.Secret
}

// again is a matter as it was asked about, to be judged once more. Nothing of the
// first judgement is in it, nor of what was held by it.
func (m *judged) again(asked bailiff.Approval) *judged {
	return &judged{
		located: m.located, atStart: m.atStart, process: m.process, begun: m.begun, script: m.script,
		news: m.news, streams: m.streams, told: true, approval: &asked,
	}
}

// needsSandbox is false for what addresses a process, and for a call of a tool that
// the agent runs.
func (m *judged) needsSandbox() bool {
	return m.located.Tool == bailiff.Terminal || m.located.Tool == bailiff.ExecuteCode
}

// claim is what humans are asked about the matter. A session's first command and
// a later one from the same folder are one claim.
func (m *judged) claim() bailiff.Claim {
	req := m.located
	if m.atStart {
		req.Args.Workdir = ""
	}
	return bailiff.Claim{Request: req, Decision: m.Decision, DecisionID: m.event.DecisionID, TraceID: m.event.TraceID, Files: m.files, Plain: m.Plain, Input: m.Input}
}

// recorded is the event of the judgement, as it stands now.
func (m *judged) recorded() api.Event {
	m.event.Input, m.event.Result, m.event.Custom.Approval = m.Input, m.Decision, m.approval
	return m.event
}

// rejudged replaces the judgement, and with it the obligations.
func (m *judged) rejudged(j bailiff.Judgement) {
	j.Decision.Backend.Image = m.Decision.Backend.Image // as it was pinned
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

// isUnsupported says whether humans need not be asked, since the request could
// not be run anyway.
func (m *judged) isUnsupported() bool {
	_, refused := refuse(m.located, m.Decision)
	return refused
}

// release gives the sandbox back.
func (m *judged) release() {
	if m.held != nil {
		m.held.Release()
		m.held, m.env = nil, nil
	}
}
