package approval

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Covered says whether live grants cover a claim.
func (b *Book) Covered(c bailiff.Claim) bool {
	if b.Err() != nil {
		return false
	}
	_, covered := b.covered(c)
	return covered
}

// covered returns what is wanted of a claim too. The router is asked only if
// there is a grant that might cover it.
func (b *Book) covered(c bailiff.Claim) (w wanted, covered bool) {
	w = want(c)
	if !b.reads(func(s *state) bool { return s.any(w) }) {
		return w, false
	}
	plan, err := b.config.Router.Plan(c)
	if err != nil {
		return w, false // what would go to no approver is asked anew, which says why
	}
	w, now := w.by(plan, c.Decision.Approval), b.storage.now()
	return w, b.reads(func(s *state) bool { return s.cover(w, now) != nil })
}

// reads asks something of what is on disk.
func (b *Book) reads(ask func(*state) bool) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return ask(b.seen)
}

// Redeem uses the grants that cover a claim, if any do. When it returns true,
// their use is on disk; a grant of scope once was there for the last time.
func (b *Book) Redeem(ctx context.Context, c bailiff.Claim) (a bailiff.Approval, granted bool, err error) {
	if err := b.Err(); err != nil {
		return bailiff.Approval{}, false, err
	}
	w, covered := b.covered(c)
	if !covered {
		b.storage.refresh()
		w, covered = b.covered(c)
	}
	if !covered {
		return bailiff.Approval{}, false, nil
	}
	var used bailiff.Approval
	byPattern := false
	n := w.need(nil)
	n.uses = true
	err = b.storage.do(ctx, n, func(s *state, now time.Time) (step, error) {
		covering := s.cover(w, now)
		if granted = covering != nil; !granted {
			return step{}, nil
		}
		used = redeemed(covering)
		byPattern = slices.ContainsFunc(covering, func(h *held) bool { return h.Grant.Match != "" })
		return use(covering, now, api.Event{DecisionID: c.DecisionID, RequestedBy: c.Request.Caller, Custom: api.Custom{
			Event: api.ApprovalEvent, RequestID: b.scrub(c.Request.ID), Session: c.Request.Session.ID, Message: "redeemed: " + used.Message,
			Approval: &used,
		}}), nil
	})
	if err != nil {
		return bailiff.Approval{}, false, err
	}
	if byPattern {
		b.config.Observer.PatternUsed(c.Request.Session.Platform)
	}
	return used, granted, nil
}

// use counts a use of grants; one of scope once is no more.
func use(covering []*held, now time.Time, e api.Event) step {
	t := step{events: []api.Event{e}}
	for _, h := range covering {
		h := &held{h.Grant, h.Pairs, h.Rules, h.DecisionID, h.version}
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

// Void takes an approval back because what would run is no longer what was
// approved. The grant that it left goes; if there is none any more, the error is
// [ErrSettled].
func (b *Book) Void(ctx context.Context, id, reason string) error {
	reason = b.scrub(reason)
	return b.storage.do(ctx, need{items: []string{id}}, func(s *state, now time.Time) (step, error) {
		i := s.item(id)
		if i == nil {
			return s.voidGrant(id)
		}
		h := s.grantLeft(i)
		if i.pending() {
			return step{}, fmt.Errorf("approval %s is pending, so there is nothing to take back", id)
		}
		if i.Entry.State != bailiff.ApprovalApproved || h == nil {
			return step{}, refuse(api.ErrSettled, "%s", i.Entry.settled())
		}
		i = i.copy()
		t := step{items: []*item{i}, ended: []*held{h}}
		i.settle(&t, bailiff.ApprovalVoid, "void", reason, now)
		return t, nil
	})
}

// voidGrant ends the grant of an approval that is not kept any more.
func (s *state) voidGrant(approval string) (step, error) {
	h := s.grantOf(approval)
	if h == nil {
		return step{}, unknown(approval)
	}
	return step{ended: []*held{h}, events: []api.Event{h.event("void: what would run is no longer what was approved")}}, nil
}

// Withdraw takes back what a session that has ended still asks people: no request of it could
// use their answer any more.
func (b *Book) Withdraw(ctx context.Context, caller, session string) error {
	return b.storage.do(ctx, need{pending: true}, func(s *state, now time.Time) (step, error) {
		t := step{}
		for _, i := range s.pendingInOrder() {
			if i.Entry.Caller == caller && i.Entry.Request.Session.ID == session {
				i = i.copy()
				t.items = append(t.items, i)
				i.settle(&t, bailiff.ApprovalCancelled, "cancelled", "the session that asked has ended", now)
			}
		}
		return t, nil
	})
}
