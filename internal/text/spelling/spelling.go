// Package spelling finds the word that was likely meant.
package spelling

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Unknown says that a word is none of the valid ones of its kind, and which was
// likely meant. Valid must not be empty; it is left as it is.
func Unknown(kind, word string, valid []string) string {
	valid = slices.Sorted(slices.Values(valid))
	if best := Nearest(word, valid, len(word)/2+1); best != "" {
		return fmt.Sprintf("unknown %s, nearest valid %s is %q", kind, kind, best)
	}
	return fmt.Sprintf("unknown %s, valid are %s", kind, strings.Join(valid, ", "))
}

// Nearest is the first of the words that few letters tell from the given one, at
// most so many, whatever their case; empty if none is. One that only case and
// punctuation tell from it, as api_key from apiKey, is nearer than any.
func Nearest(word string, words []string, most int) string {
	best, least := "", most+1
	for _, w := range words {
		d := distance(strings.ToLower(word), strings.ToLower(w))
		if bare(word) == bare(w) {
			d = 0
		}
		if d < least {
			best, least = w, d
		}
	}
	return best
}

// bare is a word's letters and digits.
func bare(word string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, word)
}

// distance counts the letters to insert, drop or replace between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
