package chat

import (
	"testing"
	"time"
)

func TestOnlyTermsAreReadAsTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		lasts time.Duration
		times int
	}{
		"for 2h": {2 * time.Hour, 0}, " For 1h30m, 5 times ": {90 * time.Minute, 5}, "5 times for 20m": {20 * time.Minute, 5},
		"1 time": {0, 1}, "for 3d": {72 * time.Hour, 0},
		"": {}, "for": {}, "for 2": {}, "for ever": {}, "for -2h": {}, "for 2h for 3h": {}, "0 times": {}, "-1 times": {}, "5": {},
		"5 times 6 times": {}, "99999 times": {}, "for 2h because": {}, "? Never!": {}, "for 1.5h": {}, "for 0s": {},
		"for 2h                                                                         5 times": {},
	} {
		lasts, times, are := ReadTerms(text)
		if lasts != want.lasts || times != want.times || are != (lasts > 0 || times > 0) {
			t.Errorf("%q: %s, %d, %v; want %+v", text, lasts, times, are, want)
		}
	}
}
