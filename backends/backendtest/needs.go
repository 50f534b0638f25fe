package backendtest

import (
	"os"
	"testing"
)

// Starts leaves a test out of short runs, such as those of "make check", for it
// starts programs beside the test: sandboxes, a sidecar, a browser.
func Starts(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("left out of short runs: it starts other programs")
	}
}

// Long leaves a test out of short runs for the time it takes.
func Long(tb testing.TB) {
	tb.Helper()
	if testing.Short() {
		tb.Skip("left out of short runs: it takes long")
	}
}

// Evaluates leaves a test out of rounds under the race detector but those of "make test-all": it does nothing but evaluate policies,
// in which no goroutines meet, and takes ten times as long there.
func Evaluates(tb testing.TB) {
	tb.Helper()
	if underDetector && !everything() {
		tb.Skip("left out under the race detector: it evaluates policies and nothing else")
	}
}

// Reserve leaves a test to the targets of long rounds ("make test-all", "make clients-test", "make fleet-test"), and says why.
func Reserve(tb testing.TB, why string) {
	tb.Helper()
	if !everything() {
		tb.Skip(why + ": set BAILIFF_TEST_ALL")
	}
}

// Rounds is how often a test repeats what it does at random times: few times, and
// many times in "make test-all".
func Rounds(few, many int) int {
	if everything() {
		return many
	}
	return few
}

// everything says that this is such a run as "make test-all" is.
func everything() bool { return os.Getenv("BAILIFF_TEST_ALL") != "" }

// Needs leaves a test out for a fault that keeps this machine from having what
// it is about. Where everything is required, as in CI, it fails instead.
func Needs(tb testing.TB, what string, fault error) {
	tb.Helper()
	Starts(tb)
	switch {
	case fault == nil:
	case os.Getenv("CI")+os.Getenv("BAILIFF_REQUIRE_ALL") != "":
		tb.Fatalf("%s is required here: %v", what, fault)
	default:
		tb.Skipf("SKIPPED WITHOUT %s: %v", what, fault)
	}
}
