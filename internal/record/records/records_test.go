package records

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type note struct {
	Name string `json:"name"`
}

func (n note) Key() string { return n.Name }

func open(t *testing.T, c Config[note]) *Store[note] {
	t.Helper()
	c.Log = slog.New(slog.DiscardHandler)
	s, err := Open(c)
	must(t, err)
	return s
}

func TestWhatAWriterLeftUnfinishedIsClearedAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	s := open(t, Config[note]{Dir: dir, Durable: true})
	must(t, s.Keep(note{"a"}))
	must(t, os.WriteFile(filepath.Join(dir, unfinished+"1"), []byte("{"), 0o600))
	all, err := open(t, Config[note]{Dir: dir}).All()
	left, wrong := os.ReadDir(dir)
	if err != nil || wrong != nil || len(all) != 1 || all[0].Name != "a" || len(left) != 1 {
		t.Errorf("found %+v in %v, %v, %v", all, left, err, wrong)
	}
}

func TestAFolderIsClearedOfWhatIsUnfinishedAndOfNothingElse(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a-c]") // which is a name, not a pattern
	if err := Clear(dir); err != nil {
		t.Errorf("a folder that is not there says %v", err)
	}
	must(t, os.Mkdir(dir, 0o700))
	must(t, Write(filepath.Join(dir, "a.json"), []byte("{}"), false))
	for _, name := range []string{unfinished + "1", unfinished + "2"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	wrong := Clear(dir)
	if left, err := os.ReadDir(dir); wrong != nil || err != nil || len(left) != 1 || left[0].Name() != "a.json" {
		t.Errorf("left are %v, %v, %v", left, wrong, err)
	}
	if err := Clear(filepath.Join(dir, "a.json")); err == nil {
		t.Error("what is no folder is cleared")
	}
}

func TestADamagedEntryIsDroppedUnlessItsNameIsEnough(t *testing.T) {
	for named, want := range map[bool]int{false: 0, true: 1} {
		c := Config[note]{Dir: t.TempDir()}
		if named {
			c.Named = func(key string, _ time.Time) (note, bool) { return note{key}, true }
		}
		must(t, os.WriteFile(filepath.Join(c.Dir, "a.json"), []byte(`{"name": "b"}`), 0o600))
		all, err := open(t, c).All()
		_, gone := os.Stat(filepath.Join(c.Dir, "a.json"))
		if err != nil || len(all) != want || os.IsNotExist(gone) == named {
			t.Errorf("named %v: found %+v, %v, its file: %v", named, all, err, gone)
		}
	}
}

func TestAStrictStoreFailsAtADamagedEntryAndLeavesItAsItIs(t *testing.T) {
	c := Config[note]{Dir: t.TempDir(), Strict: true}
	s, file := open(t, c), filepath.Join(c.Dir, "a.json")
	must(t, s.Keep(note{"b"}))
	for name, text := range map[string]string{"another name": `{"name": "b"}`, "empty": "",
		"a field of a newer version": `{"name": "a", "new": 1}`} {
		must(t, os.WriteFile(file, []byte(text), 0o600))
		all, err := s.All()
		if left, wrong := os.ReadFile(file); err == nil || len(all) > 0 || !strings.Contains(err.Error(), file) || wrong != nil ||
			string(left) != text {
			t.Errorf("%s: found %+v, %v; left is %q, %v", name, all, err, left, wrong)
		}
	}
	must(t, s.Drop("a"))
	if all, err := s.All(); err != nil || len(all) != 1 {
		t.Errorf("without it: %+v, %v", all, err)
	}
}

func TestANameThatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config[note]{Dir: dir})
	for _, name := range []string{"", "..", "../a", "a/b", ".a"} {
		if s.Keep(note{name}) == nil {
			t.Errorf("%q is kept", name)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
