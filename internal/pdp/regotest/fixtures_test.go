package regotest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// allowing is the smallest set of policies that allows; other tests add to it.
const allowing = `package bailiff

decision := {
	"outcome": "allow",
	"denials": [],
	"backend": {"name": "docker", "scope": "session", "network": "none"},
	"limits": limits,
}

limits := {"timeout_seconds": 180, "output_bytes": 50000}
`

const allowingTest = `package bailiff_test

import data.bailiff

test_it_allows if bailiff.decision.outcome == "allow"
`

// endless are tests of which the last does not end.
const endless = allowingTest + "\ntest_endless if {\n\tsome a in numbers.range(1, 100000)\n" +
	"\tsome b in numbers.range(1, 100000)\n\ta + b == 0\n}\n"

// tree writes files below a new folder and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const servesTests = "serve-tests"

// TestMain lets the program of these tests run tests of policies.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == servesTests {
		if err := Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
