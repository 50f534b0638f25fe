package state

import (
	"maps"
	"slices"
	"time"
)

// Decide says what is to be done about a state, or why nothing is. It changes
// nothing itself.
type Decide func(s *State, now time.Time) (Step, error)

// Need is the part of the state that a step looks at. Freezes are part of each.
type Need struct {
	// Digest is of the claim whose pending approval and whose grant of scope once are looked at.
	Digest string
	// Owners are those whose wider grants are.
	Owners []Owner
	// Holders are those whose pending approvals are counted, in which one more may be.
	Holders []Holder
	// Items are approvals, with the grants that they left.
	Items []string
	// Grants are grants by their ids.
	Grants []string
	// Uses says that the grants may be used up.
	Uses bool
	// Pending are all pending approvals, All is each grant too.
	Pending, All bool
	// Freezes says that freezes change.
	Freezes bool
	// Ended are those whose time is over.
	Ended bool
}

// Stamps are times of events, of which each is later than the one before.
type Stamps struct{ last time.Time }

// Next returns a time that no event had before.
func (s *Stamps) Next(now time.Time) time.Time {
	if !now.After(s.last) {
		now = s.last.Add(1)
	}
	s.last = now
	return now
}

// Deadline is when the next approval or grant ends by itself; zero if none does.
type Deadline struct{ At time.Time }

// Plan takes in a step.
func (d *Deadline) Plan(t Step) {
	for _, i := range t.Items {
		if i.Pending() {
			d.due(i.Entry.Expires)
		}
	}
	for _, h := range t.Grants {
		d.due(h.Grant.Expires)
	}
}

func (d *Deadline) due(at time.Time) {
	if !at.IsZero() && (d.At.IsZero() || at.Before(d.At)) {
		d.At = at
	}
}

// newer is a step without what is older than the state: steps of one process may be shown in
// another order than they were written.
func (s *State) newer(t Step) Step {
	t.Items = slices.DeleteFunc(slices.Clone(t.Items), func(i *Item) bool {
		was := s.items[i.Entry.ID]
		return was != nil && was.Version > i.Version
	})
	t.Grants = slices.DeleteFunc(slices.Clone(t.Grants), func(h *Held) bool {
		was := s.grants[h.Grant.ID]
		return was != nil && was.Version > h.Version
	})
	return t
}

// NewPart is the part of a state that a step needs. What is loaded into it is all that the step may look at.
func NewPart(n *Need) *State {
	s := New()
	s.part = n
	return s
}

// Load takes an approval in that a store has, whose number is none that is given out next.
func (s *State) Load(i *Item) {
	before := s.seq
	s.putItem(i)
	s.seq = before
}

// SetNext says which number the next approval gets.
func (s *State) SetNext(seq uint64) { s.seq = seq - 1 }

// SetCount says how many approvals of a holder are pending.
func (s *State) SetCount(h Holder, n int) { s.counts[h] = n }

// Deadline is when the next approval or grant of a state ends by itself.
func (s *State) Deadline() (d Deadline) {
	d.Plan(Step{Items: slices.Collect(maps.Values(s.pending)), Grants: slices.Collect(maps.Values(s.grants))})
	return d
}

// AllFreezes are the freezes, in no order.
func (s *State) AllFreezes() []Freeze { return slices.Collect(maps.Values(s.freezes)) }
