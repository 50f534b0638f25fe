package backendtest

import (
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// Late is ready when a test has waited for as long as its binary may run: no shorter time tells a
// machine that is busy from a fault.
func Late(t testing.TB) <-chan time.Time { return time.After(timeLeft(t)) }

// timeLeft is how long a test may go on.
func timeLeft(t testing.TB) time.Duration { return max(1, time.Until(awaittest.End(t))) }

// Await waits until a condition holds, as long as it takes a busy machine.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	awaittest.Until(t, what, holds)
}

// pause is between two attempts.
const pause = 32 * time.Millisecond

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
		case <-time.After(pause):
		case <-late:
			return err
		}
	}
}
