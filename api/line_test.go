package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

func TestALineIsReadAsTheEventThatWasWritten(t *testing.T) {
	code := 3
	event := api.Event{
		DecisionID: "d1", Timestamp: time.Date(2026, 11, 22, 14, 0, 0, 5, time.UTC), Path: api.DecisionPath,
		Input: json.RawMessage(`{"tool":"terminal","args":{"command":"ls"},"session":{"platform":"slack"},` +
			`"env":{"requested":["TOKEN"]}}`),
		Result:  bailiff.Denial("house.closed", "Closed."),
		Bundles: map[string]api.Bundle{"policies": {Revision: "abc"}}, RequestedBy: "hermes", Metrics: map[string]int64{"timer_ns": 12},
		Error:  &api.EventError{Message: "no"},
		Custom: api.Custom{Event: api.DecisionEvent, Session: "s1", ExitCode: &code, Shadow: &api.Shadow{Outcome: bailiff.Ask}},
	}
	written, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	line, err := api.ReadLine(written)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(line); err != nil || string(again) != string(written) {
		t.Errorf("read and written anew (%v) it is\n%s\nwas\n%s", err, again, written)
	}
	asked, decided := line.ReadInput(), line.ReadResult()
	if asked.Tool != bailiff.Terminal || asked.Args.Text() != "ls" || asked.Session.Platform != "slack" ||
		asked.Env.Requested[0] != "TOKEN" {
		t.Errorf("asked was %+v", asked)
	}
	if decided.Outcome != "deny" || decided.Denials[0].Rule != "house.closed" {
		t.Errorf("decided was %+v", decided)
	}
}

func TestWhatAMaskLeftIsRead(t *testing.T) {
	for name, line := range map[string]string{
		"all": `{"input": {"session": {"platform": "slack"}}, "result": {"outcome": "deny"}, "custom": {"event": ` +
			`"decision"}}`,
		"parts of the input": `{"input": {"args": "**", "env": 5, "session": {"user_id": [], "platform": "slack"}}, "result": ` +
			`{"outcome": "deny"}, "custom": {"event": "decision"}}`,
		"parts of the rest": `{"input": {"session": {"platform": "slack"}}, "result": {"denials": [5, {"rule": {}}], "outcome": "deny",` +
			` "approval": []}, "metrics": "**", "custom": {"event": "decision"}}`,
	} {
		l, err := api.ReadLine([]byte(line))
		if err != nil || l.ReadInput().Session.Platform != "slack" || l.ReadResult().Outcome != "deny" ||
			l.Custom.Event != api.DecisionEvent {
			t.Errorf("of %s is read %+v, %v, %+v, %+v", name, l, err, l.ReadInput(), l.ReadResult())
		}
	}
	for _, nothing := range []string{`{}`, `{"input": null, "result": null}`, `{"input": "**", "result": [1]}`} {
		l, err := api.ReadLine([]byte(nothing))
		if err != nil || l.ReadInput().Args.Text() != "" || l.ReadResult().Outcome != "" {
			t.Errorf("of %s is read %+v, %v", nothing, l, err)
		}
	}
}

func TestALineThatHoldsNoEventIsAnError(t *testing.T) {
	for _, line := range []string{``, `{`, `[]`, `5`, `"event"`, `{"decision_id": "d1", "timestamp": "yesterday"}`} {
		if l, err := api.ReadLine([]byte(line)); err == nil {
			t.Errorf("of %q is read %+v", line, l)
		}
	}
}
