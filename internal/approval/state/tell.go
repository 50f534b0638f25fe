package state

import (
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// approval is what requesters and the decision log are told of an entry.
func (e *Entry) approval() bailiff.Approval {
	a := bailiff.Approval{ID: e.ID, State: e.State, Scope: e.Scope, Message: e.Message}
	a.By, a.Via = e.voters()
	switch e.State {
	case bailiff.ApprovalPending:
		a.ExpiresAt, a.Channels = e.Expires, e.Plan.Channels
	case bailiff.ApprovalApproved:
		a.ExpiresAt = e.GrantExpires
	}
	return a
}

// ApprovalAt is what requesters are told of an entry at a time.
func (e *Entry) ApprovalAt(now time.Time) bailiff.Approval {
	if e.State == bailiff.ApprovalPending && !now.Before(e.Expires) {
		return bailiff.Approval{ID: e.ID, State: bailiff.ApprovalExpired, Message: e.unanswered()}
	}
	return e.approval()
}

// unanswered says how long no approver answered.
func (e *Entry) unanswered() string {
	return fmt.Sprintf("nobody answered within %s", e.Expires.Sub(e.Created))
}

// voters are the people who answered, and by what and where.
func (e *Entry) voters() (by, via string) {
	var names, ways []string
	for _, v := range e.Votes {
		names = append(names, nameOf(v))
		ways = append(ways, ApproverOf(v).Via())
	}
	return strings.Join(names, ", "), strings.Join(ways, ", ")
}

// event is an event of the decision log about an entry as it is now.
func (e *Entry) event(message string) api.Event {
	a := e.approval()
	return api.Event{DecisionID: e.DecisionID, TraceID: e.TraceID, RequestedBy: e.Caller, Custom: api.Custom{
		Event: api.ApprovalEvent, RequestID: e.Request.ID, Session: e.Request.Session.ID, Agent: e.Request.Session.Agent,
		Message: message, Approval: &a,
	}}
}

// event is an event of the decision log about a grant.
func (h *Held) event(message string) api.Event {
	g := &h.Grant
	a := bailiff.Approval{ID: g.ApprovalID, State: bailiff.ApprovalApproved, Scope: g.Scope, By: g.By, Via: g.Via, ExpiresAt: g.Expires,
		Message: message}
	return api.Event{RequestedBy: g.Caller, DecisionID: h.DecisionID, Custom: api.Custom{Event: api.ApprovalEvent, Session: g.Session,
		Message: message, Approval: &a}}
}

// about names the rules that ask.
func (e *Entry) about() string {
	var rules []string
	for _, r := range e.Reasons {
		rules = append(rules, r.Rule)
	}
	return listed(rules)
}

// waiting says who can answer a pending approval, where, and until when.
func (e *Entry) waiting() string {
	who := strings.Join(e.Plan.Approvers, " or ")
	if e.Plan.Quorum > 1 {
		who = fmt.Sprintf("%d of %s (%d said yes)", e.Plan.Quorum, strings.Join(e.Plan.Approvers, ", "), len(e.Votes))
	}
	return fmt.Sprintf("waiting for %s to answer on %s until %s", who, strings.Join(e.Plan.Channels, " or "),
		e.Expires.Format(time.RFC3339))
}

// WhyClosed says why an approval takes no answer any more.
func (e *Entry) WhyClosed() string {
	return fmt.Sprintf("approval %s is %s since %s: %s", e.ID, e.State, e.Resolved.Format(time.RFC3339), e.Message)
}
