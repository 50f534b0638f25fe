// Package policytest has tests put the shipped policies into a folder, to change them there.
package policytest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/policies"
)

// Copy puts the shipped policies into a folder without their own tests, which take longer to parse and to compile than all that
// decides. Tests that are about these tests copy [policies.FS] instead.
func Copy(tb testing.TB, folder string) {
	tb.Helper()
	if err := fs.WalkDir(policies.FS, ".", func(place string, entry fs.DirEntry, err error) error {
		file := filepath.Join(folder, place)
		switch {
		case err != nil || strings.HasSuffix(place, "_test.rego"):
			return err
		case entry.IsDir():
			return os.MkdirAll(file, 0o755)
		}
		text, err := policies.FS.ReadFile(place)
		if err != nil {
			return err
		}
		return os.WriteFile(file, text, 0o644)
	}); err != nil {
		tb.Fatal(err)
	}
}
