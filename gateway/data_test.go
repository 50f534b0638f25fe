package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// evaluator is a fake that knows three documents.
type evaluator struct {
	at bailiff.Circumstances
	// asked is how it reads a call; nil is not at all.
	asked any
	err   error
}

func (e *evaluator) Query(_ context.Context, req bailiff.Request, at bailiff.Circumstances, path string) (any, bool, error) {
	e.at = at
	switch {
	case path == "house/report":
		return map[string]any{"tool": req.Tool, "n": json.Number("12345678901234567890")}, true, nil
	case path == "house/broken":
		return nil, false, errors.New("evaluating policies: out of time")
	}
	return nil, false, nil
}

func (e *evaluator) Read(_ context.Context, _ []byte, path string) (any, bool, error) {
	return e.asked, e.asked != nil && path == "agent/call/asked", e.err
}

func dataAgent(e *enforcer, q *evaluator) AgentConfig {
	c := agentOf(e)
	c.DataPaths = []string{api.DecisionPath, callPath, "house/report", "house/undefined", "house/broken"}
	c.Evaluator = q
	c.Circumstances = func(_ context.Context, req bailiff.Request) (bailiff.Request, bailiff.Circumstances) {
		return req, bailiff.Circumstances{EnvAvailable: req.Env}
	}
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
			c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(e, &evaluator{}))))
			a := c.post(test.path, test.body)
			if a.status != http.StatusOK || !strings.HasPrefix(string(a.body), test.answers) ||
				!strings.Contains(string(a.body), `"outcome":"allow"`) {
				t.Errorf("answered %d: %s", a.status, a.body)
			}
			want := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "rm -rf /", Timeout: 5},
				Session: bailiff.Session{ID: "s1", Platform: "telegram"}, Env: []string{"A"}, Backend: "docker", Caller: "hermes",
				Peer: bailiff.Credential(uint32(os.Geteuid()))} //nolint:gosec // a uid fits
			if got := e.last(t); !reflect.DeepEqual(got, want) {
				t.Errorf("the enforcer got %+v, want %+v", got, want)
			}
		})
	}
}

func TestOPAsProbesAreAnsweredAndTheWholeIsNotServed(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(&enforcer{}, &evaluator{}))))
	for _, path := range []string{"/health", "/health?bundles", "/health?bundles&plugins"} {
		if a := c.do("GET", path, ""); a.status != http.StatusOK || strings.TrimSpace(string(a.body)) != "{}" {
			t.Errorf("%s is answered %d: %s", path, a.status, a.body)
		}
	}
	if a := c.post("/v1/data", `{"input": `+inputDocument+`}`); a.status != http.StatusForbidden ||
		!strings.Contains(string(a.body), "The document data is not served; agent.data_paths lists what is.") {
		t.Errorf("the whole is answered %d: %s", a.status, a.body)
	}
}

func TestTheDecisionIsNeverUndefined(t *testing.T) {
	e := &enforcer{}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(e, &evaluator{}))))
	for name, body := range map[string]string{
		"no input":              `{}`,
		"an empty input":        `{"input": {}}`,
		"input that is null":    `{"input": null}`,
		"input that is a list":  `{"input": []}`,
		"an unknown tool":       `{"input": {"tool": "browser", "session": {"id": "s", "platform": "telegram"}}}`,
		"arguments of no tool":  `{"input": {"tool": "terminal", "args": {"cmd": "ls"}, "session": {"id": "s", "platform": "telegram"}}}`,
		"a tool that is a list": `{"input": {"tool": []}}`,
		"a NUL byte in the text": `{"input": {"tool": "terminal", "args": {"command": "\u0000"}, "session": {"id": "s", "platform": ` +
			`"telegram"}}}`,
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
			if a.status != http.StatusOK || !strings.HasPrefix(string(a.body),
				`{"decision_id":"r1","result":{"decision":"deny","reason":"`) {
				t.Errorf("the verdict is %d: %s", a.status, a.body)
			}
			if e.refused = e.refused[len(e.refused)-2:]; !slices.Equal(e.refused, []string{"hermes " + ruleInput, "hermes " + ruleInput}) {
				t.Errorf("recorded is %v, want both denials", e.refused)
			}
		})
	}
}

func TestOtherDocumentsAreEvaluated(t *testing.T) {
	q := &evaluator{}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(&enforcer{}, q))))
	v1 := `{"input": ` + inputDocument + `}`
	for _, test := range []struct {
		name, path, body string
		status           int
		answers          string
	}{
		{"a document, version 1", "/v1/data/house/report", v1, 200, `{"result":{"n":12345678901234567890,"tool":"terminal"}}`},
		{"a document, version 0", "/v0/data/house/report", inputDocument, 200, `{"n":12345678901234567890,"tool":"terminal"}`},
		{"an undefined one, version 1", "/v1/data/house/undefined", v1, 200, `{}`},
		{"an undefined one, version 0", "/v0/data/house/undefined", inputDocument, 404, `{"code":"undefined_document"`},
		{"one that fails", "/v1/data/house/broken", v1, 500, `{"code":"internal_error"`},
		{"input that is no request", "/v1/data/house/undefined", `{"input": {}}`, 400, `{"code":"invalid_request"`},
		{"text that is no JSON", "/v1/data/bailiff/decision", `{"input"`, 400, `{"code":"invalid_json"`},
		{"a platform that is not this listener's", "/v1/data/bailiff/decision", strings.Replace(v1, "telegram", "cli", 1), 403,
			`{"code":"platform_not_allowed"`},
		{"a document that is not listed", "/v1/data/bailiff/tables", v1, 403, `{"code":"path_not_allowed"`},
		{"a part of a document", "/v1/data/bailiff/decision/outcome", v1, 403, `{"code":"path_not_allowed"`},
		{"many at once, which no OPA takes either", "/v1/batch/data/bailiff/decision", `{"inputs": {}}`, 404, `{"code":"not_found"`},
		{"a query", "/v1/query", `{"query": "data"}`, 404, `{"code":"not_found"`},
		{"everything", "/v1/data/", v1, 404, `{"code":"not_found"`},
		{"a part of a listed path", "/v1/data/bailiff", v1, 403, `{"code":"path_not_allowed"`},
		{"a way around", "/v1/data/house/../bailiff/tables", v1, 404, `{"code":"not_found"`},
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
