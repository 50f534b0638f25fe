package value

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Sorted returns the distinct elements in order, never nil.
func Sorted(list []string) []string {
	if len(list) == 0 {
		return []string{}
	}
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

func SetOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// Cut is a text of at most n bytes that is valid UTF-8.
func Cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
