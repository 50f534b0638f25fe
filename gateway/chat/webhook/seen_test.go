package webhook

import (
	"fmt"
	"testing"
	"time"
)

func TestWhatWasHeardIsForgottenWhenItCannotComeAgain(t *testing.T) {
	t.Parallel()
	h, now := newSeenAnswers(), time.Now()
	for i, c := range []struct {
		after time.Duration
		name  string
		want  seenResult
	}{
		{0, "a", first}, {time.Minute, "a", repeated}, {2 * time.Minute, "b", first},
		{window, "a", repeated}, {window + 1, "a", first}, {window + time.Minute, "b", repeated},
	} {
		at := now.Add(c.after)
		if got := h.add(at, at.Add(window), c.name); got != c.want {
			t.Errorf("step %d: %s is %v, want %v", i, c.name, got, c.want)
		}
	}
}

func TestMoreThanCanBeRememberedIsRefusedNotForgotten(t *testing.T) {
	t.Parallel()
	h, now := newSeenAnswers(), time.Now()
	for i := range maxSeen {
		if got := h.add(now, now.Add(window), fmt.Sprintf("a%d", i)); got != first {
			t.Fatalf("the %dth is %v", i, got)
		}
	}
	if got := h.add(now, now.Add(window), "one more"); got != full {
		t.Errorf("one more is %v", got)
	}
	if got := h.add(now, now.Add(window), "a0"); got != repeated {
		t.Errorf("the first again is %v", got)
	}
	if got := h.add(now.Add(window+1), now.Add(2*window), "one more"); got != first {
		t.Errorf("later it is %v", got)
	}
	if len(h.ids) != 1 || len(h.expiries) != 1 {
		t.Errorf("kept are %d and %d", len(h.ids), len(h.expiries))
	}
}
