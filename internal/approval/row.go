package approval

import (
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// The rows are what the store holds of package api's types of the same names, whose
// comments tell what the fields mean. They are types of their own, so that a field
// that the API gains does not change what is on disk.
type (
	entry struct {
		ID         string                `json:"id"`
		State      bailiff.ApprovalState `json:"state"`
		Digest     string                `json:"digest"`
		DecisionID string                `json:"decision_id"`
		TraceID    string                `json:"trace_id,omitempty"`
		Caller     string                `json:"caller"`
		Peer       string                `json:"peer"`
		Request    bailiff.Request       `json:"request"`
		Decision   bailiff.Decision      `json:"decision"`
		Reasons    []bailiff.Reason      `json:"reasons"`
		// Shortened is always true: the rest is in the claim's text.
		Shortened    bool      `json:"shortened,omitempty"`
		Plan         plan      `json:"plan"`
		Scopes       []string  `json:"scopes"`
		Votes        []vote    `json:"votes"`
		Scope        string    `json:"scope,omitempty"`
		GrantID      string    `json:"grant_id,omitempty"`
		GrantExpires time.Time `json:"grant_expires,omitzero"`
		Message      string    `json:"message"`
		Created      time.Time `json:"created"`
		Expires      time.Time `json:"expires"`
		Resolved     time.Time `json:"resolved,omitzero"`
	}

	plan struct {
		Route     string        `json:"route"`
		Approvers []string      `json:"approvers"`
		Channels  []string      `json:"channels"`
		Quorum    int           `json:"quorum"`
		Timeout   time.Duration `json:"timeout_ns"`
	}

	vote struct {
		Person     string    `json:"person"`
		Credential string    `json:"credential"`
		Channel    string    `json:"channel"`
		Approve    bool      `json:"approve"`
		Scope      string    `json:"scope,omitempty"`
		Reason     string    `json:"reason,omitempty"`
		At         time.Time `json:"at"`
	}

	grant struct {
		ID         string         `json:"id"`
		ApprovalID string         `json:"approval_id"`
		Scope      string         `json:"scope"`
		Caller     string         `json:"caller"`
		Peer       string         `json:"peer"`
		Platform   string         `json:"platform"`
		Session    string         `json:"session,omitempty"`
		User       string         `json:"user"`
		Tool       bailiff.Tool   `json:"tool"`
		Backend    string         `json:"backend"`
		Env        []string       `json:"env"`
		Route      string         `json:"route"`
		Quorum     int            `json:"quorum"`
		Digest     string         `json:"digest,omitempty"`
		Pairs      []bailiff.Pair `json:"pairs,omitempty"`
		By         string         `json:"by"`
		Via        string         `json:"via"`
		Created    time.Time      `json:"created"`
		Expires    time.Time      `json:"expires,omitzero"`
		Uses       int            `json:"uses"`
		LastUsed   time.Time      `json:"last_used,omitzero"`
	}

	freeze struct {
		Kind   string    `json:"kind"`
		ID     string    `json:"id,omitempty"`
		Reason string    `json:"reason"`
		By     string    `json:"by"`
		At     time.Time `json:"at"`
	}
)

// shown is an entry as lists and changes show it.
func (e *entry) shown() api.Entry {
	votes := make([]api.Vote, len(e.Votes))
	for n, v := range e.Votes {
		votes[n] = api.Vote(v)
	}
	return api.Entry{
		ID: e.ID, State: e.State, Digest: e.Digest, DecisionID: e.DecisionID, TraceID: e.TraceID, Caller: e.Caller, Peer: e.Peer,
		Request: e.Request, Decision: e.Decision, Reasons: e.Reasons, Shortened: e.Shortened, Plan: api.Plan(e.Plan),
		Scopes: e.Scopes, Votes: votes, Scope: e.Scope, GrantID: e.GrantID, GrantExpires: e.GrantExpires,
		Message: e.Message, Created: e.Created, Expires: e.Expires, Resolved: e.Resolved,
	}
}

func (f freeze) shown() api.Freeze {
	return api.Freeze{Kind: f.Kind, ID: f.ID, Reason: f.Reason, By: f.By, At: f.At}
}

func rowOf(f api.Freeze) freeze {
	return freeze{Kind: f.Kind, ID: f.ID, Reason: f.Reason, By: f.By, At: f.At}
}
