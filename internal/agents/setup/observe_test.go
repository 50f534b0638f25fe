package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/text/yamledit"
	"github.com/bailiff-dev/bailiff/policies"
)

func TestRulesAreObservedOnceAndOnlyThoseThatMayBe(t *testing.T) {
	t.Parallel()
	text, err := policies.FS.ReadFile("data.yaml")
	backendtest.Must(t, err)
	doc, err := yamledit.Parse(string(text))
	backendtest.Must(t, err)
	backendtest.Must(t, doc.Set(map[string]any{"command.kills_processes": map[string]any{"until": "2026-01-01"}}, observed...))
	day := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for range 2 {
		backendtest.Must(t, observe(doc, 14, day))
		day = day.AddDate(0, 0, 10)
	}
	said, err := doc.Value(observed...)
	backendtest.Must(t, err)
	rows, _ := said.(map[string]any)
	for rule, want := range map[string]string{"command.deletes_recursively": "2026-12-05", "command.kills_processes": "2026-01-01",
		"command.reads_credentials": "", "session.runs_brought": "", "command.destroys_system": ""} {
		row, _ := rows[rule].(map[string]any)
		if until, _ := row["until"].(string); until != want {
			t.Errorf("%s is observed until %q, want %q", rule, until, want)
		}
	}
	for _, days := range []int{-1, 31} {
		if err := observe(doc, days, day); err == nil || !strings.Contains(err.Error(), "1 to 30 days") {
			t.Errorf("for %d days: %v", days, err)
		}
	}
}
