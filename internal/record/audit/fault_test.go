package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// faulty is a segment's file whose disk is full, or which has other troubles.
type faulty struct {
	disk
	full, stuck, unsynced bool
}

var errFull = errors.New("no space left on device")

func (f *faulty) WriteAt(p []byte, at int64) (int, error) {
	if !f.full {
		return f.disk.WriteAt(p, at)
	}
	n, _ := f.disk.WriteAt(p[:len(p)/2], at)
	return n, errFull
}

func (f *faulty) Truncate(size int64) error {
	if f.stuck {
		return errors.New("input/output error")
	}
	return f.disk.Truncate(size)
}

func (f *faulty) Sync() error {
	if f.unsynced {
		return errors.New("input/output error")
	}
	return f.disk.Sync()
}

func TestAFailedWriteFailsTheEventAndLeavesNoPartialLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		harm  func(*faulty)
		stuck bool
	}{
		{"the disk is full", func(f *faulty) { f.full = true }, false},
		{"and nothing can be cut off either", func(f *faulty) { f.full, f.stuck = true, true }, true},
		{"the disk takes the line and loses it", func(f *faulty) { f.unsynced = true }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, observed := t.TempDir(), &counts{}
			l := open(t, Config{StateDir: dir, Observer: observed})
			record(t, l, decision("before"))
			f := &faulty{disk: l.writer.file}
			l.writer.file = f
			c.harm(f)
			for range 3 {
				if err := l.Record(context.Background(), decision("lost")); err == nil || l.Err() == nil {
					t.Fatalf("recorded: %v, %v", err, l.Err())
				}
			}
			if !c.stuck {
				if r := verified(t, dir); r.Lines != 1 || r.Torn {
					t.Errorf("while it fails: %+v", r)
				}
			}
			*f = faulty{disk: f.disk}
			record(t, l, decision("after"))
			if r := verified(t, dir); r.Lines != 2 || l.Err() != nil {
				t.Errorf("afterwards: %+v, %v", r, l.Err())
			}
			if observed.ok.Load() != 2 || observed.failed.Load() != 3 {
				t.Errorf("counted %d and %d", observed.ok.Load(), observed.failed.Load())
			}
		})
	}
}

func TestALogThatSomethingElseTouchedTakesNoMoreEvents(t *testing.T) {
	t.Parallel()
	for name, touch := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 10) },
		"added to": func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = io.WriteString(f, strings.Repeat("{}\n", 1000))
			return errors.Join(err, f.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := open(t, Config{StateDir: dir})
			record(t, l, decision("one"), decision("two"))
			must(t, touch(filepath.Join(dir, "decisions", l.writer.at.segment)))
			for range 2 {
				if err := l.Record(context.Background(), decision("three")); err == nil {
					t.Error("recorded")
				}
			}
			if _, err := Verify(dir); !errors.Is(err, ErrTampered) {
				t.Errorf("verify: %v", err)
			}
		})
	}
}

func TestSecretsAreScrubbedBeforeHashing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scrub := func(text []byte) []byte {
		s := strings.ReplaceAll(string(text), `nhunter2`, "[A redacted]")
		return []byte(strings.ReplaceAll(s, "decision", "[B redacted]"))
	}
	l := open(t, Config{StateDir: dir, Scrub: scrub})
	e := decision("one")
	e.Input = rawInput(`{"args":{"command":"echo \nhunter2 nhunter2"},"nhunter2":[12345678901234567890,"nhunter2"]}`)
	e.Custom.Message, e.Error = "nhunter2", &api.EventError{Message: "nhunter2"}
	record(t, l, e)
	line := written(t, dir)[0]
	if strings.Contains(strings.ReplaceAll(line, `\nhunter2`, ""), "nhunter2") {
		t.Errorf("a secret is left: %s", line)
	}
	for _, want := range []string{`\nhunter2 [A redacted]"`, `"event":"decision"`, "12345678901234567890", `"decision_id":"one"`} {
		if !strings.Contains(line, want) {
			t.Errorf("%s is gone: %s", want, line)
		}
	}
	verified(t, dir)
}

func TestASecondSidecarIsRefusedTheState(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	release, err := LockState(dir)
	must(t, err)
	if _, err := LockState(dir); err == nil || !strings.Contains(err.Error(),
		fmt.Sprintf("in use by another bailiff (process %d)", os.Getpid())) {
		t.Errorf("got %v", err)
	}
	must(t, release())
	if again, err := LockState(dir); err != nil || again() != nil {
		t.Errorf("after it was released: %v", err)
	}
}

func TestLinesThatARotationBringsToTheDiskAreCounted(t *testing.T) {
	t.Parallel()
	for name, unsynced := range map[string]bool{"the disk takes them": false, "the disk loses them": true} {
		t.Run(name, func(t *testing.T) {
			observed := &counts{}
			l := open(t, Config{StateDir: t.TempDir(), Observer: observed, Bounds: Bounds{SegmentBytes: 1}})
			record(t, l, decision("first"))
			counted, written := observed.ok.Load(), *l.written.Load()
			note := func(id string) {
				line, err := l.line(t.Context(), decision(id))
				if err != nil {
					t.Error(err)
				}
				l.write([]entry{{line: line}})
			}
			_ = l.aside(func() error {
				note("noted")
				l.writer.file = &faulty{disk: l.writer.file, unsynced: unsynced}
				note("behind it")
				return nil
			})
			if lost := observed.failed.Load(); unsynced && lost != 2 || !unsynced && lost != 0 {
				t.Errorf("%d are counted as lost", lost)
			}
			if kept := observed.ok.Load() - counted; !unsynced && (kept < 1 || *l.written.Load() == written) {
				t.Errorf("%d are counted, and written is up to %v", kept, *l.written.Load())
			}
		})
	}
}

func TestAStateFolderThatEveryoneMayWriteIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]string{
		0o777:                 "everyone may write " + dir + ": chmod 700 " + dir,
		0o777 | os.ModeSticky: dir + " is a folder for everyone, want one for bailiff alone, such as " + dir + "/bailiff",
	} {
		must(t, os.Chmod(dir, mode))
		if _, err := LockState(dir); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("with mode %v: got %v, want %s", mode, err, want)
		}
	}
}

func TestIDsSortByTime(t *testing.T) {
	t.Parallel()
	last := NewID()
	for range 1000 {
		next := NewID()
		if len(next) != 36 || next <= last {
			t.Fatalf("%s after %s", next, last)
		}
		last = next
	}
}

// await waits for what another goroutine is about to do.
func await(t *testing.T, done func() bool) {
	t.Helper()
	awaittest.Until(t, "another goroutine", done)
}

func BenchmarkRecord(b *testing.B) {
	l := open(b, Config{StateDir: b.TempDir()})
	e := decision("one")
	e.Input = rawInput(`{"tool":"terminal","args":{"command":"` + strings.Repeat("git push && ", 200) + `"}}`)
	b.Run("goroutines=1", func(b *testing.B) {
		for b.Loop() {
			record(b, l, e)
		}
	})
	b.Run("goroutines=8", func(b *testing.B) {
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				record(b, l, e)
			}
		})
	})
}

func BenchmarkNote(b *testing.B) {
	l := open(b, Config{StateDir: b.TempDir()})
	e := decision("one")
	e.Input = rawInput(`{"tool":"terminal","args":{"command":"` + strings.Repeat("git push && ", 200) + `"}}`)
	for b.Loop() {
		l.Note(e)
	}
}

func BenchmarkMarshal(b *testing.B) {
	e := decision("one")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := marshal(e); err != nil {
			b.Fatal(err)
		}
	}
}
