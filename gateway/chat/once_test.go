package chat

import (
	"fmt"
	"testing"
	"time"
)

const (
	maxSeen = 10_000
	window  = 5 * time.Minute
)

func TestWhatWasHeardIsForgottenWhenItCannotComeAgain(t *testing.T) {
	t.Parallel()
	h, now := NewOnce(maxSeen), time.Now()
	for i, c := range []struct {
		after time.Duration
		name  string
		want  error
	}{
		{0, "a", nil}, {time.Minute, "a", ErrRepeated}, {2 * time.Minute, "b", nil},
		{window, "a", ErrRepeated}, {window + 1, "a", nil}, {window + time.Minute, "b", ErrRepeated},
	} {
		at := now.Add(c.after)
		if got := h.Take(at, at.Add(window), c.name); got != c.want {
			t.Errorf("step %d: %s is %v, want %v", i, c.name, got, c.want)
		}
	}
}

func TestMoreThanCanBeRememberedIsRefusedNotForgotten(t *testing.T) {
	t.Parallel()
	h, now := NewOnce(maxSeen), time.Now()
	for i := range maxSeen {
		if got := h.Take(now, now.Add(window), fmt.Sprintf("a%d", i)); got != nil {
			t.Fatalf("the %dth is %v", i, got)
		}
	}
	if got := h.Take(now, now.Add(window), "one more"); got != ErrCrowded {
		t.Errorf("one more is %v", got)
	}
	if got := h.Take(now, now.Add(window), "a0"); got != ErrRepeated {
		t.Errorf("the first again is %v", got)
	}
	if got := h.Take(now.Add(window+1), now.Add(2*window), "one more"); got != nil {
		t.Errorf("later it is %v", got)
	}
	if len(h.expires) != 1 {
		t.Errorf("%d are kept", len(h.expires))
	}
}
