package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Ask opens an approval, or joins the pending one of the same claim. If no approver
// could answer, or the session is frozen, it ends at once. If grants cover the
// claim by now, it is approved already. Its error is [ErrStore] or [ErrUnreachable],
// or says that too much is pending already.
func (b *Book) Ask(ctx context.Context, c bailiff.Claim) (bailiff.Approval, error) {
	replans := b.replans.Load()
	plan, err := b.config.Router.Plan(c)
	var nobody *Unanswerable
	if err != nil && !errors.As(err, &nobody) {
		return bailiff.Approval{}, fmt.Errorf("planning an approval: %w", err)
	}
	q, err := b.question(c, plan)
	if err != nil {
		return bailiff.Approval{}, err
	}
	var unreachable error
	if nobody != nil {
		q.wanted.way = nil
	} else if err := b.config.Reachable(plan); err != nil {
		unreachable = fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	var a bailiff.Approval
	err = b.storage.do(ctx, q.wanted.need(holders(&q.entry)), func(s *state, now time.Time) (step, error) {
		if b.replans.Load() != replans {
			return step{}, errReplanned
		}
		if covering := s.cover(q.wanted, now); covering != nil {
			a = redeemed(covering)
			return step{}, nil
		}
		var t step
		if i := s.pendingOf(q.entry.Digest); i != nil {
			if now.Before(i.Entry.Expires) {
				a = i.Entry.approval()
				t.hold(i, q.entry.HeldUntil)
				return t, nil
			}
			t.expire(i, now)
		}
		if unreachable != nil {
			return t, unreachable
		}
		i := q.open(s, now)
		err := b.opening(&t, s, i, nobody, now)
		a = i.Entry.approval()
		t.claims = []stored{{i.Seq, q.text}}
		return t, err
	})
	switch {
	case errors.Is(err, errReplanned):
		return b.Ask(ctx, c)
	case errors.Is(err, errFull):
		b.refused(c, err)
	case errors.Is(err, ErrUnreachable):
		b.config.Observer.ApprovalRefused(c.Request.Session.Platform, string(bailiff.ApprovalUnreachable))
	}
	if err != nil {
		return bailiff.Approval{}, err
	}
	if a.State == bailiff.ApprovalApproved {
		b.storage.refresh() // its grants may have been made right before, and not be shown here yet
	}
	return a, nil
}

// heldLater is by how much a later connection must wait longer to be noted, so that not each one that joins
// rewrites the approval.
const heldLater = 10 * time.Second

// hold notes that another connection waits for the answer, and for longer.
func (t *step) hold(i *item, until time.Time) {
	if until.After(i.Entry.HeldUntil.Add(heldLater)) {
		i = i.copy()
		i.Entry.HeldUntil = until
		t.items = append(t.items, i)
	}
}

// refused tells of a question that is not kept, which leaves no trace otherwise;
// the log is told once a second at most.
func (b *Book) refused(c bailiff.Claim, why error) {
	b.config.Observer.ApprovalRefused(c.Request.Session.Platform, "refused")
	now, last := time.Now().UnixNano(), b.complained.Load()
	if now-last >= int64(time.Second) && b.complained.CompareAndSwap(last, now) {
		b.config.Log.Warn("a question to people was refused", "request_id", c.Request.ID, "decision_id", c.DecisionID, "trace_id",
			c.TraceID, "reason", why.Error())
	}
}

// question is a claim made ready to be put to people.
type question struct {
	wanted wanted
	entry  entry
	text   []byte
	// grantFor is how long a grant is to last.
	grantFor time.Duration
}

func (b *Book) question(c bailiff.Claim, p api.Plan) (*question, error) {
	claim, err := textOf(c, b.config.Scrub)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(claim)
	if err != nil {
		return nil, fmt.Errorf("writing a claim: %w", err)
	}
	q := &question{wanted: want(c).by(p, c.Decision.Approval), text: text}
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
	return q, nil
}

// scopes are those that may be granted, from the narrowest: what the decision
// offers, but only once where a reason does not say what part of the request it
// found, and no wider than the session or user is named.
func (w wanted) scopes(terms *bailiff.ApprovalTerms) []string {
	if terms == nil {
		return []string{bailiff.ScopeOnce}
	}
	offered := []string{}
	for scope, possible := range map[string]bool{
		bailiff.ScopeOnce: true, bailiff.ScopeSession: w.whole && w.session.ID != "", bailiff.ScopeAlways: w.whole &&
			w.session.UserID != "",
	} {
		if possible && slices.Contains(terms.Scopes, scope) {
			offered = append(offered, scope)
		}
	}
	if len(offered) == 0 {
		return []string{bailiff.ScopeOnce}
	}
	slices.SortFunc(offered, func(x, y string) int { return cmp.Compare(width(x), width(y)) })
	return offered
}

func width(scope string) int {
	return slices.Index([]string{bailiff.ScopeOnce, bailiff.ScopeSession, bailiff.ScopeAlways}, scope)
}

// open makes an item with an id of its own.
func (q *question) open(s *state, now time.Time) *item {
	i := &item{Seq: s.seq + 1, Entry: q.entry, Pairs: q.wanted.pairs, GrantFor: q.grantFor}
	e := &i.Entry
	for e.ID = newID("a"); s.items[e.ID] != nil; {
		e.ID = newID("a")
	}
	e.Created, e.Expires = now, now.Add(e.Plan.Timeout)
	return i
}

// newID returns an id that people can read to each other.
func newID(kind string) string { return kind + "-" + strings.ToLower(rand.Text()[:10]) }

// opening adds what opens an item to a step, and ends it where it must.
func (b *Book) opening(t *step, s *state, i *item, nobody *Unanswerable, now time.Time) error {
	e := &i.Entry
	platform := e.Request.Session.Platform
	if nobody == nil {
		e.Message = e.waiting()
	}
	t.items, t.events = append(t.items, i), append(t.events, e.event("asked: "+e.about()))
	t.told = append(t.told, func(o Observer) { o.ApprovalOpened(platform) })
	f, frozen := s.frozen(e.Request.Session)
	switch {
	case frozen:
		i.settle(t, bailiff.ApprovalCancelled, "cancelled", f.says(), now)
	case nobody != nil:
		i.settle(t, bailiff.ApprovalExpired, "unanswerable", b.scrub(nobody.Reason), now)
	default:
		return b.room(s, e)
	}
	return nil
}

// room is nil if one more approval may be pending.
func (b *Book) room(s *state, e *entry) error {
	names := [...]string{e.Caller, e.Request.Session.ID, e.Request.Session.UserID}
	for n, limit := range [...]int{b.config.Caps.Caller, b.config.Caps.Session, b.config.Caps.User} {
		if h := holders(e)[n]; names[n] != "" && s.countOf(h) >= limit { // an unnamed requester has no cap of its own
			return refuse(errFull, "%s %q has %d approvals pending, and more are not kept: wait until some are answered or expire",
				h.kind, names[n], limit)
		}
	}
	return nil
}
