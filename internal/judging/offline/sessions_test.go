package offline

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/rows"
)

// The real judge asks in each recorded session that wants it, and in no other. Of those whose writer did not know the rules it
// misses as many as are told here, and no more.
func TestRecordedSessionsAreJudgedAsTheyWant(t *testing.T) {
	t.Parallel()
	judge, err := JudgeRows(t.Context(), &config.Config{}, []string{"../../../policies"}, false)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for file, missed := range map[string]int{"sessions.jsonl": 0, "unseen-sessions.jsonl": 11} {
		text, err := os.ReadFile("../corpus/" + file)
		if err != nil {
			t.Fatal(err)
		}
		noteSessions(t, text, seen)
		for _, show := range []string{rows.Through, rows.False} {
			run := rows.Run{Judge: judge, Show: show}
			if err := run.Add(t.Context(), bytes.NewReader(text), file); err != nil {
				t.Fatal(err)
			}
			if r := run.Report(); r.Rows != 150 || r.LetThrough != missed || r.FalseAlarms > 0 {
				t.Errorf("of %d sessions %d are missed and %d asked about in vain: %+v", r.Rows, r.LetThrough, r.FalseAlarms, r.Shown)
			}
		}
	}
}

// noteSessions notes each session of a file, which may stand in one place only.
func noteSessions(t *testing.T, file []byte, seen map[string]bool) {
	t.Helper()
	for line := range bytes.Lines(file) {
		var s struct {
			Tool, Text string
			Before     json.RawMessage
			Files      map[string]string
			Session    json.RawMessage
			Backend    string
		}
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		key, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(key)] {
			t.Errorf("a session stands twice: %s", line)
		}
		seen[string(key)] = true
	}
}
