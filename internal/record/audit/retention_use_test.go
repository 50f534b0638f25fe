package audit

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestALogInUseVerifiesWhileItsFilesAreRetired(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: small, KeepBytes: 3 * small}})
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	busy.Go(func() {
		for ctx.Err() == nil {
			if err := l.Record(t.Context(), decision("x")); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 30 {
		verified(t, dir)
		written(t, dir)
	}
	await(t, func() bool { return verified(t, dir).Retired > 10 })
	stop()
	busy.Wait()
}

func TestNewBoundsHoldAtOnce(t *testing.T) {
	t.Parallel()
	dir, w := t.TempDir(), &watched{}
	oldAndNew(t, dir)
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1000}, Observer: w})
	await(t, func() bool { kept, _ := w.last(); return kept.bytes > 13*small/3 })
	l.Limit(days90)
	await(t, func() bool { _, n := w.last(); return n == 10 })
}

func TestAFileIsClosedWhenItsTimeIsOverThoughNobodyWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentAge: time.Hour}})
	record(t, l, decision("one"))
	begun := l.writer.begun
	for i, later := range []time.Duration{0, time.Hour, 2 * time.Hour} {
		l.writer.now = func() time.Time { return begun.Truncate(time.Hour).Add(later) }
		must(t, l.aside(l.writer.expire))
		paths(t, dir, min(i+1, 2)) // what holds nothing needs no next one
	}
	record(t, l, decision("two"))
	if r := verified(t, dir); r.Lines != 2 || r.Segments != 2 {
		t.Errorf("report %+v", r)
	}
}

func TestTheAgeOfAFileOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir})
	record(t, l, aged("yesterday's", 1))
	l.Close()
	record(t, open(t, Config{StateDir: dir}), decision("today's"))
	paths(t, dir, 2)
	verified(t, dir)
}

func TestAKillWhileFilesAreRetiredLeavesALogThatVerifies(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(keepTest, "200000")
	for round := range 8 {
		killAfter(t, dir, 100+round*37)
		verified(t, dir)
	}
	l := open(t, Config{StateDir: dir})
	if l.writer.from.Count == 0 {
		t.Error("nothing was retired")
	}
}
