package state

import (
	"fmt"
	"slices"
)

// Outside is what a step panics with that looks at what it did not say it needs: what was not
// loaded would look as if it were not there.
type Outside string

func (o Outside) Error() string { return "a step looked at what it did not load: " + string(o) }

// looks panics if what is looked at is not part of the state.
func (s *State) looks(within func(*Need) bool, at string) {
	if s.part != nil && !within(s.part) {
		panic(Outside(at))
	}
}

// Item is an approval by its id.
func (s *State) Item(id string) *Item {
	s.looks(func(n *Need) bool { return slices.Contains(n.Items, id) }, "approval "+id)
	return s.items[id]
}

// pendingOf is the pending approval of a digest.
func (s *State) pendingOf(digest string) *Item {
	s.looks(func(n *Need) bool { return n.Digest == digest && n.Holders != nil }, "what is pending of a digest")
	return s.pending[digest]
}

// onceOf is the grant of scope once of a digest.
func (s *State) onceOf(digest string) *Held {
	s.looks(func(n *Need) bool { return n.Digest == digest }, "the grant of a digest")
	return s.once[digest]
}

// ownedBy are the wider grants of an owner.
func (s *State) ownedBy(o Owner) []*Held {
	s.looks(func(n *Need) bool { return slices.Contains(n.Owners, o) }, fmt.Sprintf("the grants of %v", o))
	return s.owned[o]
}

// countOf is how many approvals of a holder are pending.
func (s *State) countOf(h Holder) int {
	s.looks(func(n *Need) bool { return slices.Contains(n.Holders, h) }, fmt.Sprintf("the approvals of %v", h))
	return s.counts[h]
}

// grant is a grant by its id.
func (s *State) grant(id string) *Held {
	s.looks(func(n *Need) bool { return slices.Contains(n.Grants, id) }, "grant "+id)
	return s.grants[id]
}

// grantLeft is the grant that an approval left, if it is there still.
func (s *State) grantLeft(i *Item) *Held {
	s.looks(func(n *Need) bool { return slices.Contains(n.Items, i.Entry.ID) }, "the grant of approval "+i.Entry.ID)
	return s.grants[i.Entry.GrantID]
}

// grantOf is the grant of an approval that is not kept any more.
func (s *State) grantOf(approval string) *Held {
	s.looks(func(n *Need) bool { return slices.Contains(n.Items, approval) }, "the grant of approval "+approval)
	for _, h := range s.grants {
		if h.Grant.ApprovalID == approval {
			return h
		}
	}
	return nil
}

// AllGrants are the grants, in no order.
func (s *State) AllGrants() map[string]*Held {
	s.looks(func(n *Need) bool { return n.All || n.Ended }, "all grants")
	return s.grants
}

// Need is the part of the state that says whether grants cover a claim, or whether one more
// question of it may be asked for those holders.
func (w Wanted) Need(holders []Holder) Need {
	return Need{Digest: w.digest, Owners: w.owners(), Holders: holders}
}
