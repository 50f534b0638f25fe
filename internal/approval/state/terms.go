package state

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// MostTimes bounds for how many requests one yes can be.
const MostTimes = 1000

// scopeOf is what a yes is for. One that says how long or how often it holds is for more than this request, unless it is for once.
func (e *Entry) scopeOf(v bailiff.Verdict) string {
	switch {
	case v.Scope != "":
		return v.Scope
	case v.For > 0 && v.Times != 1 || v.Times > 1:
		return bailiff.ScopeSession
	}
	return e.Scopes[0]
}

// checkTerms is nil if a yes holds no longer and no more often than the decision allows; longest is how long it lets a yes hold that
// ends by itself.
func (e *Entry) checkTerms(given api.Vote, longest time.Duration) error {
	switch {
	case given.For < 0 || given.Times < 0 || given.Times > MostTimes:
		return Refuse(api.ErrScope, "a yes holds for a time above zero, and for 1 to %d requests", MostTimes)
	case given.Scope == bailiff.ScopeOnce && given.Times > 1:
		return Refuse(api.ErrScope, "approval %s for once is for one request, not %d: say session, if it offers that", e.ID, given.Times)
	case given.Scope != bailiff.ScopeAlways && given.For > longest:
		return Refuse(api.ErrScope, "approval %s may hold for %s at most, not for %s", e.ID, span(longest), span(given.For))
	}
	return nil
}

// termsOf are the strictest that the votes say.
func (e *Entry) termsOf() (lasts time.Duration, times int) {
	for _, v := range e.Votes {
		if v.For > 0 {
			lasts = min(cmp.Or(lasts, v.For), v.For)
		}
		if v.Times > 0 {
			times = min(cmp.Or(times, v.Times), v.Times)
		}
	}
	return lasts, times
}

// shorten lets a grant hold no longer and no more often than those who gave it said.
func (h *Held) shorten(lasts time.Duration, times int, now time.Time) {
	g := &h.Grant
	if end := now.Add(lasts); lasts > 0 && (g.Expires.IsZero() || end.Before(g.Expires)) {
		g.Expires = end
	}
	if g.Scope != bailiff.ScopeOnce {
		g.Times = times
	}
}

// isLast says whether a grant that was used has no more uses.
func (g *Grant) isLast() bool {
	return g.Scope == bailiff.ScopeOnce || g.Times > 0 && g.Uses >= g.Times
}

// often says how many requests a grant is for, if that is bounded.
func (g *Grant) often() string {
	if g.Times == 0 {
		return ""
	}
	return fmt.Sprintf(", for %d requests at most", g.Times)
}

// termsSaid is how long and how often a yes is to hold, in words.
func termsSaid(v api.Vote) string {
	words := ""
	if v.For > 0 {
		words += " for " + span(v.For)
	}
	if v.Times > 0 {
		words += fmt.Sprintf(", %d times", v.Times)
	}
	return words
}

// span is a duration without its zeros, as 2h or 1h30m.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
