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

// helpers has no tests, but what the shipped ones and those of teams call.
const helpers = "requests_test.rego"

// Copy puts the shipped policies into a folder without their own tests, which take longer to parse and to compile than all that
// decides. Tests that are about these tests copy [policies.FS] instead.
func Copy(tb testing.TB, folder string) { tb.Helper(); put(tb, folder, "") }

// CopyBeside is [Copy] for a folder of a team's, whose tests call the helpers of the shipped ones.
func CopyBeside(tb testing.TB, folder string) { tb.Helper(); put(tb, folder, helpers) }

// put leaves out the files of tests, but one.
func put(tb testing.TB, folder, but string) {
	tb.Helper()
	if err := fs.WalkDir(policies.FS, ".", func(place string, entry fs.DirEntry, err error) error {
		file := filepath.Join(folder, place)
		switch {
		case err != nil || strings.HasSuffix(place, "_test.rego") && place != but:
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
