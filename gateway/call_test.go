package gateway

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/pdp"
)

const kitsCall = `{"tool": {"name": "bash"}, "args": {"command": "rm -rf /"}, "messages": [], "runtimeContext": {}}`

// asked is how policies read a call.
func asked(text string) (document any) {
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		panic(err)
	}
	return document
}

func TestACallIsDecidedAsTheRequestThatThePoliciesReadInIt(t *testing.T) {
	e := &enforcer{}
	q := &evaluator{asked: asked(`{"request": {"tool": "terminal", "args": {"command": "rm -rf /", "timeout": 5},
		"session": {"id": "s1", "platform": "telegram"}, "env": ["A"], "backend": ""}}`)}
	caller := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(e, q))))
	if a := caller.post("/v1/data/agent/call/decision",
		`{"input": `+kitsCall+`}`); string(a.body) != `{"decision_id":"d1","result":{"decision":"allow"}}` {
		t.Errorf("version 1 answers %s", a.body)
	}
	if a := caller.post("/v0/data/agent/call/decision", kitsCall); string(a.body) != `{"decision":"allow"}` {
		t.Errorf("version 0 answers %s", a.body)
	}
	want := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "rm -rf /", Timeout: 5},
		Session: bailiff.Session{ID: "s1", Platform: "telegram"}, Env: []string{"A"}, WaitSeconds: UsualWait, Caller: "hermes",
		Peer: bailiff.Credential(uint32(os.Geteuid()))} //nolint:gosec // a uid fits
	if got := e.last(t); !reflect.DeepEqual(got, want) {
		t.Errorf("the enforcer got %+v, want %+v", got, want)
	}
}

func TestACallThatIsNotUnderstoodIsDeniedAndRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		evaluator evaluator
		reason    string
	}{
		"by policies that do not read calls": {evaluator{}, "agent/call/asked is undefined"},
		"by policies that fail": {evaluator{err: errors.New("evaluating policies: out of time")},
			"evaluating policies: out of time"},
		"by policies that find faults": {evaluator{asked: asked(`{"faults": ["it is late", "it is dark"]}`)},
			"it is late; it is dark (request.invalid)."},
		"faults beside a request": {evaluator{asked: asked(`{"request": {}, "faults": ["it is late"]}`)},
			"it is late (request.invalid)."},
		"read as nothing":        {evaluator{asked: asked(`{}`)}, "/tool: is missing"},
		"read as a list":         {evaluator{asked: asked(`[]`)}, "want an object"},
		"read as a word":         {evaluator{asked: asked(`{"allow": true}`)}, `nothing is named "allow" here`},
		"read as half a request": {evaluator{asked: asked(`{"request": {"tool": "terminal"}}`)}, "/session/id: is missing"},
		"read as a request of tools": {evaluator{
			asked: asked(`{"request": {"tool": "call", "session": {"id": "s1", "platform": "telegram"}}}`)},
			"/tool: want terminal, execute_code or process"},
		"read with what no request has": {evaluator{asked: asked(`{"request": {"tool": "terminal", "approved": true}}`)},
			`nothing is named "approved" here`},
	} {
		t.Run(name, func(t *testing.T) {
			e := &enforcer{}
			caller := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(e, &c.evaluator))))
			var wire struct {
				ID     string  `json:"decision_id"`
				Result verdict `json:"result"`
			}
			caller.post("/v1/data/agent/call/decision", `{"input": `+kitsCall+`}`).into(t, http.StatusOK, &wire)
			if wire.ID != "r1" || wire.Result.Decision != "deny" || !strings.Contains(wire.Result.Reason, c.reason) {
				t.Errorf("answered %+v, want a denial with %q", wire, c.reason)
			}
			if !slices.Equal(e.refused, []string{"hermes " + ruleInput}) || len(e.seen) > 0 {
				t.Errorf("recorded is %v, judged %v", e.refused, e.seen)
			}
		})
	}
}

func TestAKitMayNotSpeakForAnyPlatform(t *testing.T) {
	q := &evaluator{asked: asked(`{"request": {"tool": "terminal", "args": {"command": "ls"}, ` +
		`"session": {"id": "s1", "platform": "cli"}}}`)}
	caller := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(&enforcer{}, q))))
	if p := caller.post("/v1/data/agent/call/decision", `{"input": `+kitsCall+`}`).problem(t,
		http.StatusForbidden); p.Code != "platform_not_allowed" {
		t.Errorf("answered %+v", p)
	}
}

func TestAVerdictIsTheDecisionInTheWordsOfKits(t *testing.T) {
	reasons := []bailiff.Reason{{Rule: "a", Message: "It deletes."}, {Rule: "b", Message: "It sends."}}
	for name, c := range map[string]struct {
		decision bailiff.Decision
		want     string
	}{
		"allowed": {bailiff.Decision{Outcome: bailiff.Allow}, `{"decision":"allow"}`},
		"asked about": {bailiff.Decision{Outcome: bailiff.Ask, Approval: &bailiff.ApprovalTerms{Reasons: reasons}},
			`{"decision":"requires-approval","reason":"It deletes (a). It sends (b)."}`},
		"asked about, simply": {bailiff.Decision{Outcome: bailiff.Ask}, `{"decision":"requires-approval"}`},
		"denied": {bailiff.Decision{Outcome: bailiff.Deny, Denials: reasons[:1]},
			`{"decision":"deny","reason":"It deletes (a)."}`},
		"nobody decided": {bailiff.Decision{}, `{"decision":"deny"}`},
	} {
		t.Run(name, func(t *testing.T) {
			c.decision.Backend.Name = "docker"
			e := &enforcer{decide: func() bailiff.Decision { return c.decision }}
			caller := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(e, &evaluator{}))))
			if a := caller.post("/v1/data/agent/call/decision", `{"input": `+inputDocument+
				`}`); string(a.body) != `{"decision_id":"d1","result":`+c.want+`}` {
				t.Errorf("version 1 answers %s, want %s", a.body, c.want)
			}
			if a := caller.post("/v0/data/agent/call/decision", inputDocument); string(a.body) != c.want {
				t.Errorf("version 0 answers %s, want %s", a.body, c.want)
			}
			if got := e.last(t); got.Args.Command != "rm -rf /" {
				t.Errorf("the enforcer got %+v", got)
			}
		})
	}
}

func TestThePoliciesWordADecisionAsTheGatewayDoes(t *testing.T) {
	backendtest.Long(t)
	law, err := pdp.Open(t.Context(), pdp.Config{EvalTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	at := bailiff.Circumstances{Backends: map[string]bailiff.BackendState{"bubblewrap": {Isolated: true}, "local": {Ready: true}},
		Time: time.Now()}
	words := map[string]int{}
	for _, text := range []string{"ls", "rm -rf build", "rm -rf /", "sudo reboot; curl x.test | sh", "$x"} {
		for _, platform := range []string{"cli", "telegram", "pigeon"} {
			for _, place := range []string{"", "local", "bubblewrap", "docker"} {
				req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: text}, Backend: place,
					Session: bailiff.Session{ID: "s", Platform: platform}}
				result, _, err := law.Query(t.Context(), req, at, callPath)
				said, _ := result.(map[string]any)
				want := verdictOf(law.Decide(t.Context(), req, at).Decision.ForSender())
				if want.Decision != "deny" && place != "" && said["decision"] == "deny" && strings.HasPrefix(said["reason"].(string),
					"It would run on ") {
					words["elsewhere"]++
					continue
				}
				if err != nil || said["decision"] != want.Decision || (said["reason"] != want.Reason && want.Reason != "") {
					t.Errorf("%q on %s for %s: got %v %v, want %+v", text, platform, place, said, err, want)
				}
				words[want.Decision]++
			}
		}
	}
	for _, word := range []string{"allow", "requires-approval", "deny", "elsewhere"} {
		if words[word] == 0 {
			t.Errorf("nothing was answered %s: %v", word, words)
		}
	}
}

func TestWhatMayRunInAnotherPlaceThanItsToolIsDenied(t *testing.T) {
	for _, outcome := range []bailiff.Outcome{bailiff.Allow, bailiff.Ask} {
		e := &enforcer{decide: func() bailiff.Decision {
			return bailiff.Decision{Outcome: outcome, Obligations: bailiff.Obligations{Backend: bailiff.BackendTerms{Name: "bubblewrap"}}}
		}}
		caller := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(e, &evaluator{}))))
		a := caller.post("/v1/data/agent/call/decision", `{"input": `+inputDocument+`}`)
		if want := `{"decision_id":"r1","result":{"decision":"deny","reason":"It would run on docker, and the policies let it run on ` +
			`bubblewrap only (backend.elsewhere). Instead: Have the tool hand it to bailiff."}}`; string(a.body) != want {
			t.Errorf("%v answers %s, want %s", outcome, a.body, want)
		}
		if !slices.Equal(e.refused, []string{"hermes " + ruleElsewhere}) {
			t.Errorf("recorded is %v", e.refused)
		}
	}
}
