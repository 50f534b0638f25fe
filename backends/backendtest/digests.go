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
	b.says(`mkdir -p d/e piped; mkfifo piped/p; ln -sfn d/e far; printf hello > ~/at-home`, "")
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
	for _, path := range []string{"pipe", "piped", "big", "/dev/zero", strings.Repeat("x", 40<<10)} {
		if files, err := b.Digest(t.Context(), "", []string{path}); err == nil {
			t.Errorf("got %v for %.20s, want an error", files, path)
		}
	}
	folderDigest(t, b)
	b.says(`rm -r a.txt d pipe piped link big far elsewhere 'a*' ~/at-home`, "")
}

// folderDigest wants another digest of a folder once anything in it differs, and the first one again
// once all is as before.
func folderDigest(t *testing.T, b box) {
	digest := func() string {
		files, err := b.Digest(t.Context(), "", []string{"d"})
		if err != nil || len(files[0].SHA256) != 64 {
			t.Fatalf("got %v, %v for a folder, want one digest", files, err)
		}
		return files[0].SHA256
	}
	first := digest()
	for change, back := range map[string]string{"printf x > d/b": "printf hello > d/b", "touch d/c": "rm d/c", "mv d/b d/c": "mv d/c d/b"} {
		b.says(change, "")
		if digest() == first {
			t.Errorf("after %q the folder has the digest that it had before", change)
		}
		b.says(back, "")
		if digest() != first {
			t.Errorf("after %q the folder has another digest than before", back)
		}
	}
}
