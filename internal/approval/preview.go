package approval

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	// previewed is how many requests a preview looks at.
	previewed = 200
	// mostSuggested is how many patterns are weighed for a suggestion.
	mostSuggested = 16
)

// history is what a user asked before that people were asked about: how many requests, and the
// words of those that a pattern for the same rules could cover.
type history struct {
	of    int
	calls [][]string
}

func (h history) preview(match string) api.Preview {
	p := api.Preview{Match: match, Of: h.of}
	for _, call := range h.calls {
		if fits(match, call) {
			p.Covered++
		}
	}
	return p
}

// Preview says of how many of the user's last requests that were asked about a grant of a
// pattern would have let run. The error is [api.ErrUnknown] or [api.ErrScope].
func (b *Book) Preview(id, match string) (api.Preview, error) {
	i := b.item(id)
	if i == nil {
		return api.Preview{}, unknown(id)
	}
	text, found, err := b.claim(i)
	if err != nil || !found {
		return api.Preview{}, unknown(id)
	}
	c := text.claim(i.Entry.DecisionID)
	if err := i.Entry.pattern(c, bailiff.Verdict{Scope: bailiff.ScopeSession, Match: match}); err != nil {
		return api.Preview{}, err
	}
	return b.history(i, c).preview(match), nil
}

// suggested is the pattern that would have covered most of what the same user asked before,
// among those in which one word is free. Its match is empty where no earlier request differs by
// one word; it is nil where no pattern may be approved.
func (b *Book) suggested(i *item, c bailiff.Claim) *api.Preview {
	if !i.pending() || i.Entry.offersPattern(c) != nil {
		return nil
	}
	h := b.history(i, c)
	best := api.Preview{Of: h.of}
	var seen []string
	for _, call := range h.calls {
		match, one := differing(c.Call, call)
		if !one || slices.Contains(seen, match) {
			continue
		}
		if seen = append(seen, match); len(seen) > mostSuggested {
			break
		}
		if p := h.preview(match); p.Covered > best.Covered {
			best = p
		}
	}
	return &best
}

// differing is the pattern that covers two calls which differ by one word.
func differing(call, other []string) (match string, one bool) {
	if len(call) != len(other) {
		return "", false
	}
	words := slices.Clone(call)
	for i, word := range call {
		if word == other[i] {
			continue
		}
		if one {
			return "", false
		}
		words[i], one = anyWord, true
	}
	match = strings.Join(words, " ")
	return match, one && fits(match, call) && fits(match, other)
}

// history reads the claims of the last requests of an approval's user, its own among them.
func (b *Book) history(asked *item, c bailiff.Claim) (h history) {
	rules := ruleKeys(c.Pairs())
	for _, other := range b.lastOf(asked) {
		text, found, err := b.claim(other)
		if err != nil || !found {
			continue // its text is gone
		}
		h.of++
		past := text.claim("")
		if patterned(past) && !slices.ContainsFunc(ruleKeys(past.Pairs()), func(key string) bool { return !slices.Contains(rules, key) }) {
			h.calls = append(h.calls, past.Call)
		}
	}
	return h
}

// lastOf are the last requests of an approval's user that people were asked about.
func (b *Book) lastOf(asked *item) (last []*item) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	mine := func(e *entry) [4]string {
		s := e.Request.Session
		return [4]string{e.Caller, e.Peer, s.Platform, s.UserID}
	}
	for _, i := range slices.Backward(b.seen.order) {
		if len(last) < previewed && mine(&i.Entry) == mine(&asked.Entry) {
			last = append(last, i)
		}
	}
	return last
}
