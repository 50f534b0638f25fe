package gateway

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// answerOf is what a listener makes of an answer, as it is described.
func answerOf(t *testing.T, answer bailiff.Answer) string {
	t.Helper()
	e := &enforcer{execute: func(context.Context, bailiff.Request, func(bailiff.Progress)) bailiff.Answer { return answer }}
	a := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e)))).post("/v1/execute", telegramRequest)
	newDescribed(t, description).check(t, "POST", "/v1/execute", telegramRequest, a)
	return string(a.body)
}

func TestAnAnswerTellsOfProcessesAndOfToolsThatWereCalled(t *testing.T) {
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	got := answerOf(t, bailiff.Answer{RequestID: "r", Status: bailiff.Completed, ToolCalls: 3, Decision: allowed,
		Processes: []bailiff.ProcessState{
			{ID: "p1", Command: "make", Started: start, Written: 7},
			{ID: "p2", Command: "sleep 9", Started: start, Ended: start.Add(time.Minute), Status: bailiff.TimedOut, ExitCode: 124},
		}})
	for _, want := range []string{
		`"tool_calls_made":3`,
		`"processes":[{"process_id":"p1","command":"make","started_at":"2026-11-21T12:00:00Z","output_bytes":7},`,
		`{"process_id":"p2","command":"sleep 9","started_at":"2026-11-21T12:00:00Z","ended_at":"2026-11-21T12:01:00Z",` +
			`"status":"timeout","exit_code":124,"output_bytes":0}]`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer is %s, want %s in it", got, want)
		}
	}
}

func TestAnAnswerIsSilentOnProcessesAndToolsThatThereWereNot(t *testing.T) {
	got := answerOf(t, bailiff.Answer{RequestID: "r", Status: bailiff.Completed, Decision: allowed})
	if none := answerOf(t, bailiff.Answer{RequestID: "r", Status: bailiff.Failed, Code: bailiff.CodeOutcomeUnknown}); strings.Contains(none,
		`"decision"`) {
		t.Errorf("where nothing was decided the answer is %s", none)
	}
	if strings.Contains(got, "processes") || strings.Contains(got, "tool_calls_made") {
		t.Errorf("the answer is %s", got)
	}
}
