package approval

import (
	"context"
	"slices"
	"time"
)

// decide says what is to be done about a state, or why nothing is. It changes
// nothing itself.
type decide func(s *state, now time.Time) (step, error)

// storage is where what a book knows is kept.
type storage interface {
	// start begins what goes on until close.
	start()
	// do has a step decided on the part of the state that it needs, and returns when what
	// comes of it is durable and shown.
	do(ctx context.Context, n need, d decide) error
	// sweep ends what has run out of time.
	sweep(ctx context.Context) error
	// claim reads the text of a claim; found says whether there is one still.
	claim(seq uint64) (text claimText, found bool, err error)
	// refresh shows what others have written until now.
	refresh()
	// confirm returns once freezes are in force wherever this book is; silent are the replicas
	// of which that is not known, which start nothing new.
	confirm(ctx context.Context) (silent []string, err error)
	// now is the time by the clock that deadlines go by.
	now() time.Time
	// err is why nothing may be granted; nil if that is not so.
	err() error
	// close returns once all that is waited for was decided.
	close() error
}

// need is the part of the state that a step looks at. Freezes are part of each.
type need struct {
	// digest is of the claim whose pending approval and whose grant of scope once are looked at.
	digest string
	// owners are those whose wider grants are.
	owners []owner
	// holders are those whose pending approvals are counted, in which one more may be.
	holders []holder
	// items are approvals, with the grants that they left.
	items []string
	// grants are grants by their ids.
	grants []string
	// uses says that the grants may be used up.
	uses bool
	// pending are all pending approvals, all is each grant too.
	pending, all bool
	// freezes says that freezes change.
	freezes bool
	// ended are those whose time is over.
	ended bool
}

// stamps are times of events, of which each is later than the one before.
type stamps struct{ last time.Time }

// next returns a time that no event had before.
func (s *stamps) next(now time.Time) time.Time {
	if !now.After(s.last) {
		now = s.last.Add(1)
	}
	s.last = now
	return now
}

// deadline is when the next approval or grant ends by itself; zero if none does.
type deadline struct{ at time.Time }

// plan takes in a step.
func (d *deadline) plan(t step) {
	for _, i := range t.items {
		if i.pending() {
			d.due(i.Entry.Expires)
		}
	}
	for _, h := range t.grants {
		d.due(h.Grant.Expires)
	}
}

func (d *deadline) due(at time.Time) {
	if !at.IsZero() && (d.at.IsZero() || at.Before(d.at)) {
		d.at = at
	}
}

// show lets readers, watchers and waiters see a step that is durable.
func (b *Book) show(t step) {
	b.mu.Lock()
	t = b.seen.newer(t)
	b.seen.apply(t)
	grants := len(b.seen.grants)
	for _, i := range t.items {
		if !i.pending() {
			b.wake(i.Entry.ID)
		}
	}
	b.mu.Unlock()
	for _, tell := range t.told {
		tell(b.config.Observer)
	}
	if len(t.grants)+len(t.ended) > 0 {
		b.config.Observer.GrantsActive(grants)
	}
	b.changes.Tell(t.changes)
}

// newer is a step without what is older than the state: steps of one process may be shown in
// another order than they were written.
func (s *state) newer(t step) step {
	t.items = slices.DeleteFunc(slices.Clone(t.items), func(i *item) bool {
		was := s.items[i.Entry.ID]
		return was != nil && was.version > i.version
	})
	t.grants = slices.DeleteFunc(slices.Clone(t.grants), func(h *held) bool {
		was := s.grants[h.Grant.ID]
		return was != nil && was.version > h.version
	})
	return t
}
