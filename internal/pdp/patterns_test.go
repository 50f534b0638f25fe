package pdp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/facts"
)

// What bash finds by a pattern, the globs of Rego must find by the pattern in the facts.
func TestAPatternMeansInRegoWhatItMeansInBash(t *testing.T) {
	backendtest.Evaluates(t)
	t.Parallel()
	folder := tree(t)
	for _, pattern := range []string{
		"*", "s*", "*w", "s*w", "*a*o*", "**", "**w", "s**w", "?hadow", "sh?dow", "??", ".*", ".[!.]*", ".[^.]*", "*/*", "*/s*", "s*/*",
		"[s]hadow", "[rst]hadow", "[a-z]hadow", "[A-Z]*", "[!s]*", "[^s]*", "sh[!x]dow", "[!a-m]*", "[a-mx-z]*", "[]x]*", "[!]x]*",
		"sh[[:alpha:]]dow", "[[:upper:]]*", "[[:lower:]]*[[:digit:]]", "*[[:punct:]]*", "[![:alpha:]]*", "[[:alpha:][:digit:]_]*", "*[0-9]",
		"[[:alnum:]-]*", "*[-+]*", "[!-]*", "*[!-x]", "[[=s=]]hadow", "[[.s.]]hadow", "[[:xdigit:]]*", "*[[:space:]]*",
		"@(shadow|group)", "@(s*|x1)", "?(s)hadow", "s@(had|xx)ow", "@(s@(h|x)a|gr)*", "sha?(d)ow", "@([a-s])hadow", "a[b/c]",
		"{shadow,x1}", "s{h,x}adow", "*.t?t", "*.@(txt|md)",
	} {
		if bash, rego := inBash(t, folder, pattern), inRego(t, folder, pattern); !slices.Equal(bash, rego) {
			t.Errorf("%s: bash finds %q, the globs of Rego %q", pattern, bash, rego)
		}
	}
	for _, pattern := range []string{"+(s)hadow", "*(s|h)adow", "!(shadow)", "!(s*|x1)", "+([a-z])", "[!abcdefghijklmnop]*", "@($X)hadow"} {
		bash, rego := inBash(t, folder, pattern), inRego(t, folder, pattern)
		if slices.ContainsFunc(bash, func(name string) bool { return !slices.Contains(rego, name) }) {
			t.Errorf("%s: bash finds %q, the globs of Rego only %q", pattern, bash, rego)
		}
	}
}

func tree(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"shadow", "Shadow", "group", "x1", "-x", "a b", "a_b", "]x", "sxadow", ".env", "..x", "a.txt", "b.md",
		"sub/shadow", "sub/x", "sub/deep/shadow", "[sh"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// inBash are the names that bash puts in the place of a pattern.
func inBash(t *testing.T, folder, pattern string) []string {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "-O", "extglob", "-O", "dotglob", "-O", "nullglob", "-c", `printf '%s\n' `+pattern)
	cmd.Dir, cmd.Env = folder, []string{"LC_ALL=C", "PATH=/usr/bin:/bin", "X=s"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		if _, err := os.Lstat(filepath.Join(folder, name)); err == nil && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// inRego are the names that the globs of Rego find by the paths in the facts.
func inRego(t *testing.T, folder, pattern string) []string {
	t.Helper()
	var paths, names []string
	err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
		if path != folder {
			paths = append(paths, strings.TrimPrefix(path, folder+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found, err := rego.New(rego.Query(`names = [n | some n in input.names; some p in input.patterns; glob.match(p, ["/"], n)]`),
		rego.Input(map[string]any{"names": paths, "patterns": facts.Shell("cat "+pattern, facts.Place{}).Reads})).Eval(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found[0].Bindings["names"].([]any) {
		names = append(names, name.(string))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
