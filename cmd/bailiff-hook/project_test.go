package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestAProjectIsOfTheSidecarsOwnMachine(t *testing.T) {
	for listen, want := range map[string]bool{"unix:///run/a.sock": true, "tcp://127.0.0.1:1": true, "tcp://[::1]:1": true,
		"tcp://localhost:1": true, "tcp://10.0.0.1:1": false, "tcp://x.test:1": false, "tcp://localhost.x.test:1": false} {
		if got := (program{listen: listen}).isBeside(); got != want {
			t.Errorf("%s is on this machine: %v, want %v", listen, got, want)
		}
	}
}

func TestAProjectHoldsWhatNothingElseIsShownAt(t *testing.T) {
	shown := func(target string, projects ...string) decided {
		mounts := []bailiff.Mount{{Source: "/p", Target: "/p"}, {Source: "/q", Target: target}}
		return decided{Decision: allowing("docker", mounts...), projects: projects}
	}
	for _, c := range []struct {
		d     decided
		files []string
		want  string
	}{
		{shown("/p/sub", "/p"), []string{"/p/x", "/p/y/z"}, "/p"},
		{shown("/p/sub", "/p"), []string{"/p/sub/x"}, ""},
		{shown("/p/sub", "/p"), []string{"/p/x", "/p/sub/x"}, ""},
		{shown("/p/sub", "/p"), []string{"/p"}, ""},
		{shown("/q", "/p"), []string{"/p"}, "/p"},
		{shown("/q", "/p"), []string{"/p/x", "/q/x"}, ""},
		{shown("/q", "/p", "/q"), []string{"/p/x", "/q/x"}, ""},
		{shown("/q"), []string{"/p/x"}, ""},
		{shown("/q", "/p"), []string{"/"}, ""},
		{shown("/q", "/p"), []string{"/px"}, ""},
	} {
		if got := c.d.projectOf(c.files); got != c.want {
			t.Errorf("%q is in %q, want %q", c.files, got, c.want)
		}
	}
}

func TestARepositorysOwnFilesAreProtectedWhereverItLies(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"bare/hooks", "sub"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bare/HEAD"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	protects := func(places ...string) (got []string) {
		d := decided{Decision: allowing("docker", bailiff.Mount{Source: dir, Target: dir, Protected: places})}
		for _, file := range []string{"a/b/.git/config", "a/.GIT", "a/head", "HEAD", "bare/config", "bare/hooks/pre-push", "sub/config",
			"bare/x/y/z", "a/.github/x", "a/git"} {
			if d.protects([]string{filepath.Join(dir, file)}) {
				got = append(got, file)
			}
		}
		return got
	}
	if got, want := protects("**/.git"), []string{"a/b/.git/config", "a/.GIT", "a/head", "HEAD", "bare/config",
		"bare/hooks/pre-push"}; !slices.Equal(got, want) {
		t.Errorf("protected are %q, want %q", got, want)
	}
	if got := protects(".git"); len(got) > 0 {
		t.Errorf("without the pattern protected are %q", got)
	}
}

func TestAProtectedPlaceIsKnownHoweverItIsWritten(t *testing.T) {
	d := decided{Decision: allowing("docker", bailiff.Mount{Source: "/p", Target: "/p", Protected: []string{".envrc", ".claude/",
		".git/modules/*/hooks/",
		"**/.npmrc", "**/.vscode/tasks.json", "**/*.code-workspace"}})}
	var got []string
	for _, file := range []string{"/p/.envrc", "/p/.ENVRC", "/p/.envrc2", "/p/sub/.envrc", "/p/.Claude/x/y", "/p/.git",
		"/p/.git/modules/a/Hooks/x", "/p/.git/modules/a/x", "/q/.envrc", "/p/x",
		"/p/a/b/.npmrc", "/p/.npmRC", "/p/a/.npmrc2", "/p/a/.VScode/tasks.json", "/p/a/.vscode", "/p/a/.vscode/launch.json",
		"/p/tasks.json",
		"/p/a/x.Code-Workspace", "/p/code-workspace"} {
		if d.protects([]string{"/p/x", file}) {
			got = append(got, file)
		}
	}
	if want := []string{"/p/.envrc", "/p/.ENVRC", "/p/.Claude/x/y", "/p/.git", "/p/.git/modules/a/Hooks/x", "/p/a/b/.npmrc", "/p/.npmRC",
		"/p/a/.VScode/tasks.json", "/p/a/.vscode", "/p/a/x.Code-Workspace"}; !slices.Equal(got, want) {
		t.Errorf("protected are %q, want %q", got, want)
	}
}
