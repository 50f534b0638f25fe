package approval

import (
	"fmt"
	"slices"
)

// outside is what a step panics with that looks at what it did not say it needs: what was not
// loaded would look as if it were not there.
type outside string

func (o outside) Error() string { return "a step looked at what it did not load: " + string(o) }

// looks panics if what is looked at is not part of the state.
func (s *state) looks(within func(*need) bool, at string) {
	if s.part != nil && !within(s.part) {
		panic(outside(at))
	}
}

// item is an approval by its id.
func (s *state) item(id string) *item {
	s.looks(func(n *need) bool { return slices.Contains(n.items, id) }, "approval "+id)
	return s.items[id]
}

// pendingOf is the pending approval of a digest.
func (s *state) pendingOf(digest string) *item {
	s.looks(func(n *need) bool { return n.digest == digest && n.holders != nil }, "what is pending of a digest")
	return s.pending[digest]
}

// onceOf is the grant of scope once of a digest.
func (s *state) onceOf(digest string) *held {
	s.looks(func(n *need) bool { return n.digest == digest }, "the grant of a digest")
	return s.once[digest]
}

// ownedBy are the wider grants of an owner.
func (s *state) ownedBy(o owner) []*held {
	s.looks(func(n *need) bool { return slices.Contains(n.owners, o) }, fmt.Sprintf("the grants of %v", o))
	return s.owned[o]
}

// countOf is how many approvals of a holder are pending.
func (s *state) countOf(h holder) int {
	s.looks(func(n *need) bool { return slices.Contains(n.holders, h) }, fmt.Sprintf("the approvals of %v", h))
	return s.counts[h]
}

// grant is a grant by its id.
func (s *state) grant(id string) *held {
	s.looks(func(n *need) bool { return slices.Contains(n.grants, id) }, "grant "+id)
	return s.grants[id]
}

// grantLeft is the grant that an approval left, if it is there still.
func (s *state) grantLeft(i *item) *held {
	s.looks(func(n *need) bool { return slices.Contains(n.items, i.Entry.ID) }, "the grant of approval "+i.Entry.ID)
	return s.grants[i.Entry.GrantID]
}

// grantOf is the grant of an approval that is not kept any more.
func (s *state) grantOf(approval string) *held {
	s.looks(func(n *need) bool { return slices.Contains(n.items, approval) }, "the grant of approval "+approval)
	for _, h := range s.grants {
		if h.Grant.ApprovalID == approval {
			return h
		}
	}
	return nil
}

// allGrants are the grants, in no order.
func (s *state) allGrants() map[string]*held {
	s.looks(func(n *need) bool { return n.all || n.ended }, "all grants")
	return s.grants
}

// need is the part of the state that says whether grants cover a claim, or whether one more
// question of it may be asked for those holders.
func (w wanted) need(holders []holder) need {
	return need{digest: w.digest, owners: w.owners(), holders: holders}
}
