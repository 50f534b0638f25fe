package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrust(t *testing.T) {
	const ok = ""
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		path string
		want string
	}{
		{"a file of one's own", file("f", 0o644), "f", ok},
		{"a file its group may write", file("f", 0o664), "f", "others may write"},
		{"a file everybody may write", file("f", 0o646), "f", "others may write"},
		{"a file that is not there", nothing, "f", "no such file"},
		{"a file in a folder others may write", in("d", 0o777, file("d/f", 0o600)), "d/f", "others may write"},
		{"a file in a sticky folder", in("d", 0o777|os.ModeSticky, file("d/f", 0o600)), "d/f", ok},
		{"a sticky folder itself", in("d", 0o777|os.ModeSticky, nothing), "d", "others may write"},
		{"a folder of one's own", in("d", 0o755, file("d/f", 0o600)), "d", ok},
		{"a folder with a file others may write", in("d", 0o755, file("d/e/f", 0o666)), "d", "others may write"},
		{"a link to a file of one's own", link("f", "l", file("f", 0o600)), "l", ok},
		{"a link to a file others may write", link("f", "l", file("f", 0o666)), "l", "others may write"},
		{"a link into a folder others may write", in("d", 0o777, link("d/f", "l", file("d/f", 0o600))), "l", "others may write"},
		{"a folder reached by a link that others may write", in("d", 0o777, link("d", "l", file("d/f", 0o600))), "l/f", "others may write"},
		{"a folder that links to itself", link(".", "d/loop", file("d/f", 0o600)), "d", ok},
		{"the swapped folders of a mounted configuration", link("..2026", "d/..data", link("..data/f", "d/f", file("d/..2026/f", 0o644))),
			"d", ok},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			err := Path(filepath.Join(dir, c.path))
			if (err == nil) != (c.want == ok) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWhatAnotherUserOwnsIsNotTrusted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x", 0o600)
	c := check{self: os.Geteuid() + 1, seen: map[string]bool{}}
	if os.Geteuid() == 0 {
		c.self = 0
		must(t, os.Chown(path, 12345, -1))
	}
	if err := c.whole(path); err == nil || !strings.Contains(err.Error(), "belongs to uid") {
		t.Errorf("got %v, want a refusal", err)
	}
}

type maker = func(t *testing.T, dir string)

func nothing(*testing.T, string) {}

func file(path string, mode os.FileMode) maker {
	return func(t *testing.T, dir string) { write(t, filepath.Join(dir, path), "x", mode) }
}

func in(path string, mode os.FileMode, inside maker) maker {
	return func(t *testing.T, dir string) {
		must(t, os.MkdirAll(filepath.Join(dir, path), 0o700))
		inside(t, dir)
		must(t, os.Chmod(filepath.Join(dir, path), mode))
	}
}

func link(target, path string, first maker) maker {
	return func(t *testing.T, dir string) {
		first(t, dir)
		must(t, os.Symlink(target, filepath.Join(dir, path)))
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), mode))
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
