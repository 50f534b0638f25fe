package gateway

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/history"
)

// Approvals is the answer to GET /v1/approvals: one page, in the order in which
// they were asked. Next is where the next page begins; empty if this is the last.
type Approvals struct {
	Approvals []api.Entry `json:"approvals"`
	Next      string      `json:"next"`
}

// ShownApproval is the answer to GET /v1/approvals/{id}.
type ShownApproval struct {
	Approval api.Entry `json:"approval"`
	// Marks are where the reasons' matches stand in the request's texts.
	Marks []Mark `json:"marks"`
	// MarksCut says that there would be more marks than are made: what is not
	// marked may be what was found too.
	MarksCut bool `json:"marks_cut"`
	// History are the latest events of the session, the newest first.
	History []Logged `json:"history"`
}

// Mark is a part of a text that rules found, in bytes of its UTF-8. Marks of one
// text are in order and do not overlap.
type Mark struct {
	// Text is which of the request's args it stands in: "command", "code",
	// "stdin", "data" or "arguments".
	Text  string `json:"text"`
	Start int    `json:"start"`
	// End is where the part is over; the byte there is not of it.
	End   int      `json:"end"`
	Rules []string `json:"rules"`
}

// Approving is the body of POST /v1/approvals/{id}/approve; without a scope it
// is the narrowest that is offered.
type Approving struct {
	Scope string `json:"scope"`
}

// Denying is the body of POST /v1/approvals/{id}/deny.
type Denying struct {
	Reason string `json:"reason"`
}

// Grants is the answer to GET /v1/grants.
type Grants struct {
	Grants []api.Grant `json:"grants"`
}

// Freezes is the answer to GET /v1/freeze.
type Freezes struct {
	Freezes []api.Freeze `json:"freezes"`
}

// Freezing is the body of POST /v1/freeze, and, without a reason, of DELETE.
type Freezing struct {
	// Kind is "all", "session" or "user".
	Kind string `json:"kind"`
	// ID is the session's, or the user's as "user" (on every platform) or
	// "platform:user"; empty for all.
	ID     string `json:"id"`
	Reason string `json:"reason,omitzero"`
}

// Revisions is the answer to GET /v1/policies/history: the policies that were in force,
// the latest first.
type Revisions struct {
	Revisions []history.Revision `json:"revisions"`
}

// ShownRevision is the answer to GET /v1/policies/history/{revision}.
type ShownRevision struct {
	Revision history.Revision `json:"revision"`
	Texts    []PolicyFile     `json:"texts"`
}

// PolicyFile is a file of policies, by the path at which it lay.
type PolicyFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// RollingBack is the body of POST /v1/policies/rollback; the beginning of a revision
// will do.
type RollingBack struct {
	Revision string `json:"revision"`
	Reason   string `json:"reason"`
}

// Breaking is the body of POST /v1/break-glass.
type Breaking struct {
	// Request is one as the agent API takes it.
	Request jsontext.Value `json:"request"`
	Reason  string         `json:"reason"`
}

// Decisions is the answer to GET /v1/decisions, the newest first.
type Decisions struct {
	Decisions []Logged `json:"decisions"`
}

// Logged is one event of the decision log in short.
type Logged struct {
	// DecisionID is what the events of one request have in common.
	DecisionID string        `json:"decision_id"`
	Timestamp  time.Time     `json:"timestamp"`
	Event      api.EventKind `json:"event"`
	Caller     string        `json:"caller"`
	Session    string        `json:"session"`
	Platform   string        `json:"platform,omitzero"`
	User       string        `json:"user,omitzero"`
	Tool       bailiff.Tool  `json:"tool,omitzero"`
	// Text is the beginning of the command, code, or what a process or tool is asked.
	Text string `json:"text,omitzero"`
	// Outcome is the decision's, Rules those that denied or asked.
	Outcome string   `json:"outcome,omitzero"`
	Rules   []string `json:"rules,omitzero"`
	// Status and ExitCode are how an execution ended.
	Status   bailiff.Status    `json:"status,omitzero"`
	ExitCode *int              `json:"exit_code,omitzero"`
	Backend  string            `json:"backend,omitzero"`
	Message  string            `json:"message,omitzero"`
	Approval *bailiff.Approval `json:"approval,omitzero"`
}

// GrantChange is an event of GET /v1/events; Gone says that the grant is no more.
type GrantChange struct {
	Grant api.Grant `json:"grant"`
	Gone  bool      `json:"gone"`
}

// FreezeChange is an event of GET /v1/events; Gone says that it is thawed.
type FreezeChange struct {
	Freeze api.Freeze `json:"freeze"`
	Gone   bool       `json:"gone"`
}

// ConsoleLink is the answer to POST /v1/console/links: a page that whoever asked
// for it can open once.
type ConsoleLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}
