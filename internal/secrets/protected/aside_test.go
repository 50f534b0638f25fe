package protected_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

// leave has a command do something in a project, and remembers what was put back.
func leave(t *testing.T, k *protected.Keeper, dir, script string) {
	t.Helper()
	w := watch(t, k, dir)
	sh(t, dir, script)
	changes, err := w.End()
	if err = errors.Join(err, k.Remember(changes)); err != nil {
		t.Fatal(err)
	}
}

func TestAPersonMayTakeTheChangedVersion(t *testing.T) {
	t.Parallel()
	dir, state := project(t), filepath.Join(t.TempDir(), "aside.json")
	k := &protected.Keeper{File: state}
	leave(t, k, dir, `echo 'export A=2' > .envrc; ln .envrc other; echo '{}' > .mcp.json; rm .git/config; mkdir .claude
		echo x > .claude/x`)
	k = &protected.Keeper{File: state} // the sidecar after it
	if all := k.Aside(); len(all) != 3 {
		t.Errorf("kept aside are %v", all)
	}
	running := watch(t, k, dir)
	for _, name := range []string{".envrc", ".mcp.json", ".claude.refused"} {
		if _, err := k.Adopt(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if changes, err := running.End(); len(changes) > 0 || err != nil {
		t.Errorf("what a person took is put back: %v, %v", changes, err)
	}
	sh(t, dir, `test "$(cat .envrc)" = 'export A=2'; test ! .envrc -ef other; test -e .mcp.json; test -e .claude/x
		test ! -e .mcp.json.refused`)
	all := k.Aside()
	if len(all) != 1 || all[0].Path != filepath.Join(dir, ".envrc") {
		t.Fatalf("of what was there before is kept %v", all)
	}
	if _, err := k.Adopt(filepath.Join(dir, ".envrc")); err != nil {
		t.Error(err)
	}
	sh(t, dir, `test "$(cat .envrc)" = 'export A=1'`)
}

func TestOnlyWhatWasSetAsideIsTaken(t *testing.T) {
	t.Parallel()
	dir := project(t)
	var k protected.Keeper
	leave(t, &k, dir, `echo 'export A=2' > .envrc`)
	if _, err := k.Adopt(filepath.Join(dir, ".mcp.json")); !errors.Is(err, protected.ErrNotKept) {
		t.Errorf("of a file that did not change: %v", err)
	}
	for script, says := range map[string]string{
		`echo evil > .envrc.refused`:                                         "was changed since",
		`rm .envrc.refused; ln -s /etc/passwd .envrc.refused`:                "was changed since",
		`rm .envrc.refused; mkdir .envrc.refused; touch .envrc.refused/evil`: "was changed since",
	} {
		sh(t, dir, script)
		if _, err := k.Adopt(filepath.Join(dir, ".envrc")); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("after %q: %v", script, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, ".envrc")); err != nil || string(text) != "export A=1\n" {
			t.Errorf("after %q there is %q, %v", script, text, err)
		}
		sh(t, dir, `rm -r .envrc.refused; touch .envrc.refused`)
	}
	sh(t, dir, `rm .envrc.refused`)
	if _, err := k.Adopt(filepath.Join(dir, ".envrc")); !errors.Is(err, protected.ErrNotKept) {
		t.Errorf("once it is gone: %v", err)
	}
}

func TestADamagedListOfWhatWasSetAsideLeavesTheFiles(t *testing.T) {
	t.Parallel()
	dir, state := project(t), filepath.Join(t.TempDir(), "aside.json")
	leave(t, &protected.Keeper{File: state}, dir, `echo '{}' > .mcp.json`)
	text, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []string{"", "damaged", strings.Replace(string(text), "]", ", 1]", 1)} {
		if err := os.WriteFile(state, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		k := &protected.Keeper{File: state}
		if _, err := k.Adopt(filepath.Join(dir, ".mcp.json")); !errors.Is(err, protected.ErrNotKept) || len(k.Aside()) > 0 {
			t.Errorf("of %q is kept %v, %v", damaged, k.Aside(), err)
		}
	}
	sh(t, dir, `test -e .mcp.json.refused`)
}
