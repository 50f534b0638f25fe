package evidence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// kept is a log of two sessions; in the first a request waited for an approval.
func kept(t *testing.T) (stateDir string) {
	t.Helper()
	stateDir = t.TempDir()
	log, err := audit.Open(audit.Config{StateDir: stateDir})
	must(t, err)
	asked := &bailiff.Approval{ID: "a-one", State: "approved", By: "ana"}
	for _, e := range []api.Event{
		{DecisionID: "d-1", Custom: api.Custom{Event: api.DecisionEvent, Session: "one", RequestID: "r-1",
			Message: "<script>alert(1)</script>"}},
		{DecisionID: "d-2", Custom: api.Custom{Event: "approval", Session: "one", Approval: asked}},
		{DecisionID: "d-3", Custom: api.Custom{Event: api.DecisionEvent, Session: "one", RequestID: "r-1", Approval: asked}},
		{DecisionID: "d-3", Custom: api.Custom{Event: api.ExecutionEvent, Session: "one", RequestID: "r-1", Status: "completed"}},
		{DecisionID: "d-4", Custom: api.Custom{Event: api.DecisionEvent, Session: "one", RequestID: "r-4"}},
		{DecisionID: "d-5", Custom: api.Custom{Event: api.DecisionEvent, Session: "two", RequestID: "r-5"}},
	} {
		e.Timestamp = noon
		must(t, log.Record(t.Context(), e))
	}
	must(t, log.Close())
	return stateDir
}

func TestACaseHasAllLinesOfItAndNoOthers(t *testing.T) {
	t.Parallel()
	stateDir := kept(t)
	for id, want := range map[string]string{
		"one": "d-1 d-2 d-3 d-3 d-4", "two": "d-5", "r-4": "d-4", "a-one": "d-1 d-2 d-3 d-3", "d-2": "d-1 d-2 d-3 d-3", "d-5": "d-5",
	} {
		c, err := Gather(t.Context(), stateDir, id)
		must(t, err)
		var got []string
		for _, e := range c.Events {
			got = append(got, e.DecisionID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s has %v, want %s", id, got, want)
		}
	}
	if _, err := Gather(t.Context(), stateDir, "d"); !errors.Is(err, ErrNone) {
		t.Errorf("of no case it says %v", err)
	}
}

func TestAnArchiveHasTheLinesAsTheyAreAndAPageThatRunsNothing(t *testing.T) {
	t.Parallel()
	stateDir := kept(t)
	found, err := audit.Verify(stateDir)
	must(t, err)
	c, err := Gather(t.Context(), stateDir, "a-one")
	must(t, err)
	var archive bytes.Buffer
	must(t, c.Write(&archive, found, noon))
	files := unpacked(t, &archive)
	whole := map[string]bool{}
	must(t, audit.Read(t.Context(), []string{stateDir}, func(_ string, _ int, line []byte) error {
		whole[string(line)] = true
		return nil
	}))
	lines := strings.Split(strings.TrimSpace(files["case/events.jsonl"]), "\n")
	for _, line := range lines {
		if !whole[line] {
			t.Errorf("the log has no line %s", line)
		}
	}
	page := files["case/index.html"]
	if len(lines) != 4 || strings.Contains(page, "<script") || !strings.Contains(page, "&lt;script&gt;") ||
		!strings.Contains(page, "approved ana") || !strings.Contains(page, "its 6 lines are as they were written") {
		t.Errorf("%d lines, and the page is\n%s", len(lines), page)
	}
	if !strings.Contains(files["case/verification.json"], `"lines": 6`) {
		t.Errorf("the check is %s", files["case/verification.json"])
	}
}

func unpacked(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	plain, err := gzip.NewReader(archive)
	must(t, err)
	all := map[string]string{}
	for files := tar.NewReader(plain); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		text, err := io.ReadAll(files)
		must(t, err)
		all[header.Name] = string(text)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
