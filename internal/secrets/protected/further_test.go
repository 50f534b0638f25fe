package protected_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/secrets/protected"
)

var leading = []string{".git", ".git/config", ".git/hooks/", ".claude/", ".cursor/", ".envrc"}

// linked is a project with links of its user's in protected places, and settings of git that name files.
func linked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	sh(t, dir, `git init -q . && mkdir .agents tools cur .githooks scripts .claude docs && echo x > .agents/mcp.json && echo x > tools/envrc
		echo x > cur/mcp.json; echo x > scripts/clean.py; echo x > scripts/check; echo x > scripts/pre-push; echo x > docs/a
		ln -s ../.agents/mcp.json .claude/mcp.json && ln -s tools/envrc .envrc && ln -s cur .cursor && ln -s ../../docs .claude/docs
		mkdir .claude/deep && ln -s "$PWD/tools/deep" .claude/deep/x; ln -s ../../scripts/pre-push .git/hooks/pre-push
		ln -s /etc/hostname .claude/out; ln -s .. .claude/up
		git config core.hooksPath .githooks; git config include.path ../.gitsettings
		git config filter.x.clean "python3 scripts/clean.py %f"
		git config alias.c '!scripts/check'; printf '[core]\n\tfsmonitor = "scripts/watch"\n' > .gitsettings; echo x > scripts/watch`)
	return dir
}

func TestWhereLinksAndGitsSettingsLeadIsKnown(t *testing.T) {
	t.Parallel()
	dir := linked(t)
	want := []string{".agents/mcp.json", ".githooks/", ".gitsettings", "cur/", "scripts/check", "scripts/clean.py",
		"scripts/pre-push", "scripts/watch", "tools/deep", "tools/envrc"}
	if got := protected.Further(dir, leading); !slices.Equal(got, want) {
		t.Errorf("they lead to %q, want %q", got, want)
	}
	if got, want := protected.Folders(dir, leading), []string{".claude", ".git/hooks", ".githooks", "cur"}; !slices.Equal(got, want) {
		t.Errorf("folders %q, want %q", got, want)
	}
}

func TestWhatLinksAndGitsSettingsLeadToIsPutBack(t *testing.T) {
	t.Parallel()
	for _, want := range []string{".agents/mcp.json", "tools/envrc", "tools/deep", ".gitsettings", "scripts/clean.py", "scripts/check",
		"scripts/watch", "scripts/pre-push"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			dir := linked(t)
			var k protected.Keeper
			w, err := k.Watch([]bailiff.Mount{{Source: dir, Target: dir, Protected: leading}})
			if err != nil {
				t.Fatal(err)
			}
			sh(t, dir, "echo evil > "+want+"; echo x > main.go; echo x > docs/a; mkdir src; echo x > scripts/other")
			changes, err := w.End()
			if err != nil || len(changes) != 1 || changes[0].Path != filepath.Join(dir, want) {
				t.Errorf("changes %v, %v", changes, err)
			}
			sh(t, dir, `test "$(cat `+want+` 2>/dev/null || echo x)" != evil; test -e src; test -e docs/a`)
		})
	}
}
