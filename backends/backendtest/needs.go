package backendtest

import (
	"os"
	"testing"
)

// Needs leaves a test out for a fault that keeps this machine from having what
// it is about. Where everything is required, as in CI, it fails instead.
func Needs(tb testing.TB, what string, fault error) {
	tb.Helper()
	switch {
	case fault == nil:
	case os.Getenv("CI")+os.Getenv("BAILIFF_REQUIRE_ALL") != "":
		tb.Fatalf("%s is required here: %v", what, fault)
	default:
		tb.Skipf("SKIPPED WITHOUT %s: %v", what, fault)
	}
}
