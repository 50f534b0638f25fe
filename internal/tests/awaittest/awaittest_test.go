package awaittest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// ending is a test whose program ends at a time, and that notes why it was ended.
type ending struct {
	*testing.T
	end  time.Time
	said string
}

func (e *ending) Deadline() (time.Time, bool) { return e.end, true }

func (e *ending) Fatalf(format string, args ...any) {
	e.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestATestWaitsUntilItsProgramIsAboutToEnd(t *testing.T) {
	for want, wait := range map[string]func(*ending){
		"waited in vain: it holds":  func(e *ending) { Until(e, "it holds", func() bool { return false }) },
		"waited in vain: a word":    func(e *ending) { Value(e, "a word", make(chan string)) },
		"context deadline exceeded": func(e *ending) { <-Context(e).Done(); e.said = Context(e).Err().Error() },
	} {
		e := &ending{T: t, end: time.Now().Add(lastWords + 20*time.Millisecond)}
		over := make(chan struct{})
		go func() {
			defer close(over)
			wait(e)
		}()
		if <-over; e.said != want || time.Now().Before(e.end.Add(-lastWords)) {
			t.Errorf("it says %q, want %q, at the end", e.said, want)
		}
	}
}

func TestWhatComesAboutIsNotWaitedForAnyLonger(t *testing.T) {
	words := make(chan string, 1)
	words <- "here"
	if got := Value(t, "a word", words); !strings.HasPrefix(got, "here") {
		t.Errorf("it got %q", got)
	}
	n := 0
	Until(t, "it is the third time", func() bool { n++; return n == 3 })
	if Context(t).Err() != nil {
		t.Error("the time of this test is over")
	}
}
