package chat

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openKeys opens a set of keys in a file.
func openKeys(t *testing.T, path string, most int) *keySet {
	t.Helper()
	j, err := openKeySet(path, most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.close() })
	return j
}

func adds(t *testing.T, j *keySet, text string, want bool) {
	t.Helper()
	if isNew, err := j.add(keyOf(text)); isNew != want || err != nil {
		t.Errorf("%s is new: %v, %v; want %v", text, isNew, err, want)
	}
}

func TestAKeySetRemembersTheLastAndForgetsTheFirst(t *testing.T) {
	t.Parallel()
	const most = 10
	path := filepath.Join(t.TempDir(), "seen")
	j := openKeys(t, path, most)
	for i := range 5 * most {
		adds(t, j, fmt.Sprint(i), true)
		adds(t, j, fmt.Sprint(i), false)
		if i%7 == 0 { // as after a restart
			_ = j.close()
			j = openKeys(t, path, most)
		}
	}
	for i := range 5 * most {
		known := j.has(keyOf(fmt.Sprint(i)))
		if i >= 4*most && !known || i < 2*most && known {
			t.Errorf("%d is known: %v", i, known)
		}
	}
	for _, name := range []string{path, j.previousPath()} {
		if text, err := os.ReadFile(name); err != nil || len(text) > (most+1)*(keyLength+2) {
			t.Errorf("%s holds %d bytes, %v", name, len(text), err)
		}
	}
	if got := len(j.current) + len(j.previous); got > 2*most {
		t.Errorf("%d marks are in memory", got)
	}
}

func TestWhatIsUsedAgainIsRemembered(t *testing.T) {
	t.Parallel()
	const most = 10
	j := openKeys(t, filepath.Join(t.TempDir(), "threads"), most)
	adds(t, j, "used", true)
	for i := range 5 * most {
		adds(t, j, fmt.Sprint(i), true)
		adds(t, j, "used", false)
	}
}

func TestALineThatWasNotWrittenToItsEndCostsNoOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seen")
	j := openKeys(t, path, 10)
	adds(t, j, "a", true)
	adds(t, j, "b", true)
	_ = j.close()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	j = openKeys(t, path, 10)
	adds(t, j, "c", true)
	_ = j.close()
	j = openKeys(t, path, 10)
	adds(t, j, "a", false)
	adds(t, j, "c", false)
	adds(t, j, "b", true)
}

func TestWhatCouldNotBeWrittenIsNotTaken(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "seen")
	j := openKeys(t, path, 2)
	adds(t, j, "a", true)
	adds(t, j, "b", true)
	if err := os.Mkdir(j.previousPath(), 0o700); err != nil { // in the way of the file
		t.Fatal(err)
	}
	for range 3 {
		if isNew, err := j.add(keyOf("c")); isNew || err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("c is new: %v, %v", isNew, err)
		}
	}
	adds(t, j, "b", false)
	if err := os.Remove(j.previousPath()); err != nil {
		t.Fatal(err)
	}
	adds(t, j, "c", true)
	adds(t, j, "a", false)
}

func TestAStoreOutlivesARestartAndStaysPrivate(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "telegram")
	n := openStore(t, folder)
	if got := n.Recall("offset"); got != "" {
		t.Errorf("at first it recalls %q", got)
	}
	for _, value := range []string{"41", "42", "42"} {
		if err := n.Remember("offset", value); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Remember("../up", "x"); err == nil {
		t.Error("it notes under any name")
	}
	if _, err := n.firstSeen(Ref{dm, "m1"}); err != nil {
		t.Fatal(err)
	}
	if err := n.join(thread); err != nil {
		t.Fatal(err)
	}
	_ = n.Close()
	again := openStore(t, folder)
	if isNew, err := again.firstSeen(Ref{dm, "m1"}); again.Recall("offset") != "42" || again.Recall("../up") != "" || isNew || err != nil ||
		!again.tookPart(thread) || again.tookPart(channel) {
		t.Errorf("after a restart it recalls %q, the message is new: %v, %v", again.Recall("offset"), isNew, err)
	}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
