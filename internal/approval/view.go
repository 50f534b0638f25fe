package approval

import (
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// shown is what a book shows, as its store changes it.
type shown struct{ *Book }

var _ state.View = shown{}

// Show lets readers, watchers and waiters see a step that is durable.
func (b shown) Show(t state.Step) {
	b.mu.Lock()
	t, woken, grants := b.seen.Show(t)
	for _, id := range woken {
		b.wake(id)
	}
	b.mu.Unlock()
	t.Tell(b.config.Observer)
	if grants >= 0 {
		b.config.Observer.GrantsActive(grants)
	}
	b.changes.Tell(t.Changes)
}

// ShowAnew shows what the store holds, and tells of what differs from what was shown before.
func (b shown) ShowAnew(s *state.State, elsewhere bool) {
	b.mu.Lock()
	before := b.seen
	b.seen = s
	for id := range b.waiting {
		if i := s.Item(id); i == nil || !i.Pending() {
			b.wake(id)
		}
	}
	b.mu.Unlock()
	opened, ended := s.Since(before)
	for _, i := range opened {
		b.config.Observer.ApprovalOpened(i.Entry.Request.Session.Platform)
	}
	for _, i := range ended {
		b.ended(i, elsewhere)
	}
	b.config.Observer.GrantsActive(len(s.AllGrants()))
	b.changes.Tell(func() []api.Change { return []api.Change{{Lost: true}} })
}

// ended counts an approval that is no longer pending.
func (b shown) ended(i *state.Item, elsewhere bool) {
	if elsewhere {
		b.config.Observer.ApprovalEndedElsewhere(i.Entry.Request.Session.Platform)
		return
	}
	state.Resolution(i, string(i.Entry.State))(b.config.Observer)
}

// Look looks at what is shown, which does not change meanwhile.
func (b shown) Look(at func(s *state.State)) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	at(b.seen)
}
