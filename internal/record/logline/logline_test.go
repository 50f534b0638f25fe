package logline

import (
	"reflect"
	"testing"
)

func TestInOnePassIsReadWhatPartByPartIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		is   func(Event) bool
	}{
		"a decision": {`{"decision_id":"d","trace_id":"t","timestamp":"2026-11-27T14:50:44.300125737Z","path":"bailiff/decision",` +
			`"input":{"tool":"terminal","args":{"command":"ls","arguments":{"a":[1]}},"session":{"id":"s","platform":"telegram"},` +
			`"env":{"requested":["A"]},"command":{"calls":[{"argv":["ls"]}]}},` +
			`"result":{"outcome":"ask","denials":[],"approval":{"reasons":` +
			`[{"rule":"r","message":"m","severity":"high","attack":["T1485"]}]}},"bundles":{"policies":{"revision":"r1"}},` +
			`"requested_by":"me","metrics":{"timer_rego_query_eval_ns":5},"labels":{"app":"bailiff"},"custom":{"event":"decision",` +
			`"session":"s","hash":"h"}}`, func(e Event) bool {
			return e.Input.Args.Text() == `ls {"a":[1]}` && e.Result.Approval.Reasons[0].Severity == "high" && e.Hash == "h" &&
				e.Line.Custom.Event == "decision" && e.Line.Metrics["timer_rego_query_eval_ns"] == 5 && !e.Line.Timestamp.IsZero()
		}},
		"a run": {`{"decision_id":"d","custom":{"event":"execution","status":"completed","exit_code":6,"duration_ns":5,"hash":"h"}}`,
			func(e Event) bool { return *e.Line.Custom.ExitCode == 6 && e.Line.Custom.Nanoseconds == 5 }},
		"an answer": {`{"custom":{"event":"approval","approval":{"id":"a","state":"approved","by":"ana","via":"console"}}}`,
			func(e Event) bool { return e.Line.Custom.Approval.By == "ana" }},
		"nothing asked": {`{"decision_id":"d","input":null,"result":null,"custom":{"event":"decision"}}`,
			func(e Event) bool { return e.Line.DecisionID == "d" }},
		"a key twice":      {`{"decision_id":"d","decision_id":"e"}`, func(e Event) bool { return e.Line.DecisionID == "e" }},
		"bytes of no text": {"{\"decision_id\":\"\xff\"}", func(e Event) bool { return e.Line.DecisionID == "\ufffd" }},
		"a fault":          {`{"error":{"message":"x"}}`, func(e Event) bool { return e.Line.Error.Message == "x" }},
		"a mask's other type": {`{"decision_id":"d","input":{"tool":7,"args":"x","session":{"platform":"cli"}},` +
			`"result":{"outcome":"deny",` +
			`"denials":7},"custom":{"event":"decision","hash":"h"}}`, func(e Event) bool {
			return e.Input.Session.Platform == "cli" && e.Result.Outcome == "deny" && e.Hash == "h"
		}},
	} {
		e, err := Read([]byte(c.line))
		slow, slowErr := readWhatFits([]byte(c.line))
		if err != nil || slowErr != nil || !reflect.DeepEqual(e, slow) {
			t.Errorf("%s: read at once %+v, %v; part by part %+v, %v", name, e, err, slow, slowErr)
		}
		if !c.is(e) || e.Line.Input != nil || e.Line.Result != nil {
			t.Errorf("%s is read as %+v", name, e)
		}
	}
	for _, line := range []string{"", "no event", `[]`, `{"decision_id":"d"`, `{} {}`} {
		if e, err := Read([]byte(line)); err == nil {
			t.Errorf("%q is read as %+v", line, e)
		}
	}
}
