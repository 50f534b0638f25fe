// Package awaittest has tests wait for what is to come about as long as their program may run: a shorter time does not
// tell a fault from a busy machine.
package awaittest

import (
	"context"
	"testing"
	"time"
)

// lastWords is how long before the end of its program a test says what it waited for in vain.
const lastWords = 5 * time.Second

// End is until when a test may wait. A benchmark has no end of its own, and neither has a bubble of synctest, whose clock is
// another than that of the program.
func End(tb testing.TB) (end time.Time) {
	defer func() {
		if recover() != nil { // the deadline cannot be asked for in a bubble
			end = time.Now().Add(time.Hour)
		}
	}()
	if t, ok := tb.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ends := t.Deadline(); ends {
			return end.Add(-lastWords)
		}
	}
	return time.Now().Add(time.Hour)
}

// Context is over when a test may wait no longer.
func Context(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithDeadline(tb.Context(), End(tb))
	tb.Cleanup(cancel)
	return ctx
}

// Looks at a condition follow each other faster at first: each may read all of /proc.
const (
	firstPause = time.Millisecond
	mostPause  = 32 * time.Millisecond
)

// Until waits until a condition holds.
func Until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	UntilOr(tb, func() string { return what }, holds)
}

// UntilOr is [Until] where more is to be said of what was waited for in vain than is known before.
func UntilOr(tb testing.TB, what func() string, holds func() bool) {
	tb.Helper()
	end, pause := End(tb), firstPause
	for ; !holds(); pause = min(2*pause, mostPause) {
		time.Sleep(pause)
		if time.Now().After(end) {
			tb.Fatalf("waited in vain: %s", what())
		}
	}
}

// Value is what a channel gives, or the zero value once it is closed.
func Value[T any](tb testing.TB, what string, from <-chan T) (value T) {
	tb.Helper()
	late := time.NewTimer(time.Until(End(tb)))
	defer late.Stop()
	select {
	case value = <-from:
	case <-late.C:
		tb.Fatalf("waited in vain: %s", what)
	}
	return value
}
