package audit

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// fill takes all room that is left, and returns what gives it back.
func fill(t *testing.T, folder string) (empty func()) {
	t.Helper()
	path := filepath.Join(folder, "somebody else's")
	file, err := os.Create(path)
	for err == nil {
		_, err = file.Write(make([]byte, 512))
	}
	_ = file.Close()
	return func() {
		must(t, os.Remove(path))
	}
}

func TestAFullDiskLosesNoLineAndTakesNoneInPart(t *testing.T) {
	t.Parallel()
	dir, observed, told := t.TempDir(), &counts{}, &bytes.Buffer{}
	backendtest.SmallDisk(t, decisionsDir(dir), "256k")
	l := open(t, Config{StateDir: dir, Observer: observed, Bounds: Bounds{SegmentBytes: 20_000},
		Log: slog.New(slog.NewTextHandler(told, nil))})
	record(t, l, decision("before"))
	empty := fill(t, decisionsDir(dir))
	recorded, err := 1, error(nil)
	for err == nil { // what is left of the last block
		if err = l.Record(t.Context(), decision("more")); err == nil {
			recorded++
		}
	}
	if !strings.Contains(err.Error(), "writing the decision log: ") || !strings.Contains(err.Error(), "no space left on device") ||
		l.Err() == nil {
		t.Errorf("refused with %v, and it says %v", err, l.Err())
	}
	l.Note(decision("noted"))
	if l.Record(t.Context(), decision("more")) == nil || observed.failed.Load() != 3 {
		t.Errorf("%d failures are counted", observed.failed.Load())
	}
	if !strings.Contains(told.String(), `msg="an event is missing from the decision log"`) || !strings.Contains(told.String(), "r-noted") {
		t.Errorf("of what waited for nothing the log says:\n%s", told)
	}
	if r := verified(t, dir); int(r.Lines) != recorded || r.Torn {
		t.Errorf("while it is full: %+v, want %d lines", r, recorded)
	}
	empty()
	record(t, l, decision("after"))
	if r := verified(t, dir); int(r.Lines) != recorded+1 || l.Err() != nil {
		t.Errorf("afterwards: %+v, %v", r, l.Err())
	}
}

func TestALogGoesOnWhoseSidecarStartedOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backendtest.SmallDisk(t, dir, "256k")
	l := open(t, Config{StateDir: dir})
	record(t, l, decision("before"))
	l.Close()
	empty := fill(t, dir)
	l = open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1}}) // the next line needs a file of its own
	if err := l.Record(t.Context(), decision("lost")); err == nil {
		t.Error("recorded")
	}
	empty()
	record(t, l, decision("after"))
	if r := verified(t, dir); r.Lines != 2 {
		t.Errorf("report %+v", r)
	}
}

// What the log itself fills up it empties by itself, if it is told to: what
// retention removed is told afterwards, when there is room.
func TestRetentionMakesRoomOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backendtest.SmallDisk(t, decisionsDir(dir), "256k")
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 20_000}})
	for l.Record(t.Context(), decision("x")) == nil {
	}
	l.Limit(Bounds{SegmentBytes: 20_000, KeepBytes: 100_000})
	await(t, func() bool { return l.Record(t.Context(), decision("again")) == nil })
	if r := verified(t, dir); r.Retired == 0 {
		t.Errorf("report %+v", r)
	}
	await(t, func() bool { return strings.Contains(strings.Join(written(t, dir), "\n"), `"event":"retention"`) })
	verified(t, dir)
}
