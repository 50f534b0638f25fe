package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// small has a segment for each line or two.
const small = 1500

// aged is a decision of some days ago.
func aged(id string, days int) api.Event {
	e := decision(id)
	e.Timestamp = time.Now().AddDate(0, 0, -days)
	return e
}

// watched remembers what it was told last.
type watched struct {
	counts
	mu   sync.Mutex
	kept []kept
}

func (w *watched) Kept(bytes int64, held, retired int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, kept{bytes: bytes, held: held, retired: retired})
}

func (w *watched) last() (last kept, retired int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.kept {
		last, retired = k, retired+k.retired
	}
	return last, retired
}

// oldAndNew makes a closed log of ten lines of 100 days ago and three of now, one
// in each segment, and returns the segments' paths.
func oldAndNew(t *testing.T, dir string) []string {
	t.Helper()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1000}})
	for i := range 10 {
		record(t, l, aged(fmt.Sprint("old", i), 100))
	}
	for i := range 3 {
		record(t, l, decision(fmt.Sprint("new", i)))
	}
	must(t, l.Close())
	return paths(t, dir, 13)
}

func paths(t *testing.T, dir string, want int) []string {
	t.Helper()
	names, _, err := segments(dir)
	if err != nil || len(names) != want {
		t.Fatalf("segments %v, %v; want %d", names, err, want)
	}
	for i := range names {
		names[i] = filepath.Join(decisionsDir(dir), names[i])
	}
	return names
}

// days90 keeps for 90 days.
var days90 = Bounds{SegmentBytes: 1000, KeepFor: 90 * 24 * time.Hour}

// retired opens a log with bounds, waits until what they do not keep is gone and
// told, and closes it.
func retired(t *testing.T, dir string, b Bounds) {
	t.Helper()
	l := open(t, Config{StateDir: dir, Bounds: b})
	await(t, func() bool {
		h, err := readHead(headPath(dir), l.writer.head.key)
		return err == nil && h.From.Told
	})
	must(t, l.Close())
}

func TestRetentionByAgeRemovesTheOldestFilesAndTheRestVerifies(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), &watched{}
	before := oldAndNew(t, dir)
	l := open(t, Config{StateDir: dir, Bounds: days90, Observer: w})
	await(t, func() bool { _, n := w.last(); return n == 10 })
	after := paths(t, dir, 4) // the new ones, and the event's
	if !slices.Equal(after[:3], before[10:]) {
		t.Errorf("left are %v", after)
	}
	if r := verified(t, dir); r.Retired != 10 || r.Lines != 4 || r.Segments != 4 {
		t.Errorf("report %+v", r)
	}
	lines := written(t, dir)
	if last := lines[len(lines)-1]; !strings.Contains(last, `"event":"retention"`) ||
		!strings.Contains(last, filepath.Base(before[9])+": it goes on after line 10") {
		t.Errorf("the removal is told by %s", last)
	}
	if kept, _ := w.last(); kept.held != 0 || kept.bytes == 0 || len(l.Warnings()) > 0 {
		t.Errorf("told of %+v, %v", kept, l.Warnings())
	}
}

func TestRetentionBySizeKeepsTheLogWithinItsBound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := Bounds{SegmentBytes: small, KeepBytes: 4 * small}
	l := open(t, Config{StateDir: dir, Bounds: b})
	for i := range 60 {
		record(t, l, decision(fmt.Sprint(i)))
	}
	size := func() (total int64) {
		names, _, _ := segments(dir)
		for _, name := range names {
			if info, err := os.Stat(filepath.Join(decisionsDir(dir), name)); err == nil {
				total += info.Size()
			}
		}
		return total
	}
	await(t, func() bool { return size() <= b.KeepBytes })
	must(t, l.Close())
	if r := verified(t, dir); r.Retired < 40 || r.Segments < 2 {
		t.Errorf("report %+v", r)
	}
}

func TestWhatRetentionDidNotRemoveIsStillMissed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		harm func(t *testing.T, dir string, s []string)
		says string
	}{
		{"the first file that is left", func(t *testing.T, dir string, s []string) { os.Remove(s[0]) }, "removed"},
		{"one between others", func(t *testing.T, dir string, s []string) { os.Remove(s[1]) }, "removed"},
		{"the first line that is left", func(t *testing.T, dir string, s []string) { os.Truncate(s[0], 0) }, "removed"},
		{"a file that is put where one was retired", func(t *testing.T, dir string, s []string) {
			text, _ := os.ReadFile(s[0])
			os.WriteFile(filepath.Join(decisionsDir(dir), "00000002-2026-01-01.jsonl"), text, 0o600)
		}, "removed"},
		{"a made up one there", func(t *testing.T, dir string, s []string) {
			os.WriteFile(filepath.Join(decisionsDir(dir), "00000002-2026-01-01.jsonl"), []byte("{}\n"), 0o600)
		}, "edited"},
		{"the head's word of it", func(t *testing.T, dir string, s []string) {
			text, _ := os.ReadFile(headPath(dir))
			os.WriteFile(headPath(dir), []byte(strings.ReplaceAll(string(text), `"from":{"count":10`, `"from":{"count":11`)), 0o600)
		}, "neither copy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			oldAndNew(t, dir)
			retired(t, dir, days90)
			verified(t, dir)
			c.harm(t, dir, paths(t, dir, 4))
			if _, err := Verify(dir); !errors.Is(err, ErrTampered) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s", err, c.says)
			}
		})
	}
}

// Somebody could otherwise have retention remove what they did.
func TestAFileThatWasTamperedWithIsNotRetired(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(t *testing.T, s []string){
		"edited": func(t *testing.T, s []string) {
			edit(t, s[4], func(l [][]byte) [][]byte { l[0] = bytes.Replace(l[0], []byte("push"), []byte("pull"), 1); return l })
		},
		"removed":   func(t *testing.T, s []string) { os.Remove(s[4]) },
		"cut short": func(t *testing.T, s []string) { os.Truncate(s[4], 100) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, w := t.TempDir(), &watched{}
			before := oldAndNew(t, dir)
			harm(t, before)
			l := open(t, Config{StateDir: dir, Bounds: days90, Observer: w})
			await(t, func() bool { return len(l.Warnings()) > 0 })
			if said := l.Warnings()[0]; !strings.Contains(said, "are not removed") || !strings.Contains(said, "tampered") {
				t.Errorf("it warns %q", said)
			}
			if _, n := w.last(); n != 0 || !exists(before[0]) {
				t.Errorf("%d files are gone", n)
			}
			record(t, l, decision("it goes on"))
		})
	}
}

func TestWhatSomethingStillNeedsStaysAndIsToldOf(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), &watched{}
	before := oldAndNew(t, dir)
	var mu sync.Mutex
	needed := filepath.Base(before[4])
	l := open(t, Config{StateDir: dir, Bounds: days90, Observer: w, Needed: func() string {
		mu.Lock()
		defer mu.Unlock()
		return needed
	}})
	await(t, func() bool { kept, n := w.last(); return n == 4 && kept.held == 6 })
	if said := l.Warnings(); len(said) != 1 || !strings.Contains(said[0], "6 old files") || !exists(before[4]) {
		t.Errorf("it warns %q", said)
	}
	verified(t, dir)
	mu.Lock()
	needed = ""
	mu.Unlock()
	record(t, l, decision("a new segment"))
	await(t, func() bool { kept, n := w.last(); return n == 10 && kept.held == 0 })
	if len(l.Warnings()) > 0 || exists(before[4]) {
		t.Errorf("it warns %q", l.Warnings())
	}
	verified(t, dir)
}

// The head speaks first, then the files go, then an event tells.
func TestARetentionThatWasCutShortIsFinishedByTheNextStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		left int // of the ten files that were being retired
	}{{"before any file was removed", 10}, {"when some were", 3}, {"before it was told", 0}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			before := oldAndNew(t, dir)
			l, err := Open(Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1000}})
			must(t, err)
			l.keeper.stop() // what it does is done here, as far as it came
			var due []segment
			for _, path := range before[:10] {
				due = append(due, segment{name: filepath.Base(path)})
			}
			from, err := l.keeper.follow(t.Context(), due)
			must(t, errors.Join(err, l.keeper.begin(from), l.Close()))
			for _, path := range before[:10-c.left] {
				os.Remove(path)
			}
			if r := verified(t, dir); r.Retired != 10 || r.Lines != 3 || r.Segments != 3 {
				t.Errorf("as it was left: %+v", r)
			}
			retired(t, dir, Bounds{SegmentBytes: 1000})
			paths(t, dir, 4)
			if r := verified(t, dir); r.Retired != 10 || r.Lines != 4 {
				t.Errorf("after the next start: %+v", r)
			}
		})
	}
}

func TestRetentionTellsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	oldAndNew(t, dir)
	for range 3 {
		retired(t, dir, days90)
	}
	if n := strings.Count(strings.Join(written(t, dir), "\n"), `"event":"retention"`); n != 1 {
		t.Errorf("told %d times", n)
	}
}
