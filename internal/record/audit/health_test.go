package audit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff/api"
)

// alarms counts how often a log told that it cannot be written.
func alarms(told *bytes.Buffer) int {
	return strings.Count(told.String(), "the decision log cannot be written")
}

// What was noted before the disk was full comes to it afterwards, and proves nothing.
func TestAFailureEndsWithALineThatCameAfterIt(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	l := open(t, Config{StateDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&told, nil))})
	record(t, l, decision("before"))
	write := func(id string) {
		line, err := l.line(t.Context(), decision(id))
		if err != nil {
			t.Error(err)
		}
		l.write([]entry{{line: line}})
	}
	err := l.aside(func() error {
		write("noted")
		f := &faulty{disk: l.writer.file, full: true}
		l.writer.file = f
		for range 3 {
			write("lost")
			if err := l.writer.commit(); err != nil || l.Err() == nil {
				t.Errorf("the line before comes to the disk: %v, and then the log says %v", err, l.Err())
			}
		}
		*f = faulty{disk: f.disk}
		write("after")
		if l.Err() == nil {
			t.Error("a line is said to be written that is not on disk yet")
		}
		return l.writer.commit()
	})
	if err != nil || l.Err() != nil || alarms(&told) != 1 {
		t.Errorf("with room again: %v, %v; told is %s", err, l.Err(), &told)
	}
}

func TestAMaskThatFailsIsAFailureOfTheLogUntilAnEventIsMasked(t *testing.T) {
	t.Parallel()
	var told bytes.Buffer
	var failing atomic.Bool
	failing.Store(true)
	l := open(t, Config{StateDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&told, nil)),
		Mask: func(context.Context, []byte) (any, bool, error) {
			if failing.Load() {
				return nil, false, errors.New("no answer within 250ms")
			}
			return []any{"/input/args"}, true, nil
		}})
	for range 2 {
		if err := l.Record(t.Context(), decision("lost")); err == nil || l.Err() == nil || l.Err().Error() != err.Error() {
			t.Errorf("recording failed with %v, and the log says %v", err, l.Err())
		}
	}
	if record(t, l, execution("nothing to mask")); l.Err() == nil {
		t.Error("an event that is not masked ended it")
	}
	failing.Store(false)
	record(t, l, decision("after"))
	if l.Err() != nil || alarms(&told) != 1 {
		t.Errorf("masked again, it says %v; told is %s", l.Err(), &told)
	}
}

func TestARequestThatWasBrokenOffIsNoFailureOfTheMask(t *testing.T) {
	t.Parallel()
	l := open(t, Config{StateDir: t.TempDir(), Mask: func(ctx context.Context, _ []byte) (any, bool, error) {
		return nil, false, ctx.Err()
	}})
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := l.Record(gone, decision("lost")); !errors.Is(err, context.Canceled) || l.Err() != nil {
		t.Errorf("recording failed with %v, and the log says %v", err, l.Err())
	}
}

func TestAFaultIsToldWithoutStutter(t *testing.T) {
	t.Parallel()
	l := open(t, Config{StateDir: t.TempDir(), Mask: func(context.Context, []byte) (any, bool, error) { return "x", true, nil }})
	err := l.Record(t.Context(), api.Event{Custom: api.Custom{Event: api.DecisionEvent}, Result: 1})
	if err == nil || !strings.HasPrefix(err.Error(), "masking the event by data.system.log.mask: want a set of paths") {
		t.Errorf("got %v", err)
	}
}
