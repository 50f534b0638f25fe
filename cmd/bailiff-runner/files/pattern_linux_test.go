package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func filled(t *testing.T, path string, size int) {
	t.Helper()
	backendtest.Must(t, os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600))
}

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
		found, err := Match(wire.Pattern{Dir: root, Folder: ".", Pattern: pattern, Within: time.Hour})
		slices.Sort(found.Paths)
		if err != nil || !found.All || !slices.Equal(found.Paths, want) {
			t.Errorf("%s finds %v, all: %v, %v; want %v", pattern, found.Paths, found.All, err, want)
		}
	}
	if found, err := Match(wire.Pattern{Dir: root, Folder: ".", Pattern: "**/*"}); err != nil || len(found.Paths) > 0 || !found.All {
		t.Errorf("within no time it finds %+v, %v", found, err)
	}
	if _, err := Match(wire.Pattern{Dir: root, Folder: ".", Pattern: "[a"}); err == nil {
		t.Error("a pattern that is none finds something")
	}
}

func TestAPatternThatMatchesTooManyFilesSaysSo(t *testing.T) {
	root := t.TempDir()
	for i := range mostMatches + 1 {
		filled(t, filepath.Join(root, fmt.Sprint(i)), 1)
	}
	found, err := Match(wire.Pattern{Folder: root, Pattern: "*", Within: time.Hour})
	if err != nil || found.All || len(found.Paths) != mostMatches {
		t.Errorf("of too many files it finds %d, all: %v, %v", len(found.Paths), found.All, err)
	}
	if text := wire.Encode(found); len(text) > wire.MaxPayload {
		t.Errorf("the answer has %d bytes, want one frame", len(text))
	}
}

func TestOfStemsAFolderIsLookedThroughWhateverElseIsInIt(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	for _, name := range []string{"re.py", "re.cpython-311-x86_64-linux-gnu.so", "retro.py", "json/__init__.pyc", "jsons/__init__.py",
		"json/decoder.py"} {
		backendtest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		filled(t, filepath.Join(root, name), 1)
	}
	filled(t, filepath.Join(elsewhere, "__init__.py"), 1)
	for link, target := range map[string]string{"ast": elsewhere, "other": elsewhere, "csv": "csv", "dis": "gone"} {
		backendtest.Must(t, os.Symlink(target, filepath.Join(root, link)))
	}
	for i := range mostMatches + 1 {
		filled(t, filepath.Join(root, fmt.Sprintf("m%d.py", i)), 1)
	}
	backendtest.Must(t, os.Symlink("jsons", filepath.Join(root, "up")))
	stems := []string{"re", "json", "ast", "csv", "dis"}
	find := func(folder, pattern string, within time.Duration) []string {
		found, err := Match(wire.Pattern{Dir: root, Folder: folder, Pattern: pattern, Within: within, Stems: stems})
		slices.Sort(found.Paths)
		if err != nil || !found.All {
			t.Errorf("%s in %s finds %v, all: %v, %v", pattern, folder, found.Paths, found.All, err)
		}
		return found.Paths
	}
	for _, c := range []struct {
		folder, pattern string
		want            []string
	}{
		{".", "*.[ps][yo]*", []string{"re.cpython-311-x86_64-linux-gnu.so", "re.py"}},
		{"up/..", "*.[ps][yo]*", []string{"re.cpython-311-x86_64-linux-gnu.so", "re.py"}},
		{".", "*/__init__*.[ps][yo]*", []string{"ast/__init__.py", "json/__init__.pyc"}},
		{"absent", "*.py", nil},
		{"re.py", "*.py", nil},
	} {
		if got := find(c.folder, c.pattern, time.Hour); !slices.Equal(got, c.want) {
			t.Errorf("%s in %s finds %v, want %v", c.pattern, c.folder, got, c.want)
		}
		if got := find(c.folder, c.pattern, 0); len(got) > 0 {
			t.Errorf("within no time %s in %s finds %v", c.pattern, c.folder, got)
		}
	}
}

// What an old file does is new where its folder has been linked or moved to lately.
func TestAnOldFileIsYoungInAFolderOfAStemThatIsNew(t *testing.T) {
	root, old := t.TempDir(), t.TempDir()
	filled(t, filepath.Join(old, "__init__.py"), 1)
	h := hunt{stems: map[string]bool{"re": true}, found: wire.Matches{All: true}}
	var file, link unix.Stat_t
	backendtest.Must(t, unix.Stat(filepath.Join(old, "__init__.py"), &file))
	for link.Ctim.Nano() <= file.Ctim.Nano() { // the clock of the file system is a coarse one
		_ = os.Remove(filepath.Join(root, "re"))
		backendtest.Must(t, os.Symlink(old, filepath.Join(root, "re")))
		backendtest.Must(t, unix.Lstat(filepath.Join(root, "re"), &link))
	}
	h.since = time.Unix(0, file.Ctim.Nano())
	h.named(root, []string{"*", "__init__.py"})
	if want := []string{"re/__init__.py"}; !slices.Equal(h.found.Paths, want) {
		t.Errorf("behind a new link it finds %v", h.found.Paths)
	}
	h.since, h.found.Paths = time.Unix(0, link.Ctim.Nano()), nil
	if h.named(root, []string{"*", "__init__.py"}); len(h.found.Paths) > 0 {
		t.Errorf("behind an old link it finds %v", h.found.Paths)
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
