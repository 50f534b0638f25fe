package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// evaluator is a fake that knows three documents.
type evaluator struct {
	at bailiff.Circumstances
	// silent policies define nothing.
	silent bool
}

func (e *evaluator) Query(_ context.Context, req bailiff.Request, at bailiff.Circumstances, path string) (any, bool, error) {
	e.at = at
	switch {
	case e.silent:
	case path == "agent/call/decision":
		return map[string]any{"tool": req.Tool, "n": json.Number("12345678901234567890")}, true, nil
	case path == "agent/broken":
		return nil, false, errors.New("evaluating policies: out of time")
	}
	return nil, false, nil
}

func dataAgent(e *enforcer, q *evaluator) AgentConfig {
	c := agentOf(e)
	c.DataPaths = []string{decisionPath, "agent/call/decision", "agent/undefined", "agent/broken"}
	c.Evaluator = q
	c.Circumstances = func(req bailiff.Request) bailiff.Circumstances { return bailiff.Circumstances{EnvAvailable: req.Env} }
	return c
}

const inputDocument = `{"tool": "terminal", "args": {"command": "rm -rf /", "timeout": 5},
	"session": {"id": "s1", "platform": "telegram", "mood": "good"},
	"env": {"requested": ["A"], "available": ["A", "B"]}, "backend": {"requested": "docker", "available": {"local": {}}},
	"command": {"text": "echo harmless", "complete": true}, "code": {}, "files": [], "time": "1999-01-01T00:00:00Z",
	"caller": {"name": "root"}, "user": {"admin": true}}`

func TestOPAClientsGetTheDecision(t *testing.T) {
	for _, test := range []struct{ name, path, body, answers string }{
		{"version 1", "/v1/data/bailiff/decision", `{"input": ` + inputDocument + `}`, `{"decision_id":"d1","result":`},
		{"version 0", "/v0/data/bailiff/decision", inputDocument, `{"outcome":"allow"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := &enforcer{}
			c := callerOf(t, open(t, DoorConfig{}, agentHandler(t, dataAgent(e, &evaluator{}))))
			a := c.post(test.path, test.body)
			if a.status != http.StatusOK || !strings.HasPrefix(string(a.body), test.answers) || !strings.Contains(string(a.body), `"outcome":"allow"`) {
				t.Errorf("answered %d: %s", a.status, a.body)
			}
			want := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "rm -rf /", Timeout: 5},
				Session: bailiff.Session{ID: "s1", Platform: "telegram"}, Env: []string{"A"}, Backend: "docker", Caller: "hermes"}
			if got := e.last(t); !reflect.DeepEqual(got, want) {
				t.Errorf("the enforcer got %+v, want %+v", got, want)
			}
		})
	}
}

func TestTheDecisionIsNeverUndefined(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, DoorConfig{}, agentHandler(t, dataAgent(e, &evaluator{}))))
	for name, body := range map[string]string{
		"no input":               `{}`,
		"an empty input":         `{"input": {}}`,
		"input that is null":     `{"input": null}`,
		"input that is a list":   `{"input": []}`,
		"an unknown tool":        `{"input": {"tool": "browser", "session": {"id": "s", "platform": "telegram"}}}`,
		"arguments of no tool":   `{"input": {"tool": "terminal", "args": {"cmd": "ls"}, "session": {"id": "s", "platform": "telegram"}}}`,
		"a tool that is a list":  `{"input": {"tool": []}}`,
		"a NUL byte in the text": `{"input": {"tool": "terminal", "args": {"command": "\u0000"}, "session": {"id": "s", "platform": "telegram"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := caller{t, c.client}.post("/v1/data/bailiff/decision", body)
			var wire struct {
				Result bailiff.Decision `json:"result"`
			}
			if err := json.Unmarshal(a.body, &wire); err != nil || a.status != http.StatusOK {
				t.Fatalf("answered %d: %s", a.status, a.body)
			}
			if d := wire.Result; d.Outcome != bailiff.Deny || len(d.Denials) != 1 || d.Denials[0].Rule != ruleInput {
				t.Errorf("the decision is %+v", d)
			}
			a = caller{t, c.client}.post("/v1/data/agent/call/decision", body)
			if a.status != http.StatusOK || !strings.HasPrefix(string(a.body), `{"decision_id":"r1","result":{"decision":"deny","reason":"`) {
				t.Errorf("the verdict is %d: %s", a.status, a.body)
			}
			if e.refused = e.refused[len(e.refused)-2:]; !slices.Equal(e.refused, []string{"hermes " + ruleInput, "hermes " + ruleInput}) {
				t.Errorf("recorded is %v, want both denials", e.refused)
			}
		})
	}
}

func TestWherePoliciesSayNothingOfACallTheDecisionStands(t *testing.T) {
	reasons := []bailiff.Reason{{Rule: "a", Message: "It deletes."}, {Rule: "b", Message: "It sends."}}
	for name, c := range map[string]struct {
		decision bailiff.Decision
		want     string
	}{
		"allowed":             {bailiff.Decision{Outcome: bailiff.Allow}, `{"decision":"allow"}`},
		"asked about":         {bailiff.Decision{Outcome: bailiff.Ask, Approval: &bailiff.ApprovalTerms{Reasons: reasons}}, `{"decision":"requires-approval","reason":"It deletes. It sends."}`},
		"asked about, simply": {bailiff.Decision{Outcome: bailiff.Ask}, `{"decision":"requires-approval"}`},
		"denied":              {bailiff.Decision{Outcome: bailiff.Deny, Denials: reasons[:1]}, `{"decision":"deny","reason":"It deletes."}`},
		"nobody decided":      {bailiff.Decision{}, `{"decision":"deny"}`},
	} {
		t.Run(name, func(t *testing.T) {
			e := &enforcer{decide: func() bailiff.Decision { return c.decision }}
			door := callerOf(t, open(t, DoorConfig{}, agentHandler(t, dataAgent(e, &evaluator{silent: true}))))
			if a := door.post("/v1/data/agent/call/decision", `{"input": `+inputDocument+`}`); string(a.body) != `{"decision_id":"d1","result":`+c.want+`}` {
				t.Errorf("version 1 answers %s, want %s", a.body, c.want)
			}
			if a := door.post("/v0/data/agent/call/decision", inputDocument); string(a.body) != c.want {
				t.Errorf("version 0 answers %s, want %s", a.body, c.want)
			}
			if got := e.last(t); got.Args.Command != "rm -rf /" {
				t.Errorf("the enforcer got %+v", got)
			}
		})
	}
}

func TestOtherDocumentsAreEvaluated(t *testing.T) {
	q := &evaluator{}
	c := callerOf(t, open(t, DoorConfig{}, agentHandler(t, dataAgent(&enforcer{}, q))))
	v1 := `{"input": ` + inputDocument + `}`
	for _, test := range []struct {
		name, path, body string
		status           int
		answers          string
	}{
		{"a document, version 1", "/v1/data/agent/call/decision", v1, 200, `{"result":{"n":12345678901234567890,"tool":"terminal"}}`},
		{"a document, version 0", "/v0/data/agent/call/decision", inputDocument, 200, `{"n":12345678901234567890,"tool":"terminal"}`},
		{"an undefined one, version 1", "/v1/data/agent/undefined", v1, 200, `{}`},
		{"an undefined one, version 0", "/v0/data/agent/undefined", inputDocument, 404, `{"code":"undefined_document"`},
		{"one that fails", "/v1/data/agent/broken", v1, 500, `{"code":"internal_error"`},
		{"input that is no request", "/v1/data/agent/undefined", `{"input": {}}`, 400, `{"code":"invalid_request"`},
		{"text that is no JSON", "/v1/data/bailiff/decision", `{"input"`, 400, `{"code":"invalid_json"`},
		{"a platform that is not this door's", "/v1/data/bailiff/decision", strings.Replace(v1, "telegram", "cli", 1), 403, `{"code":"platform_not_allowed"`},
		{"a document that is not listed", "/v1/data/bailiff/tables", v1, 403, `{"code":"path_not_allowed"`},
		{"everything", "/v1/data/", v1, 404, `{"code":"not_found"`},
		{"a part of a listed path", "/v1/data/bailiff", v1, 403, `{"code":"path_not_allowed"`},
		{"a way around", "/v1/data/agent/../bailiff/tables", v1, 404, `{"code":"not_found"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := caller{t, c.client}.post(test.path, test.body)
			if a.status != test.status || !strings.HasPrefix(string(a.body), test.answers) {
				t.Errorf("answered %d: %s, want %d: %s", a.status, a.body, test.status, test.answers)
			}
		})
	}
	if !reflect.DeepEqual(q.at.EnvAvailable, []string{"A"}) {
		t.Errorf("the circumstances are %+v", q.at)
	}
}
