package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

type rawInput string

func (r rawInput) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// decision is an event as the enforcer makes it.
func decision(id string) api.Event {
	return api.Event{
		DecisionID: id, Timestamp: time.Now(), Path: "bailiff/decision",
		Input:       rawInput(`{"tool":"terminal","args":{"command":"git push"}}`),
		Result:      bailiff.Decision{Outcome: bailiff.Allow, Revision: "abc"},
		Bundles:     map[string]api.Bundle{"policies": {Revision: "abc"}},
		RequestedBy: "hermes",
		Metrics:     map[string]int64{"timer_rego_query_eval_ns": 42},
		Custom:      api.Custom{Event: api.DecisionEvent, Session: "s", RequestID: "r-" + id, Digest: "d"},
	}
}

func execution(id string) api.Event {
	code := 0
	return api.Event{
		DecisionID: id, Timestamp: time.Now(), RequestedBy: "hermes",
		Custom: api.Custom{Event: api.ExecutionEvent, Session: "s", RequestID: "r-" + id, Status: bailiff.Completed, ExitCode: &code},
	}
}

func open(t testing.TB, c Config) *Log {
	t.Helper()
	l, err := Open(c)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

func record(t testing.TB, l *Log, events ...api.Event) {
	t.Helper()
	for _, e := range events {
		must(t, l.Record(context.Background(), e))
	}
}

// written are all lines of a log.
func written(t testing.TB, stateDir string) []string {
	t.Helper()
	var all []string
	err := Tail(context.Background(), stateDir, Selection{Last: 1 << 30}, func(line []byte) error {
		all = append(all, string(line))
		return nil
	})
	must(t, err)
	return all
}

func verified(t testing.TB, stateDir string) Report {
	t.Helper()
	report, err := Verify(stateDir)
	must(t, err)
	return report
}

type counts struct{ ok, failed atomic.Int64 }

func (*counts) Kept(int64, int, int) {}

func (c *counts) Audited(err error) {
	if err != nil {
		c.failed.Add(1)
	} else {
		c.ok.Add(1)
	}
}

func TestARecordedEventIsOnDiskAndInTheChain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir})
	record(t, l, decision("one"), execution("one"))
	lines := written(t, dir)
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	var first, second struct {
		DecisionID string `json:"decision_id"`
		Input      struct{ Tool string }
		Result     struct{ Outcome string }
		Custom     struct {
			Event    string
			PrevHash string `json:"prev_hash"`
			Hash     string
		}
	}
	for i, into := range []any{&first, &second} {
		must(t, json.Unmarshal([]byte(lines[i]), into))
	}
	if first.DecisionID != "one" || first.Input.Tool != "terminal" || first.Result.Outcome != "allow" || first.Custom.Event != "decision" {
		t.Errorf("got %+v", first)
	}
	if first.Custom.PrevHash != origin || second.Custom.PrevHash != first.Custom.Hash || len(second.Custom.Hash) != 64 {
		t.Errorf("the chain is %+v, %+v", first.Custom, second.Custom)
	}
	if r := verified(t, dir); r.Lines != 2 || r.Uncommitted != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestFilesAreForTheSidecarAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir})
	record(t, l, decision("one"))
	for path, want := range map[string]os.FileMode{
		"decisions": 0o700, "audit": 0o700, "audit/key": 0o600, "audit/head": 0o600,
		"decisions/" + l.writer.at.segment: 0o600,
	} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestNotesKeepTheirPlaceAndComeToDiskByThemselves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	observed := &counts{}
	l := open(t, Config{StateDir: dir, Observer: observed})
	l.Note(decision("one"))
	record(t, l, decision("two"))
	l.Note(decision("three"))
	await(t, func() bool { return observed.ok.Load() == 3 })
	for i, id := range []string{"one", "two", "three"} {
		if got := written(t, dir)[i]; !strings.Contains(got, id) {
			t.Errorf("line %d is %s", i, got)
		}
	}
	if r := verified(t, dir); r.Uncommitted != 0 {
		t.Errorf("report %+v", r)
	}
}

func TestANoteWaitsRatherThanBeDropped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range queueLength {
				l.Note(execution("x"))
			}
		})
	}
	all.Wait()
	must(t, l.Close())
	if r := verified(t, dir); r.Lines != 4*queueLength {
		t.Errorf("%d lines", r.Lines)
	}
}

func TestTheLogGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 3 {
		l := open(t, Config{StateDir: dir})
		record(t, l, decision(fmt.Sprint(i)), execution(fmt.Sprint(i)))
		must(t, l.Close())
	}
	if r := verified(t, dir); r.Lines != 6 || r.Segments != 1 {
		t.Errorf("report %+v", r)
	}
}

func TestSegmentsAreCutBySizeAndDay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 2000}})
	for i := range 9 {
		record(t, l, decision(fmt.Sprint(i)))
	}
	must(t, l.Close())
	names, _, _ := segments(dir)
	if len(names) < 3 {
		t.Fatalf("segments %v", names)
	}
	l = open(t, Config{StateDir: dir})
	l.writer.now = func() time.Time { return time.Date(2199, 1, 2, 3, 4, 5, 6, time.UTC) }
	record(t, l, decision("later"))
	after, _, _ := segments(dir)
	if last := after[len(after)-1]; len(after) != len(names)+1 || last != fmt.Sprintf("%08d-2199-01-02.jsonl", len(after)) {
		t.Errorf("segments %v", after)
	}
	if r := verified(t, dir); r.Lines != 10 {
		t.Errorf("report %+v", r)
	}
}

func TestAnEventAfterTheEndFails(t *testing.T) {
	t.Parallel()
	observed := &counts{}
	l := open(t, Config{StateDir: t.TempDir(), Observer: observed})
	must(t, errors.Join(l.Close(), l.Close()))
	if err := l.Record(context.Background(), decision("late")); !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
	l.Note(decision("late"))
	if observed.failed.Load() != 2 {
		t.Errorf("%d failures counted", observed.failed.Load())
	}
}

func TestAnEventThatCannotBeWordedFails(t *testing.T) {
	t.Parallel()
	l := open(t, Config{StateDir: t.TempDir()})
	bad := decision("bad")
	bad.Result = map[string]any{"f": func() {}}
	if err := l.Record(context.Background(), bad); err == nil {
		t.Error("recorded")
	}
	record(t, l, decision("good"))
}
