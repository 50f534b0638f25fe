package api

import (
	"encoding/json"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Entry is an approval with everything that an operator is shown. Its JSON is
// what the operator API sends. Known secret values are scrubbed out of its
// texts.
type Entry struct {
	ID    string                `json:"id"`
	State bailiff.ApprovalState `json:"state"`
	// Digest is of the claim as it was asked, before anything was scrubbed.
	Digest     string `json:"digest"`
	DecisionID string `json:"decision_id"`
	// TraceID is of the trace that the request is exported in; empty if it is in none.
	TraceID string `json:"trace_id,omitempty"`
	// Caller is the listener that the request came in by, Peer its credential.
	Caller   string           `json:"caller"`
	Peer     string           `json:"peer"`
	Request  bailiff.Request  `json:"request"`
	Decision bailiff.Decision `json:"decision"`
	// Reasons are why approval is due.
	Reasons []bailiff.Reason `json:"reasons"`
	// Files are those that the text runs; in a list they are left out.
	Files []bailiff.File `json:"files,omitempty"`
	// Input is the input document that the policies saw; in a list it is left out.
	Input json.RawMessage `json:"input,omitempty"`
	// Shortened says that texts were cut to 1,000 bytes and that files and input
	// are left out, as in lists and changes.
	Shortened bool `json:"shortened,omitempty"`
	Plan      Plan `json:"plan"`
	// Scopes are those that may be granted, from the narrowest.
	Scopes []string `json:"scopes"`
	Votes  []Vote   `json:"votes"`
	// Opinions are what programs said of it, and no answers.
	Opinions []Opinion `json:"opinions,omitempty"`
	// Answered counts what people answered before to the same rules and matches; in a list it is
	// left out.
	Answered []Answered `json:"answered,omitempty"`
	// Pattern is the one that would have covered most of what the user asked before, among the
	// patterns of the request's words in which one is free. Its match is empty where no earlier
	// request differs by one word. It is nil in a list, and where no pattern may be approved now.
	Pattern *Preview `json:"pattern,omitempty"`
	// Scope is what was granted, GrantID the grant, until GrantExpires; zero is never.
	Scope        string    `json:"scope,omitempty"`
	GrantID      string    `json:"grant_id,omitempty"`
	GrantExpires time.Time `json:"grant_expires,omitzero"`
	// Message is one sentence: who can answer a pending one and where, or why the
	// answer is what it is.
	Message string    `json:"message"`
	Created time.Time `json:"created"`
	// Expires is when it ends without an answer.
	Expires  time.Time `json:"expires"`
	Resolved time.Time `json:"resolved,omitzero"`
	// HeldUntil is how long a connection of the request waits for the answer, which runs
	// meanwhile; zero if the request has not begun.
	HeldUntil time.Time `json:"held_until,omitzero"`
}

// Destination is where the connection leads that waits for an answer, as a rule found it.
func (e Entry) Destination() string {
	for _, r := range e.Reasons {
		if r.Match != "" {
			return r.Match
		}
	}
	return "a host"
}

// Plan is how a claim is put to people.
type Plan struct {
	// Route is the name of the route.
	Route string `json:"route"`
	// Approvers are the names of the people who could answer, at least Quorum.
	Approvers []string `json:"approvers"`
	// Channels are where they are asked: "operator" is the socket and the command
	// line, "console" the web page.
	Channels []string `json:"channels"`
	// Quorum is how many different people must say yes; one no denies.
	Quorum int `json:"quorum"`
	// Timeout is how long they have.
	Timeout time.Duration `json:"timeout_ns"`
	// Proof is by what each answer must be proved: "webauthn", or empty.
	Proof string `json:"proof,omitempty"`
}

// Vote is one person's answer.
type Vote struct {
	Person     string `json:"person"`
	Credential string `json:"credential"`
	Channel    string `json:"channel"`
	Login      string `json:"login,omitempty"`
	Proof      string `json:"proof,omitempty"`
	Approve    bool   `json:"approve"`
	Scope      string `json:"scope,omitempty"`
	// For is how long the yes is to hold and Times for how many requests; zero leaves that to the policies.
	For    time.Duration `json:"for_ns,omitempty"`
	Times  int           `json:"times,omitempty"`
	Reason string        `json:"reason,omitempty"`
	At     time.Time     `json:"at"`
}

// Opinion is what a program said of an approval. It counts as no answer, and may be what the request had the program say.
type Opinion struct {
	By   string    `json:"by"`
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// Answered counts how often one person said yes and no.
type Answered struct {
	Person string `json:"person"`
	Yes    int    `json:"yes"`
	No     int    `json:"no"`
}

// Grant is what an approval leaves behind: what may run without asking again.
type Grant struct {
	ID         string `json:"id"`
	ApprovalID string `json:"approval_id"`
	Scope      string `json:"scope"`
	Caller     string `json:"caller"`
	// Peer is the credential that the caller came by.
	Peer     string `json:"peer"`
	Platform string `json:"platform"`
	// Session is empty if the grant covers every session of the user.
	Session string `json:"session,omitempty"`
	// Agent is the one of the session's agents that the grant covers; empty for the session's own. With CoversAgents it
	// covers those, too, that this one started.
	Agent        string `json:"agent,omitempty"`
	CoversAgents bool   `json:"covers_agents,omitempty"`

	User    string       `json:"user"`
	Tool    bailiff.Tool `json:"tool"`
	Backend string       `json:"backend"`
	// Env are the names of the variables that may be forwarded, sorted.
	Env []string `json:"env"`
	// Swap are those of Env of which the sandbox gets a stand-in, with the hosts of the value.
	Swap []bailiff.Swap `json:"swap,omitempty"`
	// Route is the route by which people were asked.
	Route string `json:"route"`
	// Quorum is how many of them said yes.
	Quorum int `json:"quorum"`
	// Proof is by what each of them had to prove their answer, if by anything.
	Proof string `json:"proof,omitempty"`
	// Digest is of the one claim that a grant of scope once covers.
	Digest string `json:"digest,omitempty"`
	// Pairs are what the other grants cover.
	Pairs []bailiff.Pair `json:"pairs,omitempty"`
	// Match is the pattern that a grant covers in place of the pairs' matches, while the policies
	// are those of Revision.
	Match    string `json:"match,omitempty"`
	Revision string `json:"revision,omitempty"`
	// By names the people who approved, Via the credentials and channels.
	By      string    `json:"by"`
	Via     string    `json:"via"`
	Created time.Time `json:"created"`
	// Expires is when it ends; zero is never.
	Expires time.Time `json:"expires,omitzero"`
	Uses    int       `json:"uses"`
	// Times is for how many requests it is at most, or zero.
	Times    int       `json:"times,omitempty"`
	LastUsed time.Time `json:"last_used,omitzero"`
}

// Preview says of how many of a user's last requests that were asked about a grant of a pattern
// would have let run.
type Preview struct {
	Match   string `json:"match"`
	Covered int    `json:"covered"`
	Of      int    `json:"of"`
}

// The kinds of a freeze.
const (
	FreezeAll     = "all"
	FreezeSession = "session"
	FreezeUser    = "user"
)

// Freeze stops everything, a session or a user until it is thawed.
type Freeze struct {
	Kind string `json:"kind"`
	// ID is the session's id, or the user's as "user" (on every platform) or
	// "platform:user"; empty for everything.
	ID     string    `json:"id,omitempty"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	// Warning says why no operator could thaw it, and what may go on. It is told to the one who freezes, and not kept.
	Warning string `json:"warning,omitempty"`
	// MayGoOn names the sandboxes of it that were not surely stopped, and the sidecars that do not answer. It is told to
	// the one who freezes, and not kept.
	MayGoOn []string `json:"may_go_on,omitempty"`
}

// Stops says whether it stops a session.
func (f Freeze) Stops(session, platform, user string) bool {
	switch f.Kind {
	case FreezeAll:
		return true
	case FreezeSession:
		return session == f.ID
	case FreezeUser:
		return f.ID == user || f.ID == platform+":"+user
	}
	return false
}

// What is what it stops, as operators call it.
func (f Freeze) What() string {
	if f.Kind == FreezeAll {
		return "everything"
	}
	return f.Kind + " " + f.ID
}

// Query selects entries; empty fields select all.
type Query struct {
	State   bailiff.ApprovalState
	Session string
	// User is a user's id as in [Freeze].
	User string
	// After is where the last page ended, as List returned it.
	After string
	// Limit is the length of a page; 100 if zero.
	Limit int
}

// Change is news for those who watch: of an approval, a grant or a freeze, of
// which one is set.
type Change struct {
	Entry  *Entry
	Grant  *Grant
	Freeze *Freeze
	// Gone says that the grant or freeze is no more.
	Gone bool
	// Lost says that changes were dropped because the reader was slow: what it
	// knows must be read anew. Then nothing else is set.
	Lost bool
}
