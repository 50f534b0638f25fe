package bailiff

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// most of each are in the sentences of a message; a request can be wrong in
	// thousands of ways.
	mostReasons, mostMatches = 8, 3
	// matchBytes is how much of a match they repeat.
	matchBytes = 100
)

// Sentences say why to the requester: what was found, by which rule and
// where, and below what would be allowed instead, each once.
func Sentences(reasons []Reason) string {
	found, left := grouped(reasons)
	var said, instead []string
	for _, f := range found {
		said = append(said, f.sentence())
	}
	if left > 0 {
		said = append(said, fmt.Sprintf("There are %d more reasons.", left))
	}
	for _, r := range reasons {
		if r.Instead != "" && len(instead) < mostReasons && !slices.Contains(instead, r.Instead) {
			instead = append(instead, r.Instead)
		}
	}
	if len(instead) > 0 {
		said = append(said, "Instead: "+strings.Join(instead, " "))
	}
	return strings.Join(said, " ")
}

// finding is what one rule says of one or more parts of a request.
type finding struct {
	message, rule string
	matches       []string
	left          int // matches that are not repeated
}

// grouped puts reasons together that say the same of different parts, and counts those
// that are left out.
func grouped(reasons []Reason) (found []*finding, left int) {
	for _, r := range reasons {
		same := func(f *finding) bool { return f.rule == r.Rule && f.message == r.Message }
		at := slices.IndexFunc(found, same)
		if at < 0 && len(found) == mostReasons {
			left++
			continue
		}
		if at < 0 {
			at, found = len(found), append(found, &finding{message: r.Message, rule: r.Rule})
		}
		found[at].add(r.Match)
	}
	return found, left
}

func (f *finding) add(match string) {
	words := Foreign(match)
	if begins := Beginning(words, matchBytes); begins != words {
		words = begins + "…"
	}
	switch {
	case words == "" || slices.Contains(f.matches, words):
	case len(f.matches) == mostMatches:
		f.left++
	default:
		f.matches = append(f.matches, words)
	}
}

func (f *finding) sentence() string {
	where := strings.Join(f.matches, ", ")
	if f.left > 0 {
		where += fmt.Sprintf(" and %d more", f.left)
	}
	if where != "" {
		where = ": " + where
	}
	return strings.TrimRight(f.message, ".") + " (" + f.rule + where + ")."
}
