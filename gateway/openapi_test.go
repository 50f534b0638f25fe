package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// described checks exchanges with a listener against openapi.yaml, and remembers
// which of the described ones there have been.
type described struct {
	spec *openapi3.T
	seen map[string]bool // "POST /v1/execute 200"
}

func newDescribed(t *testing.T, text []byte) *described {
	t.Helper()
	spec, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	closed := false
	for _, s := range spec.Components.Schemas {
		if s.Value.Type.Is("object") && s.Value.AdditionalProperties.Has == nil {
			s.Value.AdditionalProperties.Has = &closed // what a listener answers is described, all of it
		}
	}
	return &described{spec, map[string]bool{}}
}

// route finds the operation of a request, and its path parameters.
func (d *described) route(t *testing.T, method, path string) (*routers.Route, map[string]string) {
	t.Helper()
	path, _, _ = strings.Cut(path, "?")
	paths := d.spec.Paths.InMatchingOrder() // the most specific first
	for _, pattern := range paths {
		expression := regexp.MustCompile(`\\\{(\w+)\\\}`).ReplaceAllString(regexp.QuoteMeta(pattern), `(?P<$1>.+)`)
		match := regexp.MustCompile("^" + expression + "$").FindStringSubmatch(path)
		item := d.spec.Paths.Value(pattern)
		if match == nil || item.GetOperation(method) == nil {
			continue
		}
		params := map[string]string{}
		if len(match) > 1 {
			params[regexp.MustCompile(`\{(\w+)\}`).FindStringSubmatch(pattern)[1]] = match[1]
		}
		return &routers.Route{Spec: d.spec, Path: pattern, PathItem: item, Method: method, Operation: item.GetOperation(method)}, params
	}
	t.Fatalf("%s %s is not described", method, path)
	return nil, nil
}

// check checks one exchange; a request that was taken must be as described too.
func (d *described) check(t *testing.T, method, path, body string, a answerBytes) {
	t.Helper()
	r, err := http.NewRequest(method, "http://bailiff"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	route, params := d.route(t, method, path)
	input := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, RejectWhenRequestBodyNotSpecified: true,
			AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	if a.status/100 == 2 {
		if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
			t.Errorf("%s %s was taken and is not described: %v", method, path, err)
		}
	}
	if err := openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{RequestValidationInput: input,
		Status: a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), Options: input.Options}); err != nil {
		t.Errorf("%s %s: the answer %d is not as described: %v\n%s", method, path, a.status, err, a.body)
	}
	d.seen[method+" "+route.Path+" "+strconv.Itoa(a.status)] = true
}

// all lists what is described.
func (d *described) all() (list []string) {
	for path, item := range d.spec.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				list = append(list, method+" "+path+" "+status)
			}
		}
	}
	slices.Sort(list)
	return list
}

// exchange is a request that a handler serves.
type exchange struct{ method, path, body string }

var (
	agentExchanges = []exchange{
		{"POST", "/v1/execute", telegramRequest},
		{"POST", "/v1/decide", telegramRequest},
		{"DELETE", "/v1/sessions/s1", ""},
		{"POST", "/v1/sessions/s1/tools", `{"tools": ["web_search"]}`},
		{"POST", "/v1/tool_calls/c1", `{"result": {"pages": []}}`},
		{"POST", "/v1/data/agent/call/decision", `{"input": ` + inputDocument + `}`},
		{"POST", "/v0/data/agent/call/decision", inputDocument},
		{"GET", "/healthz", ""}, {"GET", "/health?bundles", ""}, {"POST", "/v1/data", `{"input": ` + inputDocument + `}`},
		{"GET", "/v1/openapi.yaml", ""},
	}
)

// operatorExchanges are those of an office in which something is asked.
func operatorExchanges(t *testing.T, o *office) []exchange {
	yes, no := o.ask(t, asking("s1", "rm -rf ./build", "rm")), o.ask(t, asking("s2", "rm -rf ./other", "rm"))
	words := asking("s5", "rm z", "rm")
	words.Files, words.Plain, words.Call, words.Decision.Approval.Patterns = nil, true, []string{"rm", "-r", "z"}, true
	granted, err := o.Answer(t.Context(), o.ask(t, asking("s3", "rm x", "rm")), bailiff.Approver{Person: "ana"},
		bailiff.Verdict{Approve: true, Scope: "session"})
	if err != nil {
		t.Fatal(err)
	}
	return []exchange{
		{"GET", "/v1/status", ""}, {"GET", "/v1/policies", ""}, {"GET", "/v1/sandboxes", ""},
		{"GET", "/v1/session-histories?limit=10", ""}, {"GET", "/v1/session-histories/s1", ""},
		{"GET", "/v1/policies/history", ""}, {"GET", "/v1/policies/history/r0", ""},
		{"POST", "/v1/policies/rollback", `{"revision": "r0", "reason": "It was right."}`}, {"DELETE", "/v1/policies/rollback", ""},
		{"DELETE", "/v1/sandboxes/sb1", ""}, {"POST", "/v1/sandboxes/reap", ""},
		{"GET", "/v1/approvals?state=pending&limit=10", ""}, {"GET", "/v1/approvals/" + yes, ""},
		{"GET", "/v1/approvals/" + o.ask(t, words) + "/preview?match=rm+-r+*", ""},
		{"POST", "/v1/approvals/" + yes + "/approve", `{"scope": "once"}`}, {"POST", "/v1/approvals/" + no + "/deny", `{"reason": "no"}`},
		{"GET", "/v1/approvals", ""}, {"GET", "/v1/grants", ""}, {"DELETE", "/v1/grants/" + granted.GrantID, ""},
		{"POST", "/v1/freeze", `{"kind": "session", "id": "s9", "reason": "odd"}`}, {"GET", "/v1/freeze", ""},
		{"DELETE", "/v1/freeze", `{"kind": "session", "id": "s9"}`},
		{"POST", "/v1/project/adopt", `{"path": "/p/.envrc"}`},
		{"GET", "/v1/mcp", ""}, {"GET", "/v1/mcp/files", ""}, {"POST", "/v1/mcp/files/trust", `{"digest": "d1"}`},
		{"DELETE", "/v1/mcp/files", ""},
		{"GET", "/v1/changes", ""}, {"GET", "/v1/changes/c1?patch=true", ""}, {"POST", "/v1/changes/c1/undo", `{"paths": ["src"]}`},
		{"GET", "/v1/decisions?session=s1", ""}, {"GET", "/v1/report?days=30", ""}, {"GET", eventsPath, ""},
		{"POST", "/v1/console/links", ""},
		{"POST", "/v1/break-glass", `{"request": ` + telegramRequest + `, "reason": "The disk is full."}`},
		{"GET", "/healthz", ""}, {"GET", "/v1/openapi.yaml", ""},
	}
}

const eventsPath = "/v1/events"

// broken is a sidecar in which everything panics.
type broken struct{}

func (broken) Execute(context.Context, bailiff.Request, func(bailiff.Progress)) bailiff.Answer {
	panic("a bug")
}
func (broken) Decide(context.Context, bailiff.Request) bailiff.Decided        { panic("a bug") }
func (broken) Preview(context.Context, bailiff.Request) bailiff.Decided       { panic("a bug") }
func (broken) Refuse(context.Context, string, bailiff.Reason) bailiff.Decided { panic("a bug") }
func (broken) EndSession(context.Context, string, string) (bailiff.Ended, error) {
	return bailiff.Ended{}, errors.New("stuck")
}
func (broken) Status(context.Context) api.Status                       { panic("a bug") }
func (broken) List(context.Context) []api.Sandbox                      { panic("a bug") }
func (broken) Remove(context.Context, string) (bool, error)            { return false, errors.New("stuck") }
func (broken) RegisterTools(string, string, []string) error            { panic("a bug") }
func (broken) AnswerTool(string, string, string, bool) error           { panic("a bug") }
func (broken) Reap(context.Context) (int, error)                       { return 0, errors.New("stuck") }
func (broken) Read(context.Context, []byte, string) (any, bool, error) { panic("a bug") }
func (broken) Query(context.Context, bailiff.Request, bailiff.Circumstances, string) (any, bool, error) {
	panic("a bug")
}

// served is a handler and what it is asked.
type served struct {
	handler   http.Handler
	exchanges []exchange
	operator  bool
}

func TestTheListenersAreAsDescribed(t *testing.T) {
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/yaml", openapi3filter.FileBodyDecoder)
	d := newDescribed(t, callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{})))).do("GET", "/v1/openapi.yaml",
		"").body)

	asked := newOffice(t, 1)
	atOperators := operatorExchanges(t, asked)
	handlers := func(e Enforcer, b Toolbox, q Evaluator, of OperatorConfig) []served {
		c := dataAgent(nil, nil)
		c.Enforcer, c.Tools, c.Evaluator = e, b, q
		o, err := NewOperator(of)
		if err != nil {
			t.Fatal(err)
		}
		return []served{{agentHandler(t, c), agentExchanges, false}, {o, atOperators, true}}
	}
	whole := handlers(&enforcer{}, &toolbox{}, &evaluator{}, asked.config(&sidecar{}, "ana"))
	full := brokenConfig
	full.Approvals, full.Freezer = fullOffice{}, fullOffice{}
	stranger := []uint32{uint32(os.Geteuid()) + 1}

	for _, test := range []struct {
		name    string
		handler []served
		config  ListenerConfig
		busy    bool
	}{
		{"everything works", whole, ListenerConfig{}, false},
		{"the user is not listed", whole, ListenerConfig{UIDs: stranger}, false},
		{"the token is missing", whole, ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret("s3cret")}, false},
		{"everything is broken", handlers(broken{}, broken{}, broken{}, brokenConfig), ListenerConfig{}, false},
		{"the disk is full", handlers(&enforcer{}, &toolbox{}, &evaluator{}, full), ListenerConfig{}, false},
		{"the listener is full", whole, ListenerConfig{MaxRequests: 1}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, s := range test.handler {
				if s.operator && test.config.Network == "tcp" {
					continue // operators have a socket only
				}
				listener := open(t, test.config, s.handler)
				if test.busy {
					listener.slots.take("", nil)
				}
				c := callerOf(t, listener)
				for _, x := range s.exchanges {
					if x.path == eventsPath && test.name == "everything works" {
						continue // would not end, see below
					}
					d.check(t, x.method, x.path, x.body, c.do(x.method, x.path, x.body))
				}
			}
		})
	}

	t.Run("requests that are wrong", func(t *testing.T) {
		conflict := &enforcer{execute: func(context.Context, bailiff.Request, func(bailiff.Progress)) bailiff.Answer {
			return bailiff.Answer{Status: bailiff.Failed, Code: bailiff.CodeConflict, Message: "Another request."}
		}}
		agent := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, dataAgent(conflict, &evaluator{}))))
		operator := callerOf(t, open(t, ListenerConfig{}, whole[1].handler))
		try := func(c caller, method, path, body string) { d.check(t, method, path, body, c.do(method, path, body)) }
		try(agent, "POST", "/v1/execute", telegramRequest)
		try(callerOf(t, open(t, ListenerConfig{}, whole[0].handler)), "POST", "/v1/tool_calls/c2", `{"error": "no"}`)
		try(agent, "POST", "/v0/data/house/undefined", inputDocument)
		try(agent, "POST", "/v1/data/house/undefined", `{"input": `+inputDocument+`}`)
		for _, path := range []string{"/v1/sandboxes/other", "/v1/grants/g-none"} {
			try(operator, "DELETE", path, "")
		}
		for _, path := range []string{"/v1/approvals?state=open", "/v1/decisions?limit=0", "/v1/events?since=1", "/v1/approvals/a-none",
			"/v1/session-histories?limit=0", "/v1/session-histories/none",
			"/v1/report?days=0", "/v1/report?days=365", "/v1/report?days=366"} {
			try(operator, "GET", path, "")
		}
		try(operator, "DELETE", "/v1/freeze", `{"kind": "all"}`)
		try(operator, "GET", "/v1/mcp/none", "")
		try(operator, "POST", "/v1/mcp/none/trust", `{"digest": "d1"}`)
		try(operator, "POST", "/v1/mcp/files/trust", `{"digest": "d0"}`)
		for _, server := range []string{"none", "stuck"} {
			try(operator, "DELETE", "/v1/mcp/"+server, "")
		}
		try(operator, "GET", "/v1/changes/none", "")
		try(operator, "POST", "/v1/changes/none/undo", "{}")
		for _, path := range []string{"/p/none", "/p/changed", "relative"} {
			try(operator, "POST", "/v1/project/adopt", `{"path": "`+path+`"}`)
		}
		for _, revision := range []string{"gone", "unsound"} {
			try(operator, "GET", "/v1/policies/history/"+revision, "")
			try(operator, "POST", "/v1/policies/rollback", `{"revision": "`+revision+`"}`)
		}
		settled := asked.config(&sidecar{}, "ana")
		settled.History = atRest{}
		resting, err := NewOperator(settled)
		if err != nil {
			t.Fatal(err)
		}
		try(callerOf(t, open(t, ListenerConfig{}, resting)), "DELETE", "/v1/policies/rollback", "")
		try(operator, "POST", "/v1/approvals/a-none/deny", "")
		try(operator, "POST", "/v1/approvals/a-none/approve", "")
		id := asked.ask(t, asking("s4", "rm y", "rm"))
		for _, path := range []string{"a-none/preview?match=x", id + "/preview?match=x", id + "/preview?scope=once"} {
			try(operator, "GET", "/v1/approvals/"+path, "")
		}
		try(operator, "POST", "/v1/approvals/"+id+"/approve", `{"scope": "always"}`)
		try(operator, "POST", "/v1/approvals/"+id+"/deny", "")
		try(operator, "POST", "/v1/approvals/"+id+"/deny", "")
		try(operator, "POST", "/v1/approvals/"+id+"/approve", "")
		for _, s := range whole {
			c := callerOf(t, open(t, ListenerConfig{}, s.handler))
			for _, x := range s.exchanges {
				if x.body != "" {
					try(c, x.method, x.path, "{")
					try(c, x.method, x.path, x.body+strings.Repeat(" ", LargestRequest))
					d.slow(t, x, s.handler)
				}
			}
		}
	})
	t.Run("a stream", func(t *testing.T) {
		c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
		d.check(t, "POST", "/v1/execute", telegramRequest, c.post("/v1/execute", telegramRequest, "Accept", "text/event-stream"))
		listener := open(t, ListenerConfig{}, whole[1].handler)
		l := listenTo(t, listener)
		l.close(t, listener)
		d.check(t, "GET", eventsPath, "", answerBytes{http.StatusOK, l.header, l.rest(t)})
	})
	for _, x := range d.all() {
		if !d.seen[x] && !strings.HasPrefix(x, "POST /v1/mcp ") { // which gateway/mcp/proxy serves and tests
			t.Errorf("%s is described and never happened", x)
		}
	}
}

// slow sends half a body.
func (d *described) slow(t *testing.T, x exchange, handler http.Handler) {
	listener := open(t, ListenerConfig{BodyTimeout: blink}, handler)
	c := callerOf(t, listener)
	half, hold := io.Pipe()
	defer hold.Close()
	r, err := http.NewRequest(x.method, "http://bailiff"+x.path, io.MultiReader(strings.NewReader(x.body[:5]), half))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	d.check(t, x.method, x.path, x.body, answerBytes{resp.StatusCode, resp.Header, body})
}
