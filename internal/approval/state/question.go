package state

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Question is a claim made ready to be put to people.
type Question struct {
	terms  AskTerms
	wanted Wanted
	entry  Entry
	text   []byte
	// grantFor is how long a grant is to last.
	grantFor time.Duration
}

// AskTerms are how a question may be asked.
type AskTerms struct {
	Caps Caps
	// Nobody is why no approver could answer; nil if one could.
	Nobody *Unanswerable
	// Unreachable is why it can be put to no approver now; nil if it can.
	Unreachable error
}

// Unanswerable is the error of a plan that no approver could answer.
type Unanswerable struct{ Reason string }

func (e *Unanswerable) Error() string { return e.Reason }

// NewQuestion makes a claim ready that would go to people by a plan.
func NewQuestion(c bailiff.Claim, p api.Plan, terms AskTerms, scrub func([]byte) []byte) (*Question, error) {
	claim, err := textOf(c, scrub)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(claim)
	if err != nil {
		return nil, fmt.Errorf("writing a claim: %w", err)
	}
	q := &Question{terms: terms, wanted: Want(c).By(p, c.Decision.Approval), text: text}
	e := &q.entry
	claim.shorten(e)
	e.HeldUntil = c.HeldUntil
	e.State, e.Digest, e.DecisionID, e.TraceID = bailiff.ApprovalPending, q.wanted.digest, c.DecisionID, c.TraceID
	e.Plan, e.Scopes, e.Votes = p, q.wanted.offered, []api.Vote{}
	e.Plan.Approvers, e.Plan.Channels = append([]string{}, p.Approvers...), append([]string{}, p.Channels...)
	e.Plan.Quorum = q.wanted.way.quorum
	if terms := c.Decision.Approval; terms != nil {
		q.grantFor = time.Duration(terms.GrantSeconds) * time.Second
	}
	if q.terms.Nobody != nil {
		q.wanted.way = nil
	}
	return q, nil
}

// Need is what is looked at to ask.
func (q *Question) Need() Need { return q.wanted.Need(Holders(&q.entry)) }

// Ask opens an approval, or joins the pending one of the same claim. If grants cover the claim by now, it is approved already.
func (q *Question) Ask(s *State, now time.Time) (t Step, a bailiff.Approval, err error) {
	if covering := s.Cover(q.wanted, now); covering != nil {
		return t, redeemed(covering), nil
	}
	if i := s.pendingOf(q.entry.Digest); i != nil {
		if now.Before(i.Entry.Expires) {
			t.hold(i, q.entry.HeldUntil)
			return t, i.Entry.approval(), nil
		}
		t.expire(i, now)
	}
	if q.terms.Unreachable != nil {
		return t, a, q.terms.Unreachable
	}
	i := q.open(s, now)
	err = q.opening(&t, s, i, now)
	t.Claims = []Stored{{i.Seq, q.text}}
	return t, i.Entry.approval(), err
}

// open makes an item with an id of its own.
func (q *Question) open(s *State, now time.Time) *Item {
	i := &Item{Seq: s.seq + 1, Entry: q.entry, Pairs: q.wanted.pairs, GrantFor: q.grantFor}
	e := &i.Entry
	for e.ID = newID("a"); s.items[e.ID] != nil; {
		e.ID = newID("a")
	}
	e.Created, e.Expires = now, now.Add(e.Plan.Timeout)
	return i
}

// opening adds what opens an item to a step, and ends it where it must.
func (q *Question) opening(t *Step, s *State, i *Item, now time.Time) error {
	e := &i.Entry
	platform := e.Request.Session.Platform
	if q.terms.Nobody == nil {
		e.Message = e.waiting()
	}
	t.Items, t.Events = append(t.Items, i), append(t.Events, e.event("asked: "+e.about()))
	t.told = append(t.told, func(o Observer) { o.ApprovalOpened(platform) })
	f, frozen := s.Frozen(e.Request.Session)
	switch {
	case frozen:
		i.settle(t, bailiff.ApprovalCancelled, "cancelled", f.Says(), now)
	case q.terms.Nobody != nil:
		i.settle(t, bailiff.ApprovalExpired, "unanswerable", q.terms.Nobody.Reason, now)
	default:
		return q.room(s, e)
	}
	return nil
}

// room is nil if one more approval may be pending.
func (q *Question) room(s *State, e *Entry) error {
	names := [...]string{e.Caller, e.Request.Session.ID, e.Request.Session.UserID}
	for n, limit := range [...]int{q.terms.Caps.Caller, q.terms.Caps.Session, q.terms.Caps.User} {
		if h := Holders(e)[n]; names[n] != "" && s.countOf(h) >= limit { // an unnamed requester has no cap of its own
			return Refuse(ErrFull, "%s %q has %d approvals pending, and more are not kept: wait until some are answered or expire",
				h.Kind, names[n], limit)
		}
	}
	return nil
}

// Caps are how many approvals may be pending for each caller, each session and each user.
type Caps struct{ Caller, Session, User int }
