package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Poll is what a new answer finds: people and routes may have changed since the
// approval was asked for and the earlier votes were given.
type Poll struct {
	Text ClaimText
	// Plan is how the claim would go to people now; of no weight for a no.
	Plan api.Plan
	// Barred says by their credentials who voted and may no longer answer, and why.
	Barred map[string]error
}

// update brings an item up to date: votes of those who may no longer answer are
// dropped, and if more people are needed by now, so many are.
func (p Poll) update(i *Item) (t Step) {
	e := &i.Entry
	for _, v := range e.Votes {
		if why := p.Barred[v.Credential]; why != nil {
			t.Events = append(t.Events, e.event(fmt.Sprintf("dropped: the vote of %s: %s", nameOf(v), why)))
		}
	}
	e.Votes = slices.DeleteFunc(e.Votes, func(v api.Vote) bool { return p.Barred[v.Credential] != nil })
	if p.Plan.Quorum > e.Plan.Quorum {
		e.Plan.Quorum, e.Plan.Approvers, e.Plan.Channels = p.Plan.Quorum, p.Plan.Approvers, p.Plan.Channels
	}
	if p.Plan.Proof != "" {
		e.Plan.Proof = p.Plan.Proof
	}
	return t
}

// Answer gives a person's verdict.
func (p Poll) Answer(s *State, id string, who bailiff.Approver, v bailiff.Verdict, now time.Time) (t Step, e api.Entry, err error) {
	i, err := s.answerable(id, now)
	if err != nil {
		return Step{}, e, err
	}
	claim := p.Text.Claim("")
	i = i.copy()
	t = p.update(i)
	vote, err := i.Entry.vote(who, v, i.GrantFor, now)
	if err == nil && v.Match != "" {
		err = i.Entry.CheckPattern(claim, v)
	}
	if err != nil {
		return Step{}, e, err
	}
	i.count(&t, vote, p.Text.terms(), func(h *Held) {
		if v.Match != "" {
			h.narrow(v.Match, claim, now)
		}
	}, now)
	return t, p.Text.Fill(i.Entry), nil
}

// NewPlan is a pending approval with its new plan, or why no approver could answer.
type NewPlan struct {
	Item   *Item
	Poll   Poll
	Nobody string
}

// apply adds a new plan to a step.
func (r NewPlan) apply(t *Step, now time.Time) {
	i := r.Item.copy()
	e := &i.Entry
	t.Items = append(t.Items, i)
	if r.Nobody != "" {
		i.settle(t, bailiff.ApprovalExpired, "unanswerable", r.Nobody, now)
		return
	}
	t.Events = append(t.Events, r.Poll.update(i).Events...)
	e.Plan = r.Poll.Plan
	e.Message = e.waiting()
	t.Events = append(t.Events, e.event("replanned: "+e.Message))
}

// Replan puts new plans into force. Again are the approvals that changed since they were planned.
func (s *State) Replan(all []NewPlan, now time.Time) (t Step, again []*Item) {
	for _, r := range all {
		switch i := s.Item(r.Item.Entry.ID); {
		case i == nil || !i.Pending():
		case !i.same(r.Item):
			again = append(again, i)
		default:
			r.apply(&t, now)
		}
	}
	return t, again
}
