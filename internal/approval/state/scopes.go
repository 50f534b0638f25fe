package state

import (
	"cmp"
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// heldLater is by how much a later connection must wait longer to be noted, so that not each one that joins
// rewrites the approval.
const heldLater = 10 * time.Second

// hold notes that another connection waits for the answer, and for longer.
func (t *Step) hold(i *Item, until time.Time) {
	if until.After(i.Entry.HeldUntil.Add(heldLater)) {
		i = i.copy()
		i.Entry.HeldUntil = until
		t.Items = append(t.Items, i)
	}
}

// scopes are those that may be granted, from the narrowest: what the decision
// offers, but only once where a reason does not say what part of the request it
// found, and no wider than the session or user is named.
func (w Wanted) scopes(terms *bailiff.ApprovalTerms) []string {
	if terms == nil {
		return []string{bailiff.ScopeOnce}
	}
	offered := []string{}
	for scope, possible := range map[string]bool{
		bailiff.ScopeOnce: true, bailiff.ScopeSession: w.whole && w.session.ID != "", bailiff.ScopeAlways: w.whole &&
			w.session.UserID != "",
	} {
		if possible && slices.Contains(terms.Scopes, scope) {
			offered = append(offered, scope)
		}
	}
	if len(offered) == 0 {
		return []string{bailiff.ScopeOnce}
	}
	slices.SortFunc(offered, func(x, y string) int { return cmp.Compare(width(x), width(y)) })
	return offered
}

// forAgent are the scopes of these that the agent which asks may be granted: one that another started has no life beyond
// its session.
func (w Wanted) forAgent(scopes []string) []string {
	if !w.session.Agent.IsSub() {
		return scopes
	}
	some := slices.DeleteFunc(slices.Clone(scopes), func(scope string) bool { return scope == bailiff.ScopeAlways })
	if len(some) == 0 {
		return []string{bailiff.ScopeOnce}
	}
	return some
}

func width(scope string) int {
	return slices.Index([]string{bailiff.ScopeOnce, bailiff.ScopeSession, bailiff.ScopeAlways}, scope)
}

// newID returns an id that people can read to each other.
func newID(kind string) string { return kind + "-" + strings.ToLower(rand.Text()[:10]) }
