package backendtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// hostFile makes a file on this machine, outside of what a sandbox may see.
func hostFile(t testing.TB, content string) string {
	path := filepath.Join(t.TempDir(), "file")
	Must(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func digests(t *testing.T, b box) {
	b.says(`printf hello > a.txt; mkdir -p d; printf hello > d/b; mkfifo pipe; ln -sf a.txt link; truncate -s 65M big`, "")
	const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	b.says(`mkdir -p d/e; ln -sfn d/e far; printf hello > ~/at-home`, "")
	files, err := b.Digest(t.Context(), "", []string{"a.txt", "d/b", "link", "far/../b", "~/at-home", "missing", "a.txt/below"})
	want := []bailiff.File{{Path: "a.txt", SHA256: hello}, {Path: "d/b", SHA256: hello}, {Path: "link", SHA256: hello},
		{Path: "far/../b", SHA256: hello},
		{Path: "~/at-home", SHA256: hello}, {Path: "missing"}, {Path: "a.txt/below"}}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("got %v, %v, want %v", files, err, want)
	}
	b.says(`ln -sfn /proc/self/cwd/a.txt elsewhere; printf hello > 'a*'`, "")
	for _, path := range []string{"a*", "$X/a.txt", "~bob/a.txt", `\~/a.txt`, "/proc/self/cmdline", "/dev/fd/0", "/x/../dev/stdin",
		"elsewhere"} {
		if files, err := b.Digest(t.Context(), "", []string{"a.txt", path}); err == nil ||
			!strings.Contains(err.Error(), "cannot be bound to an approval: name the file") {
			t.Errorf("got %v, %v for %s, want an error that asks for a name", files, err, path)
		}
	}
	for _, path := range []string{"pipe", "d", "big", "/dev/zero", strings.Repeat("x", 40<<10)} {
		if files, err := b.Digest(t.Context(), "", []string{path}); err == nil {
			t.Errorf("got %v for %.20s, want an error", files, path)
		}
	}
	b.says(`rm -r a.txt d pipe link big far elsewhere 'a*' ~/at-home`, "")
}
