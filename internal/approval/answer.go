package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Answer gives one person's verdict on an approval. One no denies it; the last
// yes that is needed approves it, with the narrowest scope that was voted for.
// The error is [api.ErrUnknown], [ErrSettled], [ErrScope], [ErrIneligible],
// [api.ErrProof], [ErrVoted] or [ErrStore].
func (b *Book) Answer(ctx context.Context, id string, who bailiff.Approver, v bailiff.Verdict) (api.Entry, error) {
	replans := b.replans.Load()
	p, err := b.poll(id, who, v.Approve)
	if err != nil {
		return api.Entry{}, err
	}
	v.Reason = b.scrub(v.Reason)
	terms, claim := p.text.terms(), p.text.claim("")
	var answered api.Entry
	err = b.storage.do(ctx, need{items: []string{id}}, func(s *state, now time.Time) (step, error) {
		if b.replans.Load() != replans {
			return step{}, errReplanned
		}
		i, err := s.answerable(id, now)
		if err != nil {
			return step{}, err
		}
		i = i.copy()
		t := p.update(i)
		vote, err := i.Entry.vote(who, v, now)
		if err == nil && v.Match != "" {
			err = i.Entry.pattern(claim, v)
		}
		if err != nil {
			return step{}, err
		}
		i.count(&t, vote, terms, func(h *held) {
			if v.Match != "" {
				h.narrow(v.Match, claim, now)
			}
		}, now)
		answered = p.text.fill(i.Entry)
		return t, nil
	})
	if errors.Is(err, errReplanned) {
		return b.Answer(ctx, id, who, v)
	}
	if err != nil {
		return api.Entry{}, err
	}
	if v.Match != "" {
		b.config.Observer.PatternApproved(answered.Request.Session.Platform)
	}
	return answered, nil
}

// poll is what a new answer finds: people and routes may have changed since the
// approval was asked for and the earlier votes were given.
type poll struct {
	text claimText
	// plan is how the claim would go to people now; of no weight for a no.
	plan api.Plan
	// barred says by their credentials who voted and may no longer answer, and why.
	barred map[string]error
}

// poll looks at a pending approval that may be answered by who. The router is
// asked outside of the writer, which is everyone's.
func (b *Book) poll(id string, who bailiff.Approver, approve bool) (p poll, err error) {
	if err := b.Err(); err != nil {
		return p, err
	}
	i := b.item(id)
	if i == nil {
		return p, unknown(id)
	}
	if !i.pending() {
		return p, refuse(api.ErrSettled, "%s", i.Entry.settled())
	}
	text, found, err := b.claim(i)
	if err != nil {
		return p, err
	}
	if !found {
		return p, unknown(id)
	}
	c := text.claim(i.Entry.DecisionID)
	if err := b.config.Router.May(who, c, i.Entry.Plan.Route); err != nil {
		kind := api.ErrIneligible
		if errors.Is(err, api.ErrProof) {
			kind = api.ErrProof
		}
		return p, refuse(kind, "%s", err)
	}
	p = poll{text: text, barred: b.barred(c, i.Entry.Votes, i.Entry.Plan.Route)}
	if !approve {
		return p, nil
	}
	if p.plan, err = b.config.Router.Plan(c); err != nil {
		return p, refuse(api.ErrIneligible, "%s", err)
	}
	return p, nil
}

// barred says of those votes that do not count by that route now why not, by
// their credentials.
func (b *Book) barred(c bailiff.Claim, votes []api.Vote, route string) map[string]error {
	barred := map[string]error{}
	for _, v := range votes {
		if err := b.config.Router.May(approverOf(v), c, route); err != nil {
			barred[v.Credential] = err
		}
	}
	return barred
}

// update brings an item up to date: votes of those who may no longer answer are
// dropped, and if more people are needed by now, so many are.
func (p poll) update(i *item) (t step) {
	e := &i.Entry
	for _, v := range e.Votes {
		if why := p.barred[v.Credential]; why != nil {
			t.events = append(t.events, e.event(fmt.Sprintf("dropped: the vote of %s: %s", nameOf(v), why)))
		}
	}
	e.Votes = slices.DeleteFunc(e.Votes, func(v api.Vote) bool { return p.barred[v.Credential] != nil })
	if p.plan.Quorum > e.Plan.Quorum {
		e.Plan.Quorum, e.Plan.Approvers, e.Plan.Channels = p.plan.Quorum, p.plan.Approvers, p.plan.Channels
	}
	if p.plan.Proof != "" {
		e.Plan.Proof = p.plan.Proof
	}
	return t
}

func unknown(id string) error {
	return refuse(api.ErrUnknown, "there is no approval %s; if there was, it was resolved long ago", id)
}

func (s *state) answerable(id string, now time.Time) (*item, error) {
	i := s.item(id)
	if i == nil {
		return nil, unknown(id)
	}
	e := &i.Entry
	if !i.pending() {
		return nil, refuse(api.ErrSettled, "%s", e.settled())
	}
	if !now.Before(e.Expires) {
		return nil, refuse(api.ErrSettled, "approval %s expired at %s", id, e.Expires.Format(time.RFC3339))
	}
	return i, nil
}

// vote is a verdict that fits what is offered, of an approver who has not voted.
func (e *entry) vote(who bailiff.Approver, v bailiff.Verdict, now time.Time) (api.Vote, error) {
	if slices.ContainsFunc(e.Votes, func(v api.Vote) bool { return nameOf(v) == who.Name() || v.Credential == who.Credential }) {
		return api.Vote{}, refuse(api.ErrVoted, "%s has answered approval %s already: %s", who.Name(), e.ID, e.Message)
	}
	given := api.Vote{Person: who.Person, Credential: who.Credential, Channel: who.Channel, Login: who.Login,
		Proof: who.Proof, Approve: v.Approve, Reason: v.Reason, At: now}
	if !v.Approve {
		return given, nil
	}
	given.Scope = v.Scope
	if v.Scope == "" {
		given.Scope = e.Scopes[0]
	}
	if !slices.Contains(e.Scopes, given.Scope) {
		return given, refuse(api.ErrScope, "approval %s offers scope %s, not %q", e.ID, strings.Join(e.Scopes, ", "), v.Scope)
	}
	return given, nil
}

func approverOf(v api.Vote) bailiff.Approver {
	return bailiff.Approver{Person: v.Person, Credential: v.Credential, Channel: v.Channel, Login: v.Login, Proof: v.Proof}
}

func nameOf(v api.Vote) string { return approverOf(v).Name() }

func saysOf(v api.Vote) string {
	if v.Approve {
		return "yes, " + v.Scope
	}
	return "no"
}

// terms says what a grant of a claim is like. The texts of its pairs are for
// people; it covers by their hashes.
func (t claimText) terms() grant {
	s := t.Request.Session
	g := grant{
		Caller: t.Caller, Peer: t.Peer, Platform: s.Platform, Session: s.ID, User: s.UserID, Tool: t.Request.Tool,
		Backend: t.Decision.Backend.Name, Env: append([]string{}, t.Decision.Env.Forward...), Swap: t.Decision.Env.Swap,
		Pairs: t.claim("").Pairs(),
	}
	slices.Sort(g.Env)
	for n, p := range g.Pairs {
		g.Pairs[n] = bailiff.Pair{Rule: cut(p.Rule), Match: cut(p.Match), Context: cut(p.Context)}
	}
	return g
}

// count adds a vote to an item and settles it if that was decisive.
func (i *item) count(t *step, v api.Vote, terms grant, narrow func(*held), now time.Time) {
	e := &i.Entry
	e.Votes = append(e.Votes, v)
	e.Message = e.waiting()
	t.items = append(t.items, i)
	t.events = append(t.events, e.event(fmt.Sprintf("vote: %s says %s%s", nameOf(v), saysOf(v), because(v.Reason))))
	switch {
	case !v.Approve:
		i.settle(t, bailiff.ApprovalDenied, "denied", fmt.Sprintf("denied by %s%s", nameOf(v), because(v.Reason)), now)
	case len(e.Votes) >= e.Plan.Quorum:
		h := i.grant(terms, narrow, now)
		t.grants = append(t.grants, h)
		i.settle(t, bailiff.ApprovalApproved, "approved", fmt.Sprintf("approved by %s, %s", h.Grant.By, h.Grant.lasts()), now)
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// grant makes what the votes leave behind.
func (i *item) grant(g grant, narrow func(*held), now time.Time) *held {
	e := &i.Entry
	g.ID, g.ApprovalID, g.Created = newID("g"), e.ID, now
	g.Scope, g.Route, g.Quorum, g.Proof = e.narrowest(), e.Plan.Route, len(e.Votes), e.proved()
	g.By, g.Via = e.voters()
	h := &held{Grant: g, DecisionID: e.DecisionID}
	switch g.Scope {
	case bailiff.ScopeAlways:
		h.Grant.Session, h.Pairs = "", i.Pairs
	case bailiff.ScopeSession:
		h.Pairs = i.Pairs
	default:
		h.Grant.Digest, h.Grant.Pairs = e.Digest, nil
	}
	if g.Scope != bailiff.ScopeAlways {
		h.Grant.Expires = now.Add(i.GrantFor)
	}
	narrow(h)
	e.Scope, e.GrantID, e.GrantExpires = h.Grant.Scope, h.Grant.ID, h.Grant.Expires
	return h
}

// proved is the plan's proof if each vote has it. Where sidecars share a store, the route may want it at one and not
// yet at another, which takes votes without.
func (e *entry) proved() string {
	if slices.ContainsFunc(e.Votes, func(v api.Vote) bool { return !strings.HasPrefix(v.Proof, e.Plan.Proof) }) {
		return ""
	}
	return e.Plan.Proof
}

func (e *entry) narrowest() string {
	narrowest := bailiff.ScopeAlways
	for _, v := range e.Votes {
		if width(v.Scope) < width(narrowest) {
			narrowest = v.Scope
		}
	}
	return narrowest
}

// lasts says for what and until when a grant is.
func (g *grant) lasts() string {
	switch {
	case g.Match != "":
		return fmt.Sprintf("for %q of this %s until %s, or until the policies change", g.Match,
			map[string]string{bailiff.ScopeSession: "session", bailiff.ScopeAlways: "user"}[g.Scope], g.Expires.Format(time.RFC3339))
	case g.Scope == bailiff.ScopeOnce:
		return "once, until " + g.Expires.Format(time.RFC3339)
	case g.Scope == bailiff.ScopeSession:
		return "for this session until " + g.Expires.Format(time.RFC3339)
	}
	return "for this user until it is revoked"
}

// Revoke ends a grant. The error is [api.ErrUnknown] or [ErrStore].
func (b *Book) Revoke(ctx context.Context, id string, who bailiff.Approver) (api.Grant, error) {
	var revoked api.Grant
	err := b.storage.do(ctx, need{grants: []string{id}}, func(s *state, now time.Time) (step, error) {
		h := s.grant(id)
		if h == nil || !h.live(now) {
			return step{}, refuse(api.ErrUnknown, "there is no grant %s; it may have been used, have ended or been revoked", id)
		}
		revoked = api.Grant(h.Grant)
		return step{ended: []*held{h}, events: []api.Event{h.event(fmt.Sprintf("revoked: grant %s by %s (%s)", id, who.Name(),
			who.Via()))}}, nil
	})
	if err != nil {
		return api.Grant{}, err
	}
	return revoked, nil
}
