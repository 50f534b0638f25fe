package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// use counts a use of grants; one that was used for the last time is no more.
func use(covering []*Held, now time.Time, e api.Event) Step {
	t := Step{Events: []api.Event{e}}
	for _, h := range covering {
		h := &Held{h.Grant, h.Pairs, h.Rules, h.DecisionID, h.Version}
		h.Grant.Uses, h.Grant.LastUsed = h.Grant.Uses+1, now
		if h.Grant.isLast() {
			t.Ended = append(t.Ended, h)
		} else {
			t.Grants = append(t.Grants, h)
		}
	}
	return t
}

// redeemed is the approval by which a request runs, told from the grants.
func redeemed(covering []*Held) bailiff.Approval {
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

// voidGrant ends the grant of an approval that is not kept any more.
func (s *State) voidGrant(approval string) (Step, error) {
	h := s.grantOf(approval)
	if h == nil {
		return Step{}, Unknown(approval)
	}
	return Step{Ended: []*Held{h}, Events: []api.Event{h.event("void: what would run is no longer what was approved")}}, nil
}

// Revoke ends a grant.
func (s *State) Revoke(id string, who bailiff.Approver, now time.Time) (t Step, revoked api.Grant, err error) {
	h := s.grant(id)
	if h == nil || !h.live(now) {
		return t, revoked, Refuse(api.ErrUnknown, "there is no grant %s; it may have been used, have ended or been revoked", id)
	}
	return Step{Ended: []*Held{h}, Events: []api.Event{h.event(fmt.Sprintf("revoked: grant %s by %s (%s)", id, who.Name(),
		who.Via()))}}, api.Grant(h.Grant), nil
}

// used says whether grants cover a claim, by which approval it runs, and whether by a pattern.
type used struct {
	IsGranted bool
	By        bailiff.Approval
	ByPattern bool
}

// Redeem uses the grants that cover a claim, if any do.
func (s *State) Redeem(w Wanted, c bailiff.Claim, requestID string, now time.Time) (t Step, u used) {
	covering := s.Cover(w, now)
	if covering == nil {
		return t, u
	}
	u = used{IsGranted: true, By: redeemed(covering)}
	u.ByPattern = slices.ContainsFunc(covering, func(h *Held) bool { return h.Grant.Match != "" })
	return use(covering, now, api.Event{DecisionID: c.DecisionID, RequestedBy: c.Request.Caller, Custom: api.Custom{
		Event: api.ApprovalEvent, RequestID: requestID, Session: c.Request.Session.ID,
		Agent: c.Request.Session.Agent, Message: "redeemed: " + u.By.Message,
		Approval: &u.By,
	}}), u
}

// Void takes an approval back, with the grant that it left.
func (s *State) Void(id, reason string, now time.Time) (Step, error) {
	i := s.Item(id)
	if i == nil {
		return s.voidGrant(id)
	}
	h := s.grantLeft(i)
	if i.Pending() {
		return Step{}, fmt.Errorf("approval %s is pending, so there is nothing to take back", id)
	}
	if i.Entry.State != bailiff.ApprovalApproved || h == nil {
		return Step{}, Refuse(api.ErrSettled, "%s", i.Entry.WhyClosed())
	}
	i = i.copy()
	t := Step{Items: []*Item{i}, Ended: []*Held{h}}
	i.settle(&t, bailiff.ApprovalVoid, "void", reason, now)
	return t, nil
}

// Withdraw cancels what a session that has ended still asks.
func (s *State) Withdraw(caller, session string, now time.Time) (t Step) {
	for _, i := range s.PendingInOrder() {
		if i.Entry.Caller == caller && i.Entry.Request.Session.ID == session {
			i = i.copy()
			t.Items = append(t.Items, i)
			i.settle(&t, bailiff.ApprovalCancelled, "cancelled", "the session that asked has ended", now)
		}
	}
	return t
}

// Unreachable ends a pending approval that could be put to no approver.
func (s *State) Unreachable(id, reason string, now time.Time) (Step, error) {
	i, err := s.answerable(id, now)
	if err != nil {
		return Step{}, err
	}
	i = i.copy()
	t := Step{Items: []*Item{i}}
	i.settle(&t, bailiff.ApprovalUnreachable, string(bailiff.ApprovalUnreachable), reason, now)
	return t, nil
}
