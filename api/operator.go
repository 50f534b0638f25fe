package api

import (
	"time"
)

// Approvals is the answer to GET /v1/approvals: one page, in the order in which
// they were asked. Next is where the next page begins; empty if this is the last.
type Approvals struct {
	Approvals []Entry `json:"approvals"`
	Next      string  `json:"next"`
}

// ShownApproval is the answer to GET /v1/approvals/{id}.
type ShownApproval struct {
	Approval Entry `json:"approval"`
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
	// Match is a pattern of the request's words that the scope holds for.
	Match string `json:"match,omitempty"`
	// Digest is of the claim that was shown; a yes to another one is not taken. Empty is not compared.
	Digest string `json:"digest,omitempty"`
	// ForSeconds is how long the yes holds and Times for how many requests, both at most; zero leaves that to the policies.
	ForSeconds int `json:"for_seconds,omitempty"`
	Times      int `json:"times,omitempty"`
}

// Adopting is the body of POST /v1/project/adopt: the path of a protected file whose change was put back, where the changed version
// is, or the folder of a repository that a command made.
type Adopting struct {
	Path string `json:"path"`
}

// Adopted is its answer.
type Adopted struct {
	Path string `json:"path"`
	// Former is where the version is that was there before; empty if there was none.
	Former string `json:"former"`
}

// Denying is the body of POST /v1/approvals/{id}/deny.
type Denying struct {
	Reason string `json:"reason"`
}

// Grants is the answer to GET /v1/grants.
type Grants struct {
	Grants []Grant `json:"grants"`
}

// Freezes is the answer to GET /v1/freeze.
type Freezes struct {
	Freezes []Freeze `json:"freezes"`
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

// GrantChange is an event of GET /v1/events; Gone says that the grant is no more.
type GrantChange struct {
	Grant Grant `json:"grant"`
	Gone  bool  `json:"gone"`
}

// FreezeChange is an event of GET /v1/events; Gone says that it is thawed.
type FreezeChange struct {
	Freeze Freeze `json:"freeze"`
	Gone   bool   `json:"gone"`
}

// ConsoleLink is the answer to POST /v1/console/links: a page that the operator who asked
// for it can open once.
type ConsoleLink struct {
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expires_at"`
}
