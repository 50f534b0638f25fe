package export

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestTheReceiverGetsTheLogAsItIsOnDiskOnce(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	log := newLog(t, dir)
	record(t, log, numbers(1, 30)...)
	e, told := r.exporter(dir)
	must(t, e.send(t.Context(), log.Written()))
	record(t, log, numbers(31, 40)...)
	e, _ = r.exporter(dir) // as after a restart
	must(t, e.send(t.Context(), log.Written()))
	must(t, e.send(t.Context(), log.Written()))
	var onDisk []string
	must(t, audit.Read(t.Context(), []string{dir}, func(_ string, _ int, line []byte) error {
		onDisk = append(onDisk, string(line))
		return nil
	}))
	if got := strings.Join(r.taken, "\n"); got != strings.Join(onDisk, "\n") || len(r.taken) != 40 {
		t.Errorf("the receiver has %d events:\n%s", len(r.taken), got)
	}
	if r.asked != 2 || *told != (counted{exported: 30}) {
		t.Errorf("asked %d times, told %+v", r.asked, *told)
	}
}

func TestWhatMayBeTakenBackIsNotSent(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	log := newLog(t, dir)
	record(t, log, numbers(1, 3)...)
	written := log.Written()
	record(t, log, numbers(4, 9)...)
	e, _ := r.exporter(dir)
	must(t, e.send(t.Context(), written))
	if got := r.ids(); got != "1 2 3" {
		t.Errorf("sent %s", got)
	}
}

func TestNothingIsLostWhileTheReceiverTakesNothing(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]int{"a refused credential": 401, "a wrong address": 404, "a full disk": 507,
		"nothing is right": 400} {
		t.Run(name, func(t *testing.T) {
			dir, r := t.TempDir(), newReceiver(t)
			log := newLog(t, dir)
			record(t, log, numbers(1, 3)...)
			e, told := r.exporter(dir)
			r.answers(always(status))
			err := e.send(t.Context(), log.Written())
			if err == nil || e.OldestNeeded() != "0" || e.Lag() < time.Minute {
				t.Fatalf("got %v, needs %s, lags %v", err, e.OldestNeeded(), e.Lag())
			}
			e.failed(err)
			if w := e.Warnings(); len(w) != 1 || !strings.Contains(w[0],
				"is not exported, and waits in its files: the receiver of the decision log answered ") {
				t.Errorf("warns %q", w)
			}
			record(t, log, numbers(4, 6)...)
			r.answers(nil)
			must(t, e.send(t.Context(), log.Written()))
			if got := r.ids(); got != "1 2 3 4 5 6" || told.refused != 0 || e.OldestNeeded() != log.Written().Segment {
				t.Errorf("the receiver has %s, refused %d, needs %s", got, told.refused, e.OldestNeeded())
			}
		})
	}
}

func TestAnEventThatIsRefusedIsPassedOverOnceALaterOneIsTaken(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	log := newLog(t, dir)
	record(t, log, numbers(1, 7)...)
	e, told := r.exporter(dir)
	r.answers(holding("7", 422))
	if err := e.send(t.Context(), log.Written()); err == nil || r.ids() != "1 2 3 4 5 6" || told.refused != 0 {
		t.Fatalf("got %v; the receiver has %s, refused %d", err, r.ids(), told.refused)
	}
	record(t, log, numbers(8, 9)...)
	must(t, e.send(t.Context(), log.Written()))
	if r.ids() != "1 2 3 4 5 6 8 9" || told.refused != 1 || told.exported != 8 {
		t.Errorf("the receiver has %s, told %+v", r.ids(), *told)
	}
	if w := e.Warnings(); len(w) != 1 || !strings.HasPrefix(w[0], "1 events of the decision log were refused") {
		t.Errorf("warns %q", w)
	}
}

func TestBatchesGetSmallerUntilTheReceiverTakesThem(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	log := newLog(t, dir)
	record(t, log, numbers(1, 64)...)
	refused := 0
	r.answers(func(lines []string) int {
		if len(lines) <= 10 {
			return 0
		}
		refused++
		return 413
	})
	e, told := r.exporter(dir)
	must(t, e.send(t.Context(), log.Written()))
	first := refused
	record(t, log, numbers(65, 128)...)
	must(t, e.send(t.Context(), log.Written()))
	if r.ids() != strings.Join(numbers(1, 128), " ") || told.refused != 0 {
		t.Errorf("the receiver has %s", r.ids())
	}
	if first == 0 || refused != first {
		t.Errorf("%d batches were too large, then %d more: the size was not remembered", first, refused-first)
	}
}

func TestRetentionLeavesWhatWasNotSent(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	e, _ := r.exporter(dir)
	log, err := audit.Open(audit.Config{StateDir: dir, Needed: e.OldestNeeded, Bounds: audit.Bounds{SegmentBytes: 1500, KeepBytes: 4000}})
	must(t, err)
	defer log.Close()
	record(t, log, numbers(1, 40)...)
	log.Limit(audit.Bounds{SegmentBytes: 1500, KeepBytes: 4000})
	await(t, "retention to be held up", func() bool { return len(log.Warnings()) == 1 })
	must(t, e.send(t.Context(), log.Written()))
	log.Limit(audit.Bounds{SegmentBytes: 1500, KeepBytes: 4000})
	await(t, "what was sent to go", func() bool {
		report, err := audit.Verify(dir)
		return err == nil && report.Retired > 20
	})
	if r.ids() != strings.Join(numbers(1, 40), " ") {
		t.Errorf("the receiver has %s", r.ids())
	}
}

func TestAnotherLogIsSentFromItsBeginning(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	must(t, os.MkdirAll(filepath.Dir(cursorPath(dir)), 0o700))
	must(t, writeCursor(cursorPath(dir), audit.Position{Segment: "00000009-2026-01-01.jsonl", Offset: 7}))
	log := newLog(t, dir)
	record(t, log, "1", "2")
	e, _ := r.exporter(dir)
	r.answers(always(http.StatusForbidden))
	if err := e.send(t.Context(), log.Written()); err == nil || e.OldestNeeded() != "0" {
		t.Errorf("before any of it was sent %q is needed, %v", e.OldestNeeded(), err)
	}
	r.answers(always(0))
	must(t, e.send(t.Context(), log.Written()))
	if r.ids() != "1 2" {
		t.Errorf("the receiver has %s", r.ids())
	}
	must(t, os.WriteFile(cursorPath(dir), []byte(`{"segment":`), 0o600))
	if _, err := New(e.config); err == nil || !strings.Contains(err.Error(), "exported.json away to have all of it sent again") {
		t.Errorf("of half a cursor: %v", err)
	}
}

func TestWhatAnExportThatWasKilledHadBegunToWriteIsCleared(t *testing.T) {
	t.Parallel()
	r, state := newReceiver(t), t.TempDir()
	e, _ := r.exporter(state)
	log := newLog(t, state)
	record(t, log, "a")
	must(t, e.send(t.Context(), log.Written()))
	begun := filepath.Join(filepath.Dir(cursorPath(state)), ".new-1")
	must(t, os.WriteFile(begun, []byte("{"), 0o600))
	again, _ := r.exporter(state)
	if _, err := os.Stat(begun); !errors.Is(err, os.ErrNotExist) || again.now().cursor != e.now().cursor {
		t.Errorf("half a cursor is still there: %v; the cursor is %v, was %v", err, again.now().cursor, e.now().cursor)
	}
}

func TestTheExportGoesOnWithWhatComesAndComesBackByItself(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	log := newLog(t, dir)
	e, _ := r.exporter(dir)
	r.answers(always(403))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { e.Run(ctx, log.Written); close(ended) }()
	record(t, log, "1", "2")
	await(t, "the failure to be told", func() bool { return len(e.Warnings()) == 1 })
	r.answers(nil)
	record(t, log, "3")
	await(t, "all to be sent", func() bool { return r.ids() == "1 2 3" && len(e.Warnings()) == 0 && e.Lag() == 0 })
	record(t, log, "4")
	await(t, "what came to be sent", func() bool { return r.ids() == "1 2 3 4" })
	cancel()
	<-ended
}

func TestWhatTheLastTryMetIsToldAtOnceAndEachFailedTryCounts(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	log := newLog(t, dir)
	record(t, log, "1")
	e, told := r.exporter(dir)
	const waits = "the decision log is not exported, and waits in its files: the receiver of the decision log "
	var meanwhile []string
	r.answers(func([]string) int {
		meanwhile = append(meanwhile, strings.Join(e.Warnings(), "; "))
		switch len(meanwhile) {
		case 1:
			return 500
		case 2:
			return 502
		}
		e.set(func(s *state) { s.asked = s.asked.Add(-12 * time.Second) }) // as if it hung
		meanwhile[2] += "; later " + strings.Join(e.Warnings(), "; ")
		return 0
	})
	must(t, e.send(t.Context(), log.Written()))
	want := []string{"", waits + "answered 500 (invalid): no",
		waits + "answered 502 (invalid): no; later " + waits + "has not answered for 12s"}
	if !slices.Equal(meanwhile, want) || len(e.Warnings()) > 0 || *told != (counted{exported: 1, failed: 2}) {
		t.Errorf("meanwhile it warns %q, want %q; afterwards %q; told %+v", meanwhile, want, e.Warnings(), *told)
	}
}

func TestATryThatEndsARoundCountsOnce(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	log := newLog(t, dir)
	record(t, log, "1")
	for _, status := range []int{403, 422} {
		e, told := r.exporter(dir)
		r.answers(always(status))
		e.failed(e.send(t.Context(), log.Written()))
		if told.failed != 1 || len(e.Warnings()) != 1 {
			t.Errorf("of an answer of %d: told %+v, warns %q", status, *told, e.Warnings())
		}
	}
}

func cursorPath(stateDir string) string {
	return Config{StateDir: stateDir, Cursor: "exported.json"}.path()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func await(t testing.TB, what string, so func() bool) {
	t.Helper()
	awaittest.Until(t, what, so)
}
