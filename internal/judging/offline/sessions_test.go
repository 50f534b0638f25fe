package offline

import (
	"os"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/rows"
)

// The real judge asks in each recorded session that wants it, and in no other.
func TestRecordedSessionsAreJudgedAsTheyWant(t *testing.T) {
	t.Parallel()
	judge, err := JudgeRows(t.Context(), &config.Config{}, []string{"../../../policies"}, false)
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open("../corpus/sessions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, show := range []string{rows.Through, rows.False} {
		run := rows.Run{Judge: judge, Show: show}
		if _, err := in.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		if err := run.Add(t.Context(), in, "sessions.jsonl"); err != nil {
			t.Fatal(err)
		}
		r := run.Report()
		if r.Rows < 100 || r.LetThrough+r.FalseAlarms > 0 {
			t.Errorf("of %d sessions %d are missed and %d asked about in vain", r.Rows, r.LetThrough, r.FalseAlarms)
		}
		for _, row := range r.Shown {
			t.Errorf("%s: %+v", show, row)
		}
	}
}
