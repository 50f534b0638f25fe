package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// refused checks that Open refuses the log, saying why and how to proceed.
func refused(t *testing.T, dir, says string) {
	t.Helper()
	l, err := Open(Config{StateDir: dir})
	if err == nil {
		l.Close()
		t.Fatal("opened")
	}
	if !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "bailiff audit verify") {
		t.Errorf("got %v, want %s, and how to proceed", err, says)
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestATornLastLineIsCutOffAndTold(t *testing.T) {
	t.Parallel()
	for _, torn := range []string{"{", `{"decision_id":"x","custom":{"event":"execution"`, strings.Repeat("x", 1<<20), "\x00\x00"} {
		dir := t.TempDir()
		paths := threeSegments(t, dir)
		appendTo(t, paths[2], torn)
		if r := verified(t, dir); !r.Torn {
			t.Errorf("report %+v", r)
		}
		l := open(t, Config{StateDir: dir})
		record(t, l, decision("next"))
		lines := written(t, dir)
		if len(lines) != 11 || !strings.Contains(lines[9], fmt.Sprintf("a line of %d bytes", len(torn))) {
			t.Errorf("%d lines, the tenth is %s", len(lines), lines[9])
		}
		if r := verified(t, dir); r.Lines != 11 || r.Torn {
			t.Errorf("afterwards %+v", r)
		}
	}
}

func TestLinesBeyondTheHeadAreVerifiedAndAdopted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir})
	record(t, l, decision("0"))
	old, _ := os.ReadFile(headPath(dir))
	l.Limit(Bounds{SegmentBytes: 1500}) // the rest goes into other segments
	for i := range 5 {
		record(t, l, decision(fmt.Sprint(i+1)))
	}
	path := l.writer.file.Name()
	l.Close()
	must(t, os.WriteFile(headPath(dir), old, 0o600))
	if r := verified(t, dir); r.Uncommitted != 5 {
		t.Errorf("report %+v", r)
	}
	l = open(t, Config{StateDir: dir})
	if l.writer.at.count != 6 {
		t.Errorf("count is %d", l.writer.at.count)
	}
	l.Close()
	must(t, os.WriteFile(headPath(dir), old, 0o600))
	edit(t, path, func(l [][]byte) [][]byte { l[len(l)-1][30] ^= 1; return l })
	refused(t, dir, path)
}

func TestALogThatDoesNotFitItsHeadIsNotContinued(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says string
		harm       func(t *testing.T, dir string, s []string)
	}{
		{"the last segment is gone", "missing", func(t *testing.T, dir string, s []string) { os.Remove(s[2]) }},
		{"the last line is gone", "cut off", func(t *testing.T, dir string, s []string) {
			edit(t, s[2], func(l [][]byte) [][]byte { return l[:2] })
		}},
		{"the last line is another", "changed", func(t *testing.T, dir string, s []string) {
			edit(t, s[2], func(l [][]byte) [][]byte { l[2][len(l[2])-10] ^= 1; return l })
		}},
		{"a line was added", "does not end with", func(t *testing.T, dir string, s []string) { appendTo(t, s[2], "{}\n") }},
		{"a segment was added", "does not follow", func(t *testing.T, dir string, s []string) {
			text, _ := os.ReadFile(s[0])
			os.WriteFile(filepath.Join(dir, "decisions", "00000009-2026-01-01.jsonl"), text, 0o600)
		}},
		{"the log is gone, the head is not", "missing",
			func(t *testing.T, dir string, s []string) { os.RemoveAll(filepath.Join(dir, "decisions")) }},
		{"the head is gone", "head", func(t *testing.T, dir string, s []string) { os.Remove(headPath(dir)) }},
		{"the key is gone", "no key", func(t *testing.T, dir string, s []string) { os.Remove(keyPath(dir)) }},
		{"key and head are gone", "no key", func(t *testing.T, dir string, s []string) { os.RemoveAll(filepath.Join(dir, "audit")) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.harm(t, dir, threeSegments(t, dir))
			refused(t, dir, c.says)
		})
	}
}

func TestAKeyThatOthersMayReadIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	threeSegments(t, dir)
	must(t, os.Chmod(keyPath(dir), 0o640))
	if _, err := Open(Config{StateDir: dir}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v", err)
	}
}

func TestAFirstStartThatWasCutShortIsBegunAnew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		begun func(dir string) error
	}{
		{"before anything", func(string) error { return nil }},
		{"while the key was made", func(dir string) error { return os.WriteFile(keyPath(dir)+".new", []byte("x"), 0o600) }},
		{"after the key", func(dir string) error { return os.WriteFile(keyPath(dir), bytes.Repeat([]byte("k"), keyLength), 0o600) }},
		{"while the head was made", func(dir string) error {
			return errors.Join(
				os.WriteFile(keyPath(dir), bytes.Repeat([]byte("k"), keyLength), 0o600),
				os.WriteFile(headPath(dir)+".new", []byte("{"), 0o600))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, errors.Join(makeFolders(dir), c.begun(dir)))
			record(t, open(t, Config{StateDir: dir}), decision("one"))
			if r := verified(t, dir); r.Lines != 1 {
				t.Errorf("report %+v", r)
			}
		})
	}
}

func TestAnUnwritableStateFolderIsNamed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(Config{StateDir: file}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
	if _, err := Open(Config{}); err == nil {
		t.Error("opened without a state folder")
	}
}

// TestMain makes this program record events until it is killed, telling on
// standard output which are on disk, when it is started for that.
func TestMain(m *testing.M) {
	if dir := os.Getenv("BAILIFF_TEST_RECORD_INTO"); dir != "" {
		recordUntilKilled(dir)
	}
	os.Exit(m.Run())
}

// keepTest names how many bytes it keeps, all if it is unset.
const keepTest = "BAILIFF_TEST_KEEP_BYTES"

func recordUntilKilled(dir string) {
	keep, _ := strconv.ParseInt(os.Getenv(keepTest), 10, 64)
	l, err := Open(Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 50_000, KeepBytes: keep}})
	if err != nil {
		fmt.Println("FAULT", err)
		os.Exit(1)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				id := NewID()
				l.Note(execution("note-" + id))
				if l.Record(context.Background(), decision(id)) != nil {
					return
				}
				fmt.Println(id)
			}
		})
	}
	all.Wait()
	os.Exit(1)
}

func TestNoRecordedEventIsLostWhenTheSidecarIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var acknowledged []string
	for round := range 12 {
		acknowledged = append(acknowledged, killAfter(t, dir, 1+round*17)...)
		l, err := Open(Config{StateDir: dir})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		l.Close()
		verified(t, dir)
	}
	all := strings.Join(written(t, dir), "\n")
	for _, id := range acknowledged {
		if !strings.Contains(all, `{"decision_id":"`+id+`"`) {
			t.Fatalf("%s was acknowledged and is not in the log", id)
		}
	}
	if len(acknowledged) < 12 {
		t.Errorf("only %d events were recorded", len(acknowledged))
	}
}

// killAfter starts a process that records, kills it after n acknowledged
// events, and returns them.
func killAfter(t *testing.T, dir string, n int) []string {
	t.Helper()
	recorder := exec.Command(os.Args[0])
	recorder.Env = append(os.Environ(), "BAILIFF_TEST_RECORD_INTO="+dir)
	out, err := recorder.StdoutPipe()
	must(t, err)
	must(t, recorder.Start())
	var ids []string
	for told := bufio.NewScanner(out); told.Scan(); {
		if strings.HasPrefix(told.Text(), "FAULT") {
			t.Fatal(told.Text())
		}
		if ids = append(ids, told.Text()); len(ids) == n {
			recorder.Process.Kill()
		}
	}
	recorder.Wait()
	if len(ids) > 0 && len(ids[len(ids)-1]) != 36 { // told only in part
		ids = ids[:len(ids)-1]
	}
	return ids
}

// Those that just ended are among them: their callers may not have got the answer.
func TestUnfinishedAreAllowedRequestsWithoutAnEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1000}})
	old := decision("too long ago")
	old.Timestamp = time.Now().Add(-2 * unfinishedFor)
	denied := decision("denied")
	denied.Result = map[string]any{"outcome": "deny"}
	asked, approved := decision("asked"), decision("approved")
	asked.Result = map[string]any{"outcome": "ask"}
	approved.Result, approved.Custom.Approval = asked.Result, &bailiff.Approval{State: bailiff.ApprovalApproved}
	refused := execution("refused")
	refused.Custom.Status = bailiff.Unavailable
	past, pastEnd := decision("ended long ago"), execution("ended long ago")
	past.Timestamp, pastEnd.Timestamp = time.Now().Add(-3*endedFor), time.Now().Add(-2*endedFor)
	anonymous := decision("without an id")
	anonymous.Custom.RequestID = ""
	record(t, l, old, denied, asked, anonymous, decision("ended"), decision("refused"), decision("first"), execution("ended"), refused,
		past, pastEnd, approved)
	if got := l.UnfinishedRequests(time.Time{}); len(got) != 0 {
		t.Errorf("this run's own: %+v", got)
	}
	l.Close()

	l = open(t, Config{StateDir: dir})
	got := l.UnfinishedRequests(time.Now().Add(-time.Minute))
	if len(got) != 3 || got[0].RequestID != "r-approved" || got[1].RequestID != "r-first" || got[2].RequestID != "r-ended" ||
		got[0].Ended || !got[2].Ended {
		t.Fatalf("got %+v", got)
	}
	if u := got[0]; u.Caller != "hermes" || u.Session != "s" || u.Digest != "d" || u.At.IsZero() {
		t.Errorf("got %+v", u)
	}
	if got := l.UnfinishedRequests(time.Now().Add(time.Minute)); len(got) != 0 {
		t.Errorf("after now: %+v", got)
	}
}

func TestASegmentThatWasBegunAndHoldsNothingIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := threeSegments(t, dir)
	empty := filepath.Join(filepath.Dir(paths[0]), "00000004-"+time.Now().UTC().Format(time.DateOnly)+".jsonl")
	must(t, os.WriteFile(empty, nil, 0o600))
	open(t, Config{StateDir: dir}).Close()
	record(t, open(t, Config{StateDir: dir}), decision("next"))
	if r := verified(t, dir); r.Lines != 10 || r.Segments != 4 {
		t.Errorf("report %+v", r)
	}
}
