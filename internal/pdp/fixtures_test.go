package pdp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/source"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
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

// tree writes files below a new folder and returns it.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(root, name), text)
	}
	return root
}

// copied is a folder with the shipped policies that only its owner may write.
func copied(t testing.TB) string {
	t.Helper()
	files, faults := source.ReadAll(nil)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	root := t.TempDir()
	for _, f := range files {
		write(t, filepath.Join(root, f.Place), string(f.Text))
	}
	return root
}

// untested is a folder with the shipped policies without their tests.
func untested(t testing.TB) string {
	t.Helper()
	root := t.TempDir()
	policytest.Copy(t, root)
	return root
}

func write(t testing.TB, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(t, os.WriteFile(name, []byte(text), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// opened is a PDP over the files, with time enough on a slow machine.
func opened(t testing.TB, files map[string]string) *PDP {
	t.Helper()
	p, err := Open(context.Background(), Config{Paths: []string{tree(t, files)}, EvalTimeout: time.Minute})
	must(t, err)
	return p
}

// deciding are policies whose decision is the given Rego expression.
func deciding(expression string) map[string]string {
	return map[string]string{"p.rego": "package bailiff\n\ndecision := " + expression + "\n"}
}

var ready = bailiff.Circumstances{
	Time:     time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	Backends: map[string]bailiff.BackendState{"docker": {Isolated: true, Ready: true}},
}

var listing = bailiff.Request{
	Tool: bailiff.Terminal, Args: bailiff.Args{Command: "ls -l"}, Caller: "hermes",
	Session: bailiff.Session{ID: "s", Platform: "telegram", ChatType: "dm", ChatID: "42", UserID: "42"},
}

func judged(p *PDP) bailiff.Judgement { return p.Decide(context.Background(), listing, ready) }

func wantDenial(t *testing.T, j bailiff.Judgement, rule, message string) {
	t.Helper()
	switch {
	case j.Decision.Outcome != bailiff.Deny:
		t.Errorf("outcome is %v, want deny", j.Decision.Outcome)
	case len(j.Decision.Denials) == 0 || j.Decision.Denials[0].Rule != rule:
		t.Errorf("denials are %v, want first one by %s", j.Decision.Denials, rule)
	case !strings.Contains(j.Decision.Denials[0].Message, message):
		t.Errorf("the denial says %q, want it to say %q", j.Decision.Denials[0].Message, message)
	case j.Fault == nil:
		t.Error("no fault is told")
	}
}
