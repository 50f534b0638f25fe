package backendtest

import (
	"errors"
	"strings"
	"testing"
)

// Must ends a test at an error.
func Must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// NoError notes an error, and lets the test go on.
func NoError(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Error(err)
	}
}

// Fault wants an error to wrap a kind of error and to hold some words, or no error where
// there are no words.
func Fault(tb testing.TB, err, kind error, words string) {
	tb.Helper()
	switch {
	case words == "" && err != nil:
		tb.Errorf("error is %v, want none", err)
	case words != "" && (!errors.Is(err, kind) || !strings.Contains(err.Error(), words)):
		tb.Errorf("error is %v, want one that wraps %q and says %q", err, kind, words)
	}
}
