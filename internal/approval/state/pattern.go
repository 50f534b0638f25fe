package state

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	// longest is how long a grant of a pattern, or at the first sight of a program, lasts at most.
	longest = 30 * 24 * time.Hour
	// anyWord stands for one word in a pattern.
	anyWord = "*"
)

// freeWord is what a pattern's "*" may stand for: a plain name. Options, addresses and paths, which may lead through a link, are
// none, and neither are names that a shell's own "*" leaves out, nor what programs take for more than a name ("0", "+main", "a+").
var freeWord = regexp.MustCompile(`^(?:\./)?[A-Za-z0-9_](?:[A-Za-z0-9._,-]*[A-Za-z0-9_])?$`)

// isFree says that "*" may stand for the word at a place of a call. The program and the word behind it may choose what is done.
func isFree(call []string, place int) bool {
	return place > 1 && freeWord.MatchString(call[place]) && strings.Trim(call[place], "0") != ""
}

// patterned says that a claim can be covered by a pattern of its words: the policies offer it,
// and the text is one call of which no file and no standard input changes the meaning.
func patterned(c bailiff.Claim) bool {
	return c.Decision.Approval != nil && c.Decision.Approval.Patterns && c.Request.Tool == bailiff.Terminal && c.Plain &&
		len(c.Call) > 1 && len(c.Files)+len(c.Unbound) == 0 && c.Request.Args.Stdin == ""
}

// fits says whether a pattern stands for the words of a call.
func fits(pattern string, call []string) bool {
	words := strings.Fields(pattern)
	if len(words) != len(call) || len(words) == 0 {
		return false
	}
	for i, word := range words {
		if word != call[i] && !(word == anyWord && isFree(call, i)) {
			return false
		}
	}
	return true
}

// OffersPattern is nil if some pattern may be approved for a claim.
func (e *Entry) OffersPattern(c bailiff.Claim) error {
	switch {
	case e.Plan.Quorum > 1:
		return Refuse(api.ErrScope, "approval %s needs %d people, and a pattern is for one person to approve", e.ID, e.Plan.Quorum)
	case !patterned(c) || width(e.Scopes[len(e.Scopes)-1]) < width(bailiff.ScopeSession):
		return Refuse(api.ErrScope, "approval %s offers no pattern: it is offered for a plain text of one program, where the policies let "+
			"each rule that asks have one (approval.patterns) for longer than once", e.ID)
	}
	return nil
}

// CheckPattern is nil if a verdict's pattern may be approved for a claim.
func (e *Entry) CheckPattern(c bailiff.Claim, v bailiff.Verdict) error {
	if err := e.OffersPattern(c); err != nil {
		return err
	}
	switch {
	case v.Scope != bailiff.ScopeSession && v.Scope != bailiff.ScopeAlways:
		return Refuse(api.ErrScope, "a pattern is approved for session or always, not %q", v.Scope)
	case !slices.Contains(strings.Fields(v.Match), anyWord) || !fits(v.Match, c.Call):
		return Refuse(api.ErrScope, "the pattern %q does not stand for %q: write the same words, with * in place of plain names that are "+
			"no option, address or path, and never of the program or the word behind it", v.Match, strings.Join(c.Call, " "))
	}
	return nil
}

// ruleKeys are the hashes of the rules that ask, each with its context.
func ruleKeys(pairs []bailiff.Pair) []string {
	keys := make([]string, len(pairs))
	for i, p := range pairs {
		keys[i] = pairKey(bailiff.Pair{Rule: p.Rule, Context: p.Context})
	}
	return keys
}

// narrow makes a grant one of a pattern.
func (h *Held) narrow(match string, c bailiff.Claim, now time.Time) {
	h.Grant.Match, h.Grant.Revision = strings.Join(strings.Fields(match), " "), c.Decision.Revision
	h.Pairs, h.Rules = nil, ruleKeys(c.Pairs())
	if end := now.Add(longest); h.Grant.Expires.IsZero() || h.Grant.Expires.After(end) {
		h.Grant.Expires = end
	}
}

// has says whether a grant covers the reason of that number.
func (h *Held) has(w Wanted, reason int) bool {
	if h.Grant.Match == "" {
		return slices.Contains(h.Pairs, w.pairs[reason])
	}
	return h.Grant.Revision == w.revision && slices.Contains(h.Rules, w.rules[reason]) && fits(h.Grant.Match, w.call)
}
