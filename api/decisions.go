package api

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Decisions is the answer to GET /v1/decisions, the newest first.
type Decisions struct {
	Decisions []Logged `json:"decisions"`
}

// Logged is one event of the decision log in short.
type Logged struct {
	// DecisionID is what the events of one request have in common.
	DecisionID string    `json:"decision_id"`
	Timestamp  time.Time `json:"timestamp"`
	Event      EventKind `json:"event"`
	Caller     string    `json:"caller"`
	Session    string    `json:"session"`
	// Agent is the one of the session's agents whose request it was, where another started it.
	Agent    bailiff.Agent `json:"agent,omitzero"`
	Platform string        `json:"platform,omitzero"`
	User     string        `json:"user,omitzero"`
	Tool     bailiff.Tool  `json:"tool,omitzero"`
	// Text is the beginning of the command, code, or what a process or tool is asked.
	Text string `json:"text,omitzero"`
	// Outcome is the decision's, Rules those that denied or asked.
	Outcome string   `json:"outcome,omitzero"`
	Rules   []string `json:"rules,omitzero"`
	// Observed are the rules that would have asked or denied and were only observed, WithoutObserve what the outcome would have been.
	Observed       []string `json:"observed,omitzero"`
	WithoutObserve string   `json:"without_observe,omitzero"`
	// Status and ExitCode are how an execution ended.
	Status   bailiff.Status    `json:"status,omitzero"`
	ExitCode *int              `json:"exit_code,omitzero"`
	Backend  string            `json:"backend,omitzero"`
	Message  string            `json:"message,omitzero"`
	Approval *bailiff.Approval `json:"approval,omitzero"`
	// Kept says that a snapshot was taken before it, so that what it changed can be shown and undone.
	Kept bool `json:"kept,omitzero"`
}

// Breaking is the body of POST /v1/break-glass.
type Breaking struct {
	// Request is one as the agent API takes it.
	Request json.RawMessage `json:"request"`
	Reason  string          `json:"reason"`
}

// putBackWords are those by which an execution's message says which changes of protected files were put back.
const putBackWords = "Put back, since programs start by it later and the change was not asked about: "

// PutBack is what was put back in a folder that a sandbox showed, as the message says it; empty if nothing was. A person may have
// made the change by hand while the command ran.
func (l Logged) PutBack() string {
	_, changes, _ := strings.Cut(l.Message, putBackWords)
	return changes
}
