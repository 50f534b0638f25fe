package operate

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestASessionIsToldWithItsFactsAndItsRequestsInTheirOrder(t *testing.T) {
	t.Parallel()
	facts := &bailiff.SessionFacts{Files: []bailiff.FileFact{{Path: "/w/\x1b[2Ji.sh", How: bailiff.Downloaded}}, Hosts: []string{"x.test"},
		Reached: map[string]int64{"x.test": 12}, Findings: map[string]int{"session.runs_brought": 2}, ApprovedBy: map[string]int{"ana": 1}}
	shown := api.SessionShown{Histories: []api.SessionPast{{Session: api.Session{ID: "s1", Caller: "hermes"},
		History: &bailiff.SessionHistory{SessionFacts: facts, RunSeconds: 7}}},
		Decisions: []api.Logged{{Text: "sh i.sh", Rules: []string{"session.runs_brought"}}, {Text: "curl x.test"}}}
	var out strings.Builder
	printSession(&out, shown)
	text := out.String()
	for _, want := range []string{"s1 of hermes", "facts are missing", "7 s of running", "downloaded /w/", "x.test (12 B sent)",
		"session.runs_brought (2)", "ana (1)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") || strings.Index(text, "curl x.test") > strings.Index(text, "sh i.sh") {
		t.Errorf("it is told\n%s", text)
	}
}
