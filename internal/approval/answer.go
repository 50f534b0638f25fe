package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Answer gives one person's verdict on an approval. One no denies it; the last
// yes that is needed approves it, with the narrowest scope that was voted for.
// The error is [ErrUnknown], [ErrSettled], [ErrScope], [ErrIneligible],
// [ErrVoted] or [ErrStore].
func (b *Book) Answer(ctx context.Context, id string, who Approver, v Verdict) (Entry, error) {
	text, err := b.eligible(id, who)
	if err != nil {
		return Entry{}, err
	}
	v.Reason = b.scrub(v.Reason)
	grant := text.terms()
	var answered Entry
	err = b.do(ctx, func(s *state, now time.Time) (step, error) {
		i, err := s.answerable(id, who, now)
		if err != nil {
			return step{}, err
		}
		vote, err := i.Entry.vote(who, v, now)
		if err != nil {
			return step{}, err
		}
		i = i.copy()
		t := i.count(vote, grant, now)
		answered = text.fill(i.Entry)
		return t, nil
	})
	if err != nil {
		return Entry{}, err
	}
	return answered, nil
}

// eligible returns the claim of a pending approval that may be answered by who.
// The router is asked outside of the writer, which is everyone's.
func (b *Book) eligible(id string, who Approver) (claimText, error) {
	if err := b.Err(); err != nil {
		return claimText{}, err
	}
	i := b.item(id)
	if i == nil {
		return claimText{}, unknown(id)
	}
	if !i.pending() {
		return claimText{}, refuse(ErrSettled, "%s", i.Entry.settled())
	}
	text, found, err := b.claim(i)
	if err != nil {
		return text, err
	}
	if !found {
		return text, unknown(id)
	}
	if err := b.Router.May(who, text.claim(i.Entry.DecisionID), i.Entry.Plan.Route); err != nil {
		return text, refuse(ErrIneligible, "%s", err)
	}
	return text, nil
}

func unknown(id string) error {
	return refuse(ErrUnknown, "there is no approval %s; if there was, it was resolved long ago", id)
}

func (s *state) answerable(id string, who Approver, now time.Time) (*item, error) {
	i := s.items[id]
	if i == nil {
		return nil, unknown(id)
	}
	e := &i.Entry
	if !i.pending() {
		return nil, refuse(ErrSettled, "%s", e.settled())
	}
	if !now.Before(e.Expires) {
		return nil, refuse(ErrSettled, "approval %s expired at %s", id, e.Expires.Format(time.RFC3339))
	}
	if slices.ContainsFunc(e.Votes, func(v Vote) bool { return v.name() == who.Name() }) {
		return nil, refuse(ErrVoted, "%s has answered approval %s already: %s", who.Name(), id, e.Message)
	}
	return i, nil
}

// vote is a verdict that fits what is offered.
func (e *Entry) vote(who Approver, v Verdict, now time.Time) (Vote, error) {
	vote := Vote{Person: who.Person, Credential: who.Credential, Channel: who.Channel, Approve: v.Approve, Reason: v.Reason, At: now}
	if !v.Approve {
		return vote, nil
	}
	vote.Scope = v.Scope
	if v.Scope == "" {
		vote.Scope = e.Scopes[0]
	}
	if !slices.Contains(e.Scopes, vote.Scope) {
		return vote, refuse(ErrScope, "approval %s offers scope %s, not %q", e.ID, strings.Join(e.Scopes, ", "), v.Scope)
	}
	return vote, nil
}

func (v *Vote) name() string {
	return Approver{Person: v.Person, Credential: v.Credential}.Name()
}

func (v *Vote) says() string {
	if v.Approve {
		return "yes, " + v.Scope
	}
	return "no"
}

// terms says what a grant of a claim is like. The texts of its pairs are for
// people; it covers by their hashes.
func (t claimText) terms() Grant {
	s := t.Request.Session
	g := Grant{Caller: t.Caller, Platform: s.Platform, Session: s.ID, User: s.UserID, Backend: t.Decision.Backend.Name, Pairs: t.claim("").Pairs()}
	for n, p := range g.Pairs {
		g.Pairs[n] = bailiff.Pair{Rule: cut(p.Rule), Match: cut(p.Match)}
	}
	return g
}

// count adds a vote to an item and settles it if that was decisive.
func (i *item) count(v Vote, terms Grant, now time.Time) step {
	e := &i.Entry
	e.Votes = append(e.Votes, v)
	e.Message = e.waiting()
	t := step{items: []*item{i}, events: []bailiff.Event{e.event(fmt.Sprintf("vote: %s says %s%s", v.name(), v.says(), because(v.Reason)))}}
	switch {
	case !v.Approve:
		i.settle(&t, bailiff.ApprovalDenied, "denied", fmt.Sprintf("denied by %s%s", v.name(), because(v.Reason)), now)
	case len(e.Votes) >= e.Plan.Quorum:
		h := i.grant(terms, now)
		t.grants = append(t.grants, h)
		i.settle(&t, bailiff.ApprovalApproved, "approved", fmt.Sprintf("approved by %s, %s", h.Grant.By, h.Grant.lasts()), now)
	}
	return t
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// grant makes what the votes leave behind.
func (i *item) grant(g Grant, now time.Time) *held {
	e := &i.Entry
	g.ID, g.ApprovalID, g.Created = newID("g"), e.ID, now
	g.Scope = e.narrowest()
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
	e.Scope, e.GrantID, e.GrantExpires = h.Grant.Scope, h.Grant.ID, h.Grant.Expires
	return h
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
	switch g.Scope {
	case bailiff.ScopeOnce:
		return "once, until " + g.Expires.Format(time.RFC3339)
	case bailiff.ScopeSession:
		return "for this session until " + g.Expires.Format(time.RFC3339)
	}
	return "for this user until it is revoked"
}

// Revoke ends a grant. The error is [ErrUnknown] or [ErrStore].
func (b *Book) Revoke(ctx context.Context, id string, who Approver) (Grant, error) {
	var revoked Grant
	err := b.do(ctx, func(s *state, now time.Time) (step, error) {
		h := s.grants[id]
		if h == nil || !h.live(now) {
			return step{}, refuse(ErrUnknown, "there is no grant %s; it may have been used, have ended or been revoked", id)
		}
		revoked = h.Grant
		return step{ended: []*held{h}, events: []bailiff.Event{h.event(fmt.Sprintf("revoked: grant %s by %s (%s)", id, who.Name(), who.Via()))}}, nil
	})
	if err != nil {
		return Grant{}, err
	}
	return revoked, nil
}
