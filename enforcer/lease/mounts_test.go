package lease

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestProtectedFoldersAreShownReadOnly(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".claude", "src"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	data := bailiff.Mount{Source: "/srv/data", Target: "/srv/data", ReadOnly: true, Protected: []string{".claude/"}}
	all, guarded := shown([]bailiff.Mount{{Source: dir, Target: "/p", Protected: []string{".claude/", ".codex/", ".envrc"}}, data})
	data.Protected = nil
	want := []bailiff.Mount{{Source: dir, Target: "/p"}, {Source: dir + "/.claude", Target: "/p/.claude", ReadOnly: true}, data}
	if !guarded || !reflect.DeepEqual(all, want) {
		t.Errorf("mounts %+v, guarded %v; want %+v", all, guarded, want)
	}
	if all, guarded := shown([]bailiff.Mount{data}); guarded || len(all) != 1 {
		t.Errorf("without protected files: %+v, %v", all, guarded)
	}
}

func TestOfARepositoryThatASandboxDoesNotSeeWhatItsSettingsNameIsCompared(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{".git/config": "[core]\n\thooksPath = hooks\n", "hooks/pre-push": "x", "scripts/check": "x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git/hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../../scripts/check", filepath.Join(dir, ".git/hooks/pre-commit")); err != nil {
		t.Fatal(err)
	}
	mounts := []bailiff.Mount{{Source: dir, Target: "/p", Protected: []string{".git", ".git/config", ".git/hooks/", "**/.git", ".envrc"}}}
	got := Guarded(mounts, []bailiff.Mount{{Source: "/state", Target: "/p/.git"}})[0].Protected
	if want := []string{"**/.git", ".envrc", "hooks/", "scripts/check"}; !reflect.DeepEqual(got, want) {
		t.Errorf("compared are %q, want %q", got, want)
	}
	if got := Guarded(mounts, nil); !reflect.DeepEqual(got, mounts) {
		t.Errorf("of a repository that is seen are compared %q", got[0].Protected)
	}
}
