package explain_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

// allowing is the smallest set of policies that allows; other tests add to it.
const allowing = `package bailiff

decision := {
	"outcome": "allow",
	"denials": [],
	"backend": {"name": "docker", "scope": "session", "network": "none"},
	"limits": {"timeout_seconds": 180, "output_bytes": 50000},
}
`

// folder is a new folder with a file of policies.
func folder(t *testing.T, policy string) string {
	t.Helper()
	root := t.TempDir()
	write(t, root, policy)
	return root
}

// beside is a copy of the shipped policies with a file of policies beside them.
func beside(t *testing.T, policy string) string {
	t.Helper()
	root := t.TempDir()
	policytest.Copy(t, root)
	write(t, root, policy)
	return root
}

func write(t *testing.T, root, policy string) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(root, "house.rego"), []byte(policy), 0o644))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
