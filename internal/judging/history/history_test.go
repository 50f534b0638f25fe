package history

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

func open(t *testing.T, dir string) *History {
	t.Helper()
	h, err := Open(dir, slog.New(slog.DiscardHandler))
	must(t, err)
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// revision is the nth that was in force.
func revision(n int) Revision {
	return Revision{Name: fmt.Sprintf("%08x", n), Content: "c", Way: ByFiles, Since: time.Unix(int64(n), 0).UTC(),
		Files: []string{"/p.rego"}, Bundles: map[string]string{"b.tar.gz": "v1"}}
}

func files(n int) []File {
	return []File{{Name: "/p.rego", Place: "p.rego", Archive: "b.tar.gz", Text: fmt.Appendf(nil, "package p%d\xff\n", n)}}
}

func TestWhatWasInForceIsKeptWhole(t *testing.T) {
	dir := t.TempDir()
	must(t, open(t, dir).Keep(revision(1), files(1)))
	h := open(t, dir)
	all, err := h.All()
	if err != nil || !reflect.DeepEqual(all, []Revision{revision(1)}) {
		t.Errorf("kept are %+v, %v", all, err)
	}
	if got, err := h.Files(revision(1)); err != nil || !reflect.DeepEqual(got, files(1)) {
		t.Errorf("its files are %+v, %v", got, err)
	}
	for path, want := range map[string]os.FileMode{"revisions": 0o700, "revisions/00000001.json": 0o600, "revisions/00000001.gz": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want mode %o", path, info, err, want)
		}
	}
}

func TestWhatASidecarThatWasKilledHadBegunIsCleared(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	must(t, h.Keep(revision(1), files(1)))
	must(t, h.RollBack(api.Rollback{Revision: "00000001"}))
	for _, place := range []string{".", "revisions"} {
		must(t, os.WriteFile(filepath.Join(dir, place, ".new-1"), []byte("{"), 0o600))
	}
	h = open(t, dir)
	if left, err := filepath.Glob(filepath.Join(dir, "*", ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	left, err := os.ReadDir(dir)
	if word, wrong := h.RolledBack(); err != nil || len(left) != 2 || wrong != nil || word == nil {
		t.Errorf("left are %v, %v, the word is %v, %v", left, err, word, wrong)
	}
}

func TestTheLastRevisionsAreKept(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	for n := 1; n <= Kept+3; n++ {
		must(t, h.Keep(revision(n), files(n)))
	}
	again := revision(6) // comes into force anew
	again.Since, again.Way = time.Unix(1000, 0).UTC(), ByRollback
	must(t, h.Keep(again, files(6)))
	all, err := h.All()
	if err != nil || len(all) != Kept || all[0].Name != again.Name || all[0].Way != ByRollback || all[1].Name != revision(Kept+3).Name ||
		all[Kept-1].Name != revision(4).Name {
		t.Errorf("kept are %d, %+v, %v", len(all), all, err)
	}
	left, err := os.ReadDir(filepath.Join(dir, "revisions"))
	if err != nil || len(left) != 2*Kept {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}

func TestARevisionIsFoundByItsBeginning(t *testing.T) {
	h := open(t, t.TempDir())
	for _, name := range []string{"abcdef01", "abcdef02", "fedcba01"} {
		r := revision(1)
		r.Name = name
		must(t, h.Keep(r, files(1)))
	}
	for name, want := range map[string]string{
		"abcdef01": "abcdef01", "fedcba": "fedcba01", "abcdef": "2 begin so", "fed": "at least 6", "": "at least 6",
		"000000": "among the last 20", "../../abcdef01": "among the last 20",
	} {
		r, err := h.Find(name)
		if err == nil && r.Name != want || err != nil && (!errors.Is(err, api.ErrRevisionUnknown) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q is %q, %v, want %s", name, r.Name, err, want)
		}
	}
}

func TestWhatCannotBeReadIsNotHandedOut(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, texts string){
		"it is gone":          func(t *testing.T, texts string) { must(t, os.Remove(texts)) },
		"it is cut":           func(t *testing.T, texts string) { must(t, os.Truncate(texts, 20)) },
		"it is empty":         func(t *testing.T, texts string) { must(t, os.Truncate(texts, 0)) },
		"others may write it": func(t *testing.T, texts string) { must(t, os.Chmod(texts, 0o666)) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := open(t, dir)
			must(t, h.Keep(revision(1), files(1)))
			spoil(t, filepath.Join(dir, "revisions", "00000001.gz"))
			if got, err := h.Files(revision(1)); err == nil || !strings.Contains(err.Error(), "00000001.gz") {
				t.Errorf("its files are %+v, %v", got, err)
			}
		})
	}
}

func TestARevisionThatCannotBeReadIsListedAsSuch(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	must(t, h.Keep(revision(1), files(1)))
	must(t, os.WriteFile(filepath.Join(dir, "revisions", "00000001.json"), []byte(`{"revision": "0000`), 0o600))
	if all, err := h.All(); err != nil || len(all) != 1 || all[0].Name != "00000001" || !all[0].Damaged {
		t.Errorf("kept are %+v, %v", all, err)
	}
}

func TestAWordToRollBackHoldsUntilItIsTakenBack(t *testing.T) {
	dir := t.TempDir()
	word := api.Rollback{Revision: "abc", By: "ana", Via: "uid:1", Reason: "why", At: time.Unix(5, 0).UTC()}
	must(t, open(t, dir).RollBack(word))
	if got, err := open(t, dir).RolledBack(); err != nil || got == nil || *got != word {
		t.Errorf("the word is %+v, %v", got, err)
	}
	must(t, open(t, dir).Resume())
	if got, err := open(t, dir).RolledBack(); err != nil || got != nil {
		t.Errorf("the word is %+v, %v", got, err)
	}
	must(t, open(t, dir).Resume())
}

func TestAWordThatCannotBeReadIsAFault(t *testing.T) {
	for _, text := range []string{"", "{}", `{"revision": ""}`, `{"revision": "ab`} {
		h := open(t, t.TempDir())
		must(t, os.WriteFile(h.RollbackFile(), []byte(text), 0o600))
		if got, err := h.RolledBack(); err == nil || !strings.Contains(err.Error(), "rollback.json") {
			t.Errorf("%q is the word %+v, %v", text, got, err)
		}
	}
}
