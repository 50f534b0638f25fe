package chat

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// mostTermsText bounds the text that may be terms.
const mostTermsText = 64

// ReadTerms reads how long and how often a yes holds, as a person writes it behind the word: "for 2h", "5 times", or both, in any order.
// It is false for any other text, which is no yes then.
func ReadTerms(text string) (lasts time.Duration, times int, are bool) {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return unicode.IsSpace(c) || c == ',' })
	if len(text) > mostTermsText || len(words) == 0 {
		return 0, 0, false
	}
	for len(words) > 0 {
		switch {
		case len(words) > 1 && words[0] == "for" && lasts == 0 && spanOf(words[1]) > 0:
			lasts = spanOf(words[1])
		case len(words) > 1 && (words[1] == "times" || words[1] == "time") && times == 0 && timesOf(words[0]) > 0:
			times = timesOf(words[0])
		default:
			return 0, 0, false
		}
		words = words[2:]
	}
	return lasts, times, true
}

// spanOf is a time as 90s, 20m, 2h, 1h30m or 3d; zero for any other text.
func spanOf(word string) time.Duration {
	if days, is := strings.CutSuffix(word, "d"); is {
		return time.Duration(timesOf(days)) * 24 * time.Hour
	}
	lasts, err := time.ParseDuration(word)
	if err != nil || strings.ContainsAny(word, ".+-nµ") {
		return 0
	}
	return lasts
}

// timesOf is a number of at most four digits; zero for any other text.
func timesOf(word string) int {
	n, err := strconv.ParseUint(word, 10, 16)
	if err != nil || len(word) > 4 {
		return 0
	}
	return int(n)
}
