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
)

// Covered says whether live grants cover a claim.
func (b *Book) Covered(c bailiff.Claim) bool { return b.Err() == nil && b.covered(want(c)) }

func (b *Book) covered(w wanted) bool {
	now := b.now()
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.seen.cover(w, now) != nil
}

// Redeem uses the grants that cover a claim, if any do. When it returns true,
// their use is on disk; a grant of scope once was there for the last time.
func (b *Book) Redeem(ctx context.Context, c bailiff.Claim) (a bailiff.Approval, granted bool, err error) {
	if err := b.Err(); err != nil {
		return bailiff.Approval{}, false, err
	}
	w := want(c)
	if !b.covered(w) {
		return bailiff.Approval{}, false, nil
	}
	var used bailiff.Approval
	err = b.do(ctx, func(s *state, now time.Time) (step, error) {
		covering := s.cover(w, now)
		if covering == nil {
			return step{}, nil
		}
		used, granted = redeemed(covering), true
		return use(covering, now, bailiff.Event{DecisionID: c.DecisionID, RequestedBy: c.Request.Caller, Custom: bailiff.Custom{
			Event: bailiff.ApprovalEvent, RequestID: b.scrub(c.Request.ID), Session: c.Request.Session.ID, Message: "redeemed: " + used.Message, Approval: &used,
		}}), nil
	})
	if err != nil {
		return bailiff.Approval{}, false, err
	}
	return used, granted, nil
}

// use counts a use of grants; one of scope once is no more.
func use(covering []*held, now time.Time, e bailiff.Event) step {
	t := step{events: []bailiff.Event{e}}
	for _, h := range covering {
		h := &held{h.Grant, h.Pairs, h.DecisionID}
		h.Grant.Uses, h.Grant.LastUsed = h.Grant.Uses+1, now
		if h.Grant.Scope == bailiff.ScopeOnce {
			t.ended = append(t.ended, h)
		} else {
			t.grants = append(t.grants, h)
		}
	}
	return t
}

// redeemed is the approval by which a request runs, told from the grants.
func redeemed(covering []*held) bailiff.Approval {
	g := &covering[0].Grant
	a := bailiff.Approval{ID: g.ApprovalID, State: bailiff.ApprovalApproved, Scope: g.Scope, ExpiresAt: g.Expires}
	var by, via, names []string
	for _, h := range covering {
		by, via, names = append(by, h.Grant.By), append(via, h.Grant.Via), append(names, h.Grant.ID)
	}
	a.By, a.Via = listed(by), listed(via)
	a.Message = fmt.Sprintf("%s approved this by grant %s of scope %s", a.By, strings.Join(names, ", "), g.Scope)
	return a
}

// listed joins names, each once.
func listed(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// Ask opens an approval, or joins the pending one of the same claim. If nobody
// could answer, or the session is frozen, it ends at once. If grants cover the
// claim by now, it is approved already. Its error is [*Full] or [ErrStore].
func (b *Book) Ask(ctx context.Context, c bailiff.Claim) (bailiff.Approval, error) {
	plan, err := b.Router.Plan(c)
	var nobody *Unanswerable
	if err != nil && !errors.As(err, &nobody) {
		return bailiff.Approval{}, fmt.Errorf("planning an approval: %w", err)
	}
	q, err := b.question(c, plan)
	if err != nil {
		return bailiff.Approval{}, err
	}
	var a bailiff.Approval
	err = b.do(ctx, func(s *state, now time.Time) (step, error) {
		if covering := s.cover(q.wanted, now); covering != nil {
			a = redeemed(covering)
			return step{}, nil
		}
		var t step
		if i := s.pending[q.entry.Digest]; i != nil {
			if now.Before(i.Entry.Expires) {
				a = i.Entry.approval()
				return step{}, nil
			}
			t.expire(i, now)
		}
		i := q.open(s, now)
		err := b.opening(&t, s, i, nobody, now)
		a = i.Entry.approval()
		t.claims = []stored{{i.Seq, q.text}}
		return t, err
	})
	if err != nil {
		return bailiff.Approval{}, err
	}
	return a, nil
}

// question is a claim made ready to be put to people.
type question struct {
	wanted wanted
	entry  Entry
	text   []byte
	// grantFor is how long a grant is to last.
	grantFor time.Duration
}

func (b *Book) question(c bailiff.Claim, p Plan) (*question, error) {
	claim, err := textOf(c, b.Scrub)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(claim)
	if err != nil {
		return nil, fmt.Errorf("writing a claim: %w", err)
	}
	q := &question{wanted: want(c), text: text}
	e := &q.entry
	claim.shorten(e)
	e.State, e.Digest, e.DecisionID = bailiff.ApprovalPending, q.wanted.digest, c.DecisionID
	e.Plan, e.Scopes, e.Votes = p, q.wanted.scopes(c.Decision.Approval), []Vote{}
	e.Plan.Approvers, e.Plan.Channels = append([]string{}, p.Approvers...), append([]string{}, p.Channels...)
	e.Plan.Quorum = max(1, p.Quorum)
	if terms := c.Decision.Approval; terms != nil {
		e.Plan.Quorum = max(e.Plan.Quorum, terms.Quorum)
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
		bailiff.ScopeOnce: true, bailiff.ScopeSession: w.whole && w.session.ID != "", bailiff.ScopeAlways: w.whole && w.session.UserID != "",
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
func (b *Book) room(s *state, e *Entry) error {
	names := [...]string{e.Caller, e.Request.Session.ID, e.Request.Session.UserID}
	for n, limit := range [...]int{b.Caps.Caller, b.Caps.Session, b.Caps.User} {
		if h := holders(e)[n]; s.counts[h] >= limit {
			return &Full{h.kind, names[n], limit}
		}
	}
	return nil
}

// settle ends an item of a step that is being made.
func (i *item) settle(t *step, state bailiff.ApprovalState, resolution, message string, now time.Time) {
	e := &i.Entry
	e.State, e.Resolved, e.Message = state, now, message
	t.events = append(t.events, e.event(resolution+": "+message))
	t.told = append(t.told, resolved(i, resolution))
}

func resolved(i *item, resolution string) func(Observer) {
	e := &i.Entry
	return func(o Observer) {
		o.ApprovalResolved(e.Request.Session.Platform, resolution, e.Scope, e.Resolved.Sub(e.Created))
	}
}

func (b *Book) scrub(text string) string {
	if b.Scrub == nil {
		return text
	}
	return string(b.Scrub([]byte(text)))
}

// Void takes an approval back because what would run is no longer what was
// approved. The grant that it left goes; if there is none any more, the error is
// [ErrSettled].
func (b *Book) Void(ctx context.Context, id, reason string) error {
	reason = b.scrub(reason)
	return b.do(ctx, func(s *state, now time.Time) (step, error) {
		i := s.items[id]
		if i == nil {
			return s.voidGrant(id)
		}
		h := s.grants[i.Entry.GrantID]
		if i.pending() {
			return step{}, fmt.Errorf("approval %s is pending, so there is nothing to take back", id)
		}
		if i.Entry.State != bailiff.ApprovalApproved || h == nil {
			return step{}, refuse(ErrSettled, "%s", i.Entry.settled())
		}
		i = i.copy()
		t := step{items: []*item{i}, ended: []*held{h}}
		i.settle(&t, bailiff.ApprovalVoid, "void", reason, now)
		return t, nil
	})
}

// voidGrant ends the grant of an approval that is not kept any more.
func (s *state) voidGrant(approval string) (step, error) {
	for _, h := range s.grants {
		if h.Grant.ApprovalID == approval {
			return step{ended: []*held{h}, events: []bailiff.Event{h.event("void: what would run is no longer what was approved")}}, nil
		}
	}
	return step{}, unknown(approval)
}

// sweep ends what has run out of time.
func (b *Book) sweep(s *state, now time.Time) (step, error) {
	var t step
	b.deadline = time.Time{}
	for _, i := range s.pendingInOrder() {
		if now.Before(i.Entry.Expires) {
			b.due(i.Entry.Expires)
			continue
		}
		t.expire(i, now)
	}
	for _, h := range s.grants {
		if h.live(now) {
			b.due(h.Grant.Expires)
			continue
		}
		t.ended = append(t.ended, h)
		t.events = append(t.events, h.event(fmt.Sprintf("lapsed: grant %s of scope %s ended after %d uses", h.Grant.ID, h.Grant.Scope, h.Grant.Uses)))
	}
	return t, nil
}

func (t *step) expire(i *item, now time.Time) {
	i = i.copy()
	t.items = append(t.items, i)
	i.settle(t, bailiff.ApprovalExpired, "expired", fmt.Sprintf("nobody answered within %s", i.Entry.Expires.Sub(i.Entry.Created)), now)
}

func (i *item) copy() *item {
	c := *i
	c.Entry.Votes = slices.Clone(i.Entry.Votes)
	return &c
}

const (
	// keepResolved and keepFor are how many resolved approvals are kept and for
	// how long.
	keepResolved = 1000
	keepFor      = 7 * 24 * time.Hour
)

// prune forgets what was resolved long ago.
func (b *Book) prune(now time.Time) step {
	var t step
	old := now.Add(-keepFor)
	for n, i := range b.ahead.resolved {
		if len(b.ahead.resolved)-n <= keepResolved && !i.Entry.Resolved.Before(old) {
			break
		}
		t.pruned = append(t.pruned, i)
	}
	return t
}
