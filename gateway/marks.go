package gateway

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

const (
	// marksAtMost is how many marks an approval is shown with, and searchAtMost how
	// many bytes are searched for them: the author of the text may want neither to
	// end.
	marksAtMost  = 1000
	searchAtMost = 16 << 20
	// findCost is what a find costs in bytes searched.
	findCost = 16
	// longMatch is how many bytes are found even in the middle of a word.
	longMatch = 32
)

// MarksOf finds the matches of an approval's reasons in the request's texts.
// What a rule found by resolving the text does not stand there literally, and
// has no mark. More says that not all was looked for.
func MarksOf(e api.Entry) (marks []api.Mark, more bool) {
	args := e.Request.Args
	search := search{budget: searchAtMost, room: marksAtMost}
	for _, text := range []struct{ name, text string }{
		{"command", args.Command}, {"code", args.Code}, {"stdin", args.Stdin}, {"data", args.Data}, {"arguments", args.Arguments},
	} {
		marks = append(marks, mergeMarks(search.marks(text.name, text.text, e.Reasons))...)
	}
	if marks == nil {
		marks = []api.Mark{}
	}
	return marks, search.more
}

// search finds matches until it has found or read enough.
type search struct {
	budget, room int
	more         bool
}

func (s *search) marks(name, text string, reasons []bailiff.Reason) (found []api.Mark) {
	for _, r := range reasons {
		found = append(found, s.places(name, text, r.Rule, r.Match)...)
	}
	return found
}

// places are those of one match.
func (s *search) places(name, text, rule, match string) (found []api.Mark) {
	for at := 0; match != ""; {
		if s.room == 0 || s.budget < 0 {
			s.more = true
			break
		}
		i := strings.Index(text[at:], match)
		if i < 0 {
			s.budget -= len(text) - at
			break
		}
		start, end := at+i, at+i+len(match)
		s.budget -= end - at + findCost
		if at = start + 1; standsAlone(text, start, end) {
			s.room--
			found = append(found, api.Mark{Text: name, Start: start, End: end, Rules: []string{rule}})
			at = end
		}
	}
	return found
}

// standsAlone says that a part of a text is not the middle of a word: "rm" is
// not meant in "form". A long part cannot be anything else by chance.
func standsAlone(text string, start, end int) bool {
	if end-start >= longMatch {
		return true
	}
	first, _ := utf8.DecodeRuneInString(text[start:])
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return !(isWord(before) && isWord(first)) && !(isWord(last) && isWord(after))
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// mergeMarks puts marks in order, those that overlap into one.
func mergeMarks(marks []api.Mark) []api.Mark {
	slices.SortFunc(marks, func(a, b api.Mark) int {
		return cmp.Or(a.Start-b.Start, b.End-a.End, strings.Compare(a.Rules[0], b.Rules[0]))
	})
	var all []api.Mark
	for _, m := range marks {
		if n := len(all); n > 0 && m.Start < all[n-1].End {
			last := &all[n-1]
			last.End = max(last.End, m.End)
			if !slices.Contains(last.Rules, m.Rules[0]) {
				last.Rules = append(last.Rules, m.Rules[0])
			}
			continue
		}
		all = append(all, m)
	}
	return all
}
