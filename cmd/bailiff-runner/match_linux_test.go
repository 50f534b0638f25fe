package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func TestAPatternFindsTheYoungFilesThatItMatches(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{
		"test_a.py", "a/b/test_b.py", "a/other.py", ".hidden/test_c.py", "node_modules/test_d.py", "a/test_dir.py/x",
	} {
		backendtest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		filled(t, filepath.Join(root, name), 1)
	}
	backendtest.Must(t, os.Symlink("a/other.py", filepath.Join(root, "test_link.py")))
	backendtest.Must(t, os.Symlink("a", filepath.Join(root, "again")))
	backendtest.Must(t, unix.Mkfifo(filepath.Join(root, "a/test_fifo.py"), 0o600))
	for pattern, want := range map[string][]string{
		"**/test_*.py":   {"a/b/test_b.py", "a/test_fifo.py", "test_a.py", "test_link.py"},
		"*.py":           {"test_a.py", "test_link.py"},
		"a/*.py":         {"a/other.py", "a/test_fifo.py"},
		"*/*/test_?.py":  {"a/b/test_b.py"},
		"absent/**/*.py": nil,
	} {
		found, err := matching(wire.Pattern{Dir: root, Folder: ".", Pattern: pattern, Within: time.Hour})
		slices.Sort(found.Paths)
		if err != nil || !found.All || !slices.Equal(found.Paths, want) {
			t.Errorf("%s finds %v, all: %v, %v; want %v", pattern, found.Paths, found.All, err, want)
		}
	}
	if found, err := matching(wire.Pattern{Dir: root, Folder: ".", Pattern: "**/*"}); err != nil || len(found.Paths) > 0 || !found.All {
		t.Errorf("within no time it finds %+v, %v", found, err)
	}
	if _, err := matching(wire.Pattern{Dir: root, Folder: ".", Pattern: "[a"}); err == nil {
		t.Error("a pattern that is none finds something")
	}
}

func TestAPatternThatMatchesTooManyFilesSaysSo(t *testing.T) {
	root := t.TempDir()
	for i := range mostMatches + 1 {
		filled(t, filepath.Join(root, fmt.Sprint(i)), 1)
	}
	found, err := matching(wire.Pattern{Folder: root, Pattern: "*", Within: time.Hour})
	if err != nil || found.All || len(found.Paths) != mostMatches {
		t.Errorf("of too many files it finds %d, all: %v, %v", len(found.Paths), found.All, err)
	}
	if text := wire.Encode(found); len(text) > wire.MaxPayload {
		t.Errorf("the answer has %d bytes, want one frame", len(text))
	}
}

func TestTheDigestOfAFolderIsOfAllThatIsInIt(t *testing.T) {
	root := t.TempDir()
	filled(t, filepath.Join(root, "__main__.py"), 1)
	seen, behind := map[string]string{}, filepath.Join(t.TempDir(), "m.py")
	for _, change := range []struct {
		what string
		do   func() error
	}{
		{"as it is", func() error { return nil }},
		{"another file", func() error { return os.WriteFile(filepath.Join(root, "m.py"), []byte("a"), 0o600) }},
		{"another content", func() error { return os.WriteFile(filepath.Join(root, "m.py"), []byte("b"), 0o600) }},
		{"another name", func() error { return os.Rename(filepath.Join(root, "m.py"), filepath.Join(root, "n.py")) }},
		{"a link", func() error { return os.Symlink(behind, filepath.Join(root, "m.py")) }},
		{"another content behind the link", func() error { return os.WriteFile(behind, []byte("c"), 0o600) }},
	} {
		backendtest.Must(t, change.do())
		digest, err := digestOf(root)
		if before, again := seen[digest]; err != nil || again {
			t.Errorf("%s: %q, %v, which is that of %q", change.what, digest, err, before)
		}
		seen[digest] = change.what
	}
	for i := range mostInFolder {
		filled(t, filepath.Join(root, fmt.Sprint(i)), 1)
	}
	if digest, err := digestOf(root); err == nil {
		t.Errorf("of a folder of too many files it is %s", digest)
	}
}
