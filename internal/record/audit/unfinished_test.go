package audit

import (
	"os"
	"strings"
	"testing"
)

// A start reads what may still matter of earlier runs, not all that is kept.
func TestAStartReadsNoFileThatIsTooOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, Config{StateDir: dir, Bounds: Bounds{SegmentBytes: 1000}})
	for range 300 {
		record(t, l, aged("long ago", 2))
	}
	record(t, l, decision("recent"))
	l.Close()
	files := paths(t, dir, 301)
	for _, path := range files[:300] {
		must(t, os.WriteFile(path, []byte(`{"decision_id":"x","custom":{"request_id":"what a start would stumble over`+"\n"),
			0o600))
		age(t, path)
	}
	l = open(t, Config{StateDir: dir})
	if open := l.UnfinishedRequests(aged("", 1).Timestamp); len(open) != 1 || open[0].RequestID != "r-recent" {
		t.Errorf("unfinished are %+v", open)
	}
	if lines := l.Recent("", 1); len(lines) != 1 || !strings.Contains(string(lines[0]), "recent") {
		t.Errorf("the last lines are %q", lines)
	}
}

// age makes a file one that was last written to two days ago.
func age(t *testing.T, path string) {
	t.Helper()
	then := aged("", 2).Timestamp
	must(t, os.Chtimes(path, then, then))
}
