package backendtest

import (
	"testing"
	"time"
)

// lastWords is how much of the test binary's time is kept for a test to say what it waited for.
const lastWords = 15 * time.Second

// Late is ready when a test has waited for as long as its binary may run: no shorter time tells a
// machine that is busy from a fault. Where the binary may run for ever, so may the wait.
func Late(t testing.TB) <-chan time.Time {
	if left := timeLeft(t); left != 0 {
		return time.After(left)
	}
	return nil
}

// timeLeft is how long a test may go on; zero is for ever.
func timeLeft(t testing.TB) time.Duration {
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, ends := limited.Deadline(); ends {
			return max(1, time.Until(end)-lastWords)
		}
	}
	return 0
}

// Looks at a condition follow each other faster at first: each may read all of /proc.
const (
	firstPause = 2 * time.Millisecond
	mostPause  = 32 * time.Millisecond
)

// Await waits until a condition holds, as long as it takes a busy machine.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	late := Late(t)
	for pause := firstPause; !holds(); pause = min(2*pause, mostPause) {
		select {
		case <-time.After(pause):
		case <-late:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// ended waits for the end of a command.
func ended(t testing.TB, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-Late(t):
		t.Fatal("waited in vain for the end of a command")
	}
}

// eventually repeats what a sandbox that is just going away may hinder, and returns what hinders it still.
func eventually(t testing.TB, attempt func() error) error {
	late := Late(t)
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(mostPause):
		case <-late:
			return err
		}
	}
}
