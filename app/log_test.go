package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestALineOfTheLogNamesTheRequestThatItIsAbout(t *testing.T) {
	t.Parallel()
	about := bailiff.Concerning(t.Context(), bailiff.Concern{RequestID: "r", DecisionID: "d", TraceID: "t"})
	var text strings.Builder
	NewLog("warn", "json", &text).With("backend", "docker").WarnContext(about, "a sandbox was lost")
	var line map[string]any
	if err := json.Unmarshal([]byte(text.String()), &line); err != nil || line["request_id"] != "r" ||
		line["decision_id"] != "d" || line["trace_id"] != "t" || line["backend"] != "docker" {
		t.Errorf("in JSON it is %s, %v", text.String(), err)
	}
	text.Reset()
	log := NewLog("warn", "text", &text)
	log.WarnContext(about, "a sandbox was lost")
	log.InfoContext(about, "quiet")
	if line := text.String(); !strings.HasSuffix(line, "msg=\"a sandbox was lost\" request_id=r decision_id=d trace_id=t\n") {
		t.Errorf("in text it is %s", line)
	}
	text.Reset()
	log.Warn("about nobody")
	if line := text.String(); !strings.HasSuffix(line, "msg=\"about nobody\"\n") {
		t.Errorf("of no request it says %s", line)
	}
}
