package report

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

func TestAReportOfTheRunningLogIsRememberedAndMadeOneAtATime(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "decisions"), 0o700))
	b := &book{at: monday}
	write := func(rest string) {
		text := []byte(strings.Join(b.lines, "\n") + "\n" + rest)
		must(t, os.WriteFile(filepath.Join(dir, "decisions", "00000001-2026-11-23.jsonl"), text, 0o600))
	}
	b.decide(t, "d1", "u1", "make", denying("command.kills"))
	write("")
	now := monday.Add(time.Hour)
	k := NewKeeper(dir)
	k.now = func() time.Time { return now }
	first, err := k.Report(t.Context(), 7)
	if err != nil || !strings.HasPrefix(first.Summary, "1 events") || !first.AsOf.Equal(now) || first.Days != 7 || len(first.Tables) == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	b.decide(t, "d2", "u1", "make", denying("command.kills"))
	write(`{"half a line`)
	now = now.Add(leastKept - time.Second)
	if again, err := k.Report(t.Context(), 7); err != nil || again.Summary != first.Summary || !again.AsOf.Equal(first.AsOf) {
		t.Errorf("what is remembered is %+v, %v", again, err)
	}
	k.making.Lock()
	if _, err := k.Report(t.Context(), 1); !errors.Is(err, api.ErrBusy) {
		t.Errorf("a second one beside the first: %v", err)
	}
	if _, err := k.Report(t.Context(), 7); err != nil {
		t.Errorf("what is remembered waits for another: %v", err)
	}
	k.making.Unlock()
	now = now.Add(2 * time.Second)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Report(gone, 7); !errors.Is(err, context.Canceled) {
		t.Errorf("it is made for who has gone: %v", err)
	}
	if later, err := k.Report(t.Context(), 7); err != nil || !strings.HasPrefix(later.Summary, "2 events") ||
		strings.Contains(later.Summary, "cannot be read") {
		t.Errorf("a later one is %+v, %v", later, err)
	}
}
