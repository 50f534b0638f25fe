package protected_test

import (
	"path/filepath"
	"slices"
	"strings"
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

func TestWhatTheUsersOwnSettingsOfGitNameIsKnown(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	sh(t, dir, "git init -q . && mkdir .githooks && echo x > team && echo x > clean")
	sh(t, home, `mkdir -p .config/git && printf '[core]\n\thooksPath = .githooks\n[include]\n\tpath = more\n' > .config/git/config
		printf '[include]\n\tpath = `+dir+`/team\n\tpath = ~/gone\n' > .config/git/more
		printf '[filter "x"]\n\tclean = ./clean\n' > .gitconfig`)
	if got, want := protected.Further(dir, leading), []string{".githooks/", "clean", "team"}; !slices.Equal(got, want) {
		t.Errorf("they lead to %q, want %q", got, want)
	}
}

func TestWhatGitsSettingsNameInSubmodulesAndLinkedFoldersIsKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sh(t, dir, `g() { git -c protocol.file.allow=always -c user.name=a -c user.email=a@b.test "$@"; }
		git init -q lib; cd lib; g commit -q --allow-empty -m x; cd ..; git init -q main; cd main; g commit -q --allow-empty -m x
		g submodule --quiet add "$PWD/../lib" vendor/lib; git worktree add -q wt; git worktree add -q ../out
		git config core.hooksPath .githooks; git config extensions.worktreeConfig true; git config --worktree diff.external ./own
		git -C wt config --worktree core.hooksPath .wthooks; git -C vendor/lib config core.hooksPath .libhooks; touch own
		git -C ../out config --worktree core.fsmonitor ./watch; touch ../out/watch`)
	for at, want := range map[string][]string{
		"main":            {".githooks", ".wthooks", "own", "vendor/lib/.libhooks", "wt/.githooks", "wt/.wthooks"},
		"out":             {".githooks", "watch"},
		"main/vendor/lib": {".libhooks"},
	} {
		got := protected.Further(filepath.Join(dir, at), []string{".git"})
		got = slices.DeleteFunc(got, func(name string) bool { return strings.HasPrefix(name, ".git/") })
		if !slices.Equal(got, want) {
			t.Errorf("of %s they name %q, want %q", at, got, want)
		}
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
