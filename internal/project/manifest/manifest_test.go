package manifest_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/project/manifest"
)

func TestAProjectDeclaresWhatItsGitTracksAndWhatItsBuildFilesSay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tool": "\x7fELF tracked", "sub/tool": "#!/bin/sh\n", "edited": "before", "swapped": "x", "linked": "x",
		"Makefile":   "app bin/other ../up: main.c\n\tcc -o $@ $<\nVALUE := x\n.PHONY: all\n",
		"Cargo.toml": "[package]\nname = \"x\"\n", "deep/meson.build": "",
	} {
		write(t, dir, name, text)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", ".")
	for name, text := range map[string]string{
		"edited": "not staged", "untracked": "x", "app": "\x7fELF", "bin/other": "x", "target/debug/x": "x", "web/target/debug/x": "x",
		"VALUE": "x", "deep/build/y": "y", "target/release/x": "x",
	} {
		write(t, dir, name, text)
	}
	declared, err := manifest.Of(dir)
	must(t, err)
	write(t, dir, "target/release/x", "built anew")
	write(t, dir, "target/debug/new", "x")
	write(t, dir, "swapped", "y")
	must(t, errors.Join(os.Remove(filepath.Join(dir, "linked")), os.Symlink("tool", filepath.Join(dir, "linked"))))
	for name, want := range map[string]bool{
		"tool": true, "sub/tool": true, "app": true, "bin/other": true, "target/debug/x": true, "sub/../tool": true, "deep/build/y": true,
		"edited": false, "untracked": false, "swapped": false, "linked": false, "missing": false, "web/target/debug/x": false,
		"VALUE": false, "../tool": false, "target/release/x": false, "target/debug/new": false, "": false,
	} {
		if got := declared.Has(dir, dir+"/"+name); got != want {
			t.Errorf("the project declares the file %s: %v, want %v", name, got, want)
		}
	}
}

func TestTheFilesOfARepositoryWithLongHashesAreDeclared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "tool", "x")
	git(t, dir, "init", "-q", "--object-format=sha256")
	git(t, dir, "add", ".")
	declared, err := manifest.Of(dir)
	if err != nil || !declared.Has(dir, dir+"/tool") {
		t.Errorf("the project declares %d bytes (%v), want the tool among them", len(declared), err)
	}
}

func TestWithoutARepositoryNoProjectIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := manifest.Of(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that there is none", err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)))
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
