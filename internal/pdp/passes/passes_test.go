package passes

import (
	"os"
	"path/filepath"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var first, second = Key{1}, Key{2}

func kept(t *testing.T, keys ...Key) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "passes")
	m, err := Open(dir)
	must(t, err)
	must(t, m.Keep(keys))
	return dir
}

func TestWhatPassedIsKnownAfterAStart(t *testing.T) {
	dir := kept(t, first)
	again, err := Open(dir)
	must(t, err)
	if !again.Has(first) || again.Has(second) {
		t.Error("want the first key, and no other")
	}
	must(t, again.Keep([]Key{second}))
	if only := Read(dir); !only.Has(first) || !only.Has(second) {
		t.Error("want both keys for who only reads")
	}
}

func TestWhoOnlyReadsWritesNothing(t *testing.T) {
	dir := kept(t, first)
	must(t, Read(dir).Keep([]Key{second}))
	if Read(dir).Has(second) {
		t.Error("it was written")
	}
	if nowhere := filepath.Join(dir, "nowhere"); Read(nowhere).Has(first) {
		t.Error("there is nothing to know")
	} else if _, err := os.Stat(nowhere); err == nil {
		t.Error("it made the folder")
	}
}

func TestWhatIsDamagedOrAnothersCountsAsNothing(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a bit is another": func(t *testing.T, dir string) {
			change(t, dir, func(text []byte) []byte { text[len(text)-40] ^= 1; return text })
		},
		"cut in half": func(t *testing.T, dir string) { change(t, dir, func(text []byte) []byte { return text[:len(text)/2] }) },
		"a key is lost": func(t *testing.T, dir string) {
			change(t, dir, func(text []byte) []byte { return append(text[:len(text)-64], text[len(text)-32:]...) })
		},
		"empty": func(t *testing.T, dir string) { change(t, dir, func([]byte) []byte { return nil }) },
		"of another state folder": func(t *testing.T, dir string) {
			other := kept(t, first)
			text, err := os.ReadFile(filepath.Join(other, "passed"))
			must(t, err)
			change(t, dir, func([]byte) []byte { return text })
		},
		"moved with its seal": func(t *testing.T, dir string) {
			other := kept(t, first)
			must(t, os.RemoveAll(dir))
			must(t, os.Rename(other, dir))
		},
		"of another build": func(t *testing.T, dir string) {
			m := Read(dir)
			m.build, m.writable = Key{9}, true
			must(t, m.Keep(nil))
		},
		"another user may write it": func(t *testing.T, dir string) { must(t, os.Chmod(filepath.Join(dir, "passed"), 0o666)) },
		"without its seal":          func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "key"))) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := kept(t, first, second)
			spoil(t, dir)
			if m := Read(dir); m.Has(first) || m.Has(second) {
				t.Error("it counts")
			}
			m, err := Open(dir)
			must(t, err)
			must(t, os.Chmod(filepath.Join(dir, "passed"), 0o600))
			if must(t, m.Keep([]Key{second})); !Read(dir).Has(second) || Read(dir).Has(first) {
				t.Error("want what passed since, and nothing else")
			}
		})
	}
}

func change(t *testing.T, dir string, how func([]byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "passed"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "passed"), how(text), 0o600))
}

func TestWhatWasNotNeededForLongestGoes(t *testing.T) {
	m := &Memory{}
	const room = maxBytes / len(Key{})
	many := make([]Key, room)
	for n := range many {
		many[n] = Key{byte(n), byte(n >> 8), byte(n >> 16), 1}
	}
	must(t, m.Keep(many))
	must(t, m.Keep(many[:1]))
	must(t, m.Keep([]Key{second}))
	if len(m.All()) != room || !m.Has(many[0]) || !m.Has(second) || m.Has(many[1]) {
		t.Errorf("got %d keys, want %d without the one that was not needed for longest", len(m.All()), room)
	}
}
