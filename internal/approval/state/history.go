package state

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// mostSuggested is how many patterns are weighed for a suggestion.
const mostSuggested = 16

// History is what a user asked before that people were asked about: how many requests, and the
// words of those that a pattern for the same rules could cover.
type History struct {
	call  []string // of the one that is asked about now
	rules []string
	of    int
	calls [][]string
}

// Preview says how many of the requests a pattern would have covered.
func (h *History) Preview(match string) api.Preview {
	p := api.Preview{Match: match, Of: h.of}
	for _, call := range h.calls {
		if fits(match, call) {
			p.Covered++
		}
	}
	return p
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

// NewHistory is an empty history of the user of a claim.
func NewHistory(c bailiff.Claim) *History { return &History{call: c.Call, rules: ruleKeys(c.Pairs())} }

// Add takes in a claim of before.
func (h *History) Add(text ClaimText) {
	h.of++
	past := text.Claim("")
	if patterned(past) && !slices.ContainsFunc(ruleKeys(past.Pairs()), func(key string) bool { return !slices.Contains(h.rules, key) }) {
		h.calls = append(h.calls, past.Call)
	}
}

// Best is the pattern with one free word that covers most. Its match is empty where no request differs by one word.
func (h *History) Best() api.Preview {
	best := api.Preview{Of: h.of}
	var seen []string
	for _, call := range h.calls {
		match, one := differing(h.call, call)
		if !one || slices.Contains(seen, match) {
			continue
		}
		if seen = append(seen, match); len(seen) > mostSuggested {
			break
		}
		if p := h.Preview(match); p.Covered > best.Covered {
			best = p
		}
	}
	return best
}
