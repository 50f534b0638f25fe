package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Unknown is the refusal of an approval that is not known.
func Unknown(id string) error {
	return Refuse(api.ErrUnknown, "there is no approval %s; if there was, it was resolved long ago", id)
}

func (s *State) answerable(id string, now time.Time) (*Item, error) {
	i := s.Item(id)
	if i == nil {
		return nil, Unknown(id)
	}
	e := &i.Entry
	if !i.Pending() {
		return nil, Refuse(api.ErrSettled, "%s", e.WhyClosed())
	}
	if !now.Before(e.Expires) {
		return nil, Refuse(api.ErrSettled, "approval %s expired at %s", id, e.Expires.Format(time.RFC3339))
	}
	return i, nil
}

// vote is a verdict that fits what is offered, of an approver who has not voted.
func (e *Entry) vote(who bailiff.Approver, v bailiff.Verdict, longest time.Duration, now time.Time) (api.Vote, error) {
	if slices.ContainsFunc(e.Votes, func(v api.Vote) bool { return nameOf(v) == who.Name() || v.Credential == who.Credential }) {
		return api.Vote{}, Refuse(api.ErrVoted, "%s has answered approval %s already: %s", who.Name(), e.ID, e.Message)
	}
	given := api.Vote{Person: who.Person, Credential: who.Credential, Channel: who.Channel, Login: who.Login,
		Proof: who.Proof, Approve: v.Approve, Reason: v.Reason, At: now}
	if !v.Approve {
		return given, nil
	}
	given.Scope, given.For, given.Times = e.scopeOf(v), v.For, v.Times
	if !slices.Contains(e.Scopes, given.Scope) {
		return given, Refuse(api.ErrScope, "approval %s offers scope %s, not %q", e.ID, strings.Join(e.Scopes, ", "), given.Scope)
	}
	return given, e.checkTerms(given, longest)
}

// ApproverOf is who gave a vote.
func ApproverOf(v api.Vote) bailiff.Approver {
	return bailiff.Approver{Person: v.Person, Credential: v.Credential, Channel: v.Channel, Login: v.Login, Proof: v.Proof}
}

func nameOf(v api.Vote) string { return ApproverOf(v).Name() }

func saysOf(v api.Vote) string {
	if v.Approve {
		return "yes, " + v.Scope + termsSaid(v)
	}
	return "no"
}

// terms says what a grant of a claim is like. The texts of its pairs are for
// people; it covers by their hashes.
func (t ClaimText) terms() Grant {
	s := t.Request.Session
	g := Grant{
		Caller: t.Caller, Peer: t.Peer, Platform: s.Platform, Session: s.ID, User: s.UserID, Tool: t.Request.Tool,
		Backend: t.Decision.Backend.Name, Env: append([]string{}, t.Decision.Env.Forward...), Swap: t.Decision.Env.Swap,
		Pairs: t.Claim("").Pairs(), Agent: s.Agent.ID,
		CoversAgents: t.Decision.Approval != nil && t.Decision.Approval.CoversAgents,
	}
	slices.Sort(g.Env)
	for n, p := range g.Pairs {
		g.Pairs[n] = bailiff.Pair{Rule: cut(p.Rule), Match: cut(p.Match), Context: cut(p.Context)}
	}
	return g
}

// count adds a vote to an item and settles it if that was decisive.
func (i *Item) count(t *Step, v api.Vote, terms Grant, narrow func(*Held), now time.Time) {
	e := &i.Entry
	e.Votes = append(e.Votes, v)
	e.Message = e.waiting()
	t.Items = append(t.Items, i)
	t.Events = append(t.Events, e.event(fmt.Sprintf("vote: %s says %s%s", nameOf(v), saysOf(v), because(v.Reason))))
	switch {
	case !v.Approve:
		i.settle(t, bailiff.ApprovalDenied, "denied", fmt.Sprintf("denied by %s%s", nameOf(v), because(v.Reason)), now)
	case len(e.Votes) >= e.Plan.Quorum:
		h := i.grant(terms, narrow, now)
		t.Grants = append(t.Grants, h)
		says := fmt.Sprintf("approved by %s, %s%s", h.Grant.By, h.Grant.lasts(), h.Grant.often())
		i.settle(t, bailiff.ApprovalApproved, "approved", says, now)
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// grant makes what the votes leave behind.
func (i *Item) grant(g Grant, narrow func(*Held), now time.Time) *Held {
	e := &i.Entry
	g.ID, g.ApprovalID, g.Created = newID("g"), e.ID, now
	g.Scope, g.Route, g.Quorum, g.Proof = e.narrowest(), e.Plan.Route, len(e.Votes), e.proved()
	g.By, g.Via = e.voters()
	h := &Held{Grant: g, DecisionID: e.DecisionID}
	switch g.Scope {
	case bailiff.ScopeAlways:
		h.Grant.Session, h.Pairs = "", i.Pairs
	case bailiff.ScopeSession:
		h.Pairs = i.Pairs
	default:
		h.Grant.Digest, h.Grant.Pairs, h.Grant.CoversAgents = e.Digest, nil, false
	}
	switch {
	case g.Scope != bailiff.ScopeAlways:
		h.Grant.Expires = now.Add(i.GrantFor)
	case slices.ContainsFunc(g.Pairs, func(p bailiff.Pair) bool { return p.Rule == bailiff.RunsUnknownProgram }):
		h.Grant.Expires = now.Add(longest)
	}
	narrow(h)
	lasts, times := e.termsOf()
	h.shorten(lasts, times, now)
	e.Scope, e.GrantID, e.GrantExpires = h.Grant.Scope, h.Grant.ID, h.Grant.Expires
	return h
}

// proved is the plan's proof if each vote has it. Where sidecars share a store, the route may want it at one and not
// yet at another, which takes votes without.
func (e *Entry) proved() string {
	if slices.ContainsFunc(e.Votes, func(v api.Vote) bool { return !strings.HasPrefix(v.Proof, e.Plan.Proof) }) {
		return ""
	}
	return e.Plan.Proof
}

func (e *Entry) narrowest() string {
	narrowest := bailiff.ScopeAlways
	for _, v := range e.Votes {
		if width(v.Scope) < width(narrowest) {
			narrowest = v.Scope
		}
	}
	return narrowest
}

// lasts says for what and until when a grant is.
func (g *Grant) lasts() string {
	switch {
	case g.Match != "":
		return fmt.Sprintf("for %q of this %s until %s, or until the policies change", g.Match,
			map[string]string{bailiff.ScopeSession: "session", bailiff.ScopeAlways: "user"}[g.Scope], g.Expires.Format(time.RFC3339))
	case g.Scope == bailiff.ScopeOnce:
		return "once, until " + g.Expires.Format(time.RFC3339)
	case g.Scope == bailiff.ScopeSession && g.Agent != "":
		return "for this agent of the session" + g.reach() + " until " + g.Expires.Format(time.RFC3339)
	case g.Scope == bailiff.ScopeSession:
		return "for this session" + g.reach() + " until " + g.Expires.Format(time.RFC3339)
	case !g.Expires.IsZero():
		return "for this user" + g.reach() + " until " + g.Expires.Format(time.RFC3339)
	}
	return "for this user" + g.reach() + " until it is revoked"
}

// reach says that it is for more than one agent.
func (g *Grant) reach() string {
	if g.CoversAgents {
		return ", with the agents that are started,"
	}
	return ""
}
