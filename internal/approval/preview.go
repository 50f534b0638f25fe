package approval

import (
	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// previewed is how many requests a preview looks at.
const previewed = 200

// Preview says of how many of the user's last requests that were asked about a grant of a
// pattern would have let run. The error is [api.ErrUnknown] or [api.ErrScope].
func (b *Book) Preview(id, match string) (api.Preview, error) {
	i := b.item(id)
	if i == nil {
		return api.Preview{}, state.Unknown(id)
	}
	text, found, err := b.claim(i)
	if err != nil || !found {
		return api.Preview{}, state.Unknown(id)
	}
	c := text.Claim(i.Entry.DecisionID)
	if err := i.Entry.CheckPattern(c, bailiff.Verdict{Scope: bailiff.ScopeSession, Match: match}); err != nil {
		return api.Preview{}, err
	}
	return b.history(i, c).Preview(match), nil
}

// suggested is the pattern that would have covered most of what the same user asked before,
// among those in which one word is free. Its match is empty where no earlier request differs by
// one word; it is nil where no pattern may be approved.
func (b *Book) suggested(i *state.Item, c bailiff.Claim) *api.Preview {
	if !i.Pending() || i.Entry.OffersPattern(c) != nil {
		return nil
	}
	best := b.history(i, c).Best()
	return &best
}

// history reads the claims of the last requests of an approval's user, its own among them.
func (b *Book) history(asked *state.Item, c bailiff.Claim) *state.History {
	h := state.NewHistory(c)
	b.mu.RLock()
	last := b.seen.LastOf(asked, previewed)
	b.mu.RUnlock()
	for _, other := range last {
		text, found, err := b.claim(other)
		if err != nil || !found {
			continue // its text is gone
		}
		h.Add(text)
	}
	return h
}
