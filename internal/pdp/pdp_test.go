package pdp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/document"
	"github.com/bailiff-dev/bailiff/metrics"
	"github.com/bailiff-dev/bailiff/policies"
)

func inputOf(req bailiff.Request, at bailiff.Circumstances, home string) ast.Object {
	return document.Read(req, at, home).Document(req, at)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

func TestTheShippedPoliciesDecide(t *testing.T) {
	p, err := Open(context.Background(), Config{EvalTimeout: time.Minute})
	must(t, err)
	j := judged(p)
	if j.Fault != nil || j.Decision.Outcome != bailiff.Allow || j.Decision.Backend.Name != "docker" {
		t.Errorf("got %+v, want it allowed in docker", j)
	}
	if j.Decision.Revision != p.Revision() || len(p.Revision()) != 64 {
		t.Errorf("the revision is %q, want that of the policies", j.Decision.Revision)
	}
}

func TestAnEvaluationWithoutAnAnswerDenies(t *testing.T) {
	const late = "within" // its limit, or ten times that on a machine too busy to give it so much of a processor
	const spin = `count([1 | some a in numbers.range(1, 5000); some b in numbers.range(1, 5000); a * b == -1]) == 0`
	for name, c := range map[string]struct{ policy, message string }{
		"undefined":         {`decision := {"outcome": "deny"} if input.tool == "call"`, "the decision is undefined"},
		"conflicting rules": {"decision := 1 if input.tool\n\ndecision := 2 if input.args", "eval_conflict_error"},
		"conflicting parts": {"decision := {\"outcome\": x}\n\nx := 1 if input.tool\n\nx := 2 if input.args", "p.rego:"},
		"endless loops":     {"decision := {\"outcome\": \"deny\"} if {\n\t" + spin + "\n}", late},
		"endless built-in":  {`decision := count(numbers.range(1, 1000000000))`, late},
		"endless walk": {"decision := count(all)\n\nall contains [a, b] if {\n\twalk(input, a)\n\twalk(input, b)\n\twalk(input, " +
			"_)\n\twalk(input, _)\n}", late},
		"undefined built-in": {`decision := to_number("x")`, "the decision is undefined"},
	} {
		t.Run(name, func(t *testing.T) {
			p := opened(t, map[string]string{"p.rego": "package bailiff\n\n" + c.policy + "\n"})
			p.config.EvalTimeout = 20 * time.Millisecond
			if c.message != late {
				p.config.EvalTimeout = time.Minute
			}
			j := judged(p)
			wantDenial(t, j, "policy.error", c.message)
			if j.Decision.Revision != p.Revision() || j.Input == nil {
				t.Errorf("got %+v, want the revision and the input told", j)
			}
		})
	}
}

func TestARequestThatWasGivenUpIsDenied(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": "package bailiff\n\ndecision := count(numbers.range(1, 1000000000))\n"})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	wantDenial(t, p.Decide(ctx, listing, ready), "policy.error", "the request was given up")
}

func TestAPanicDenies(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": allowing})
	p.inForce.Store(&snapshot{revision: "broken"})
	j := judged(p)
	wantDenial(t, j, "policy.error", "panic")
	if j.Decision.Revision != "broken" {
		t.Errorf("the revision is %q", j.Decision.Revision)
	}
	p.inForce.Store(nil)
	if _, _, err := p.Query(context.Background(), listing, ready, "a"); err == nil {
		t.Error("a query that panics has no error")
	}
}

func TestAPanicWhileReadingATextDeniesAndIsLogged(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": allowing})
	var log bytes.Buffer
	p.config.Log = slog.New(slog.NewTextHandler(&log, nil))
	p.facts = func(bailiff.Request, bailiff.Circumstances, string) document.Reading { panic("a fault of the reader") }
	for _, tool := range []bailiff.Tool{bailiff.Terminal, bailiff.ExecuteCode, bailiff.Process, bailiff.Call} {
		req := listing
		req.Tool = tool
		wantDenial(t, p.Decide(t.Context(), req, ready), "policy.error", "a fault of the reader")
	}
	if _, _, err := p.Query(t.Context(), listing, ready, "bailiff/decision"); err == nil {
		t.Error("a query whose text cannot be read has no error")
	}
	if x := p.Explain(t.Context(), listing, ready, bailiff.Decision{}, bytes.Clone); !strings.Contains(x.Fault, "a fault of the reader") {
		t.Errorf("the fault of the explanation is %q", x.Fault)
	}
	if got := strings.Count(log.String(), "stack="); got != 6 {
		t.Errorf("%d stacks are logged, want one for each of 6 panics:\n%s", got, log.String())
	}
}

// The enforcer tells the metrics each decision as the judge made it.
func TestAFaultOfTheReaderIsCountedUnderItsRule(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": allowing})
	p.facts = func(bailiff.Request, bailiff.Circumstances, string) document.Reading { panic("a fault of the reader") }
	registry := prometheus.NewRegistry()
	m := metrics.New(registry, metrics.Config{})
	m.Decided(t.Context(), listing, judged(p).Decision, time.Millisecond)
	const want = `
# HELP bailiff_denials_total Rules that denied a request.
# TYPE bailiff_denials_total counter
bailiff_denials_total{platform="other",rule="policy.error",tool="terminal"} 1
`
	must(t, testutil.GatherAndCompare(registry, strings.NewReader(want), "bailiff_denials_total"))
}

func TestQueryAnswersWithOtherDocuments(t *testing.T) {
	p := opened(t, map[string]string{
		"p.rego": allowing,
		"call.rego": "package agent.call\n\ndecision := {\"platform\": input.session.platform, \"names\": {\"b\", \"a\"}}\n\nconflict := " +
			"1 if input.tool\n\nconflict := 2 if input.args\n",
	})
	for path, want := range map[string]string{
		"agent/call/decision":   `map[names:[a b] platform:telegram] true <nil>`,
		"/agent/call/decision/": `map[names:[a b] platform:telegram] true <nil>`,
		"agent/call/nothing":    `<nil> false <nil>`,
		"bailiff/limits":        `map[output_bytes:50000 timeout_seconds:180] true <nil>`,
		"agent/call/\"] with x": `<nil> false <nil>`,
	} {
		result, defined, err := p.Query(context.Background(), listing, ready, path)
		if got := fmt.Sprint(result, " ", defined, " ", err); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if _, _, err := p.Query(context.Background(), listing, ready, "agent/call/conflict"); err == nil {
		t.Error("a conflict is no error")
	}
}

func TestADocumentMayBeAboutAnyInput(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": allowing,
		"call.rego": "# METADATA\n# schemas:\n# - input: {}\npackage call\n\nname := input.tool.name\n"})
	for input, want := range map[string]string{
		`{"tool": {"name": "bash", "n": 12345678901234567890}}`: "bash true <nil>",
		`{"tool": "terminal"}`: "<nil> false <nil>",
		`[]`:                   "<nil> false <nil>",
	} {
		result, defined, err := p.Read(t.Context(), []byte(input), "call/name")
		if got := fmt.Sprint(result, " ", defined, " ", err); got != want {
			t.Errorf("%s: got %s, want %s", input, got, want)
		}
	}
	if _, defined, err := p.Read(t.Context(), []byte(`{`), "call/name"); defined || err == nil {
		t.Error("what is no JSON was read")
	}
}

func TestPoliciesTellTheTimeOfTheRequest(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": allowing,
		"t.rego": "package clock\n\nsame if time.parse_rfc3339_ns(input.time) == time.now_ns()\n"})
	if same, _, err := p.Query(context.Background(), listing, ready, "clock/same"); same != true || err != nil {
		t.Errorf("got %v %v, want now to be input.time", same, err)
	}
}

func TestTheInputDocumentHasTheShapeOfItsSchema(t *testing.T) {
	hostile := "\x00\xff\"\\\n\u2028<é"
	requests := map[string]bailiff.Request{
		"terminal": {Tool: bailiff.Terminal, Args: bailiff.Args{Command: "X=1 sudo sh ./x.sh | cat > /etc/passwd", Workdir: "/workspace",
			Timeout: 7, Background: true, Stdin: "in"},
			Env: []string{"A"}, Backend: "docker", Session: listing.Session},
		"execute_code": {Tool: bailiff.ExecuteCode, Args: bailiff.Args{Code: "import os\nos.system('ls')", Reset: true},
			Session: listing.Session},
		"process": {Tool: bailiff.Process, Args: bailiff.Args{Action: "write", ProcessID: "p", Data: "rm -rf x"},
			Session: listing.Session},
		"call": {Tool: bailiff.Call,
			Args:    bailiff.Args{Name: "web_search", Arguments: `{"query": "x", "pages": [1, 2.5], "deep": {"a": null}}`},
			Session: listing.Session},
		"nothing": {Tool: bailiff.Terminal},
		"hostile bytes": {Tool: bailiff.Terminal, Args: bailiff.Args{Command: hostile, Workdir: hostile},
			Session: bailiff.Session{ID: hostile}, Env: []string{hostile}},
		"unheard-of tools": {Tool: "x"},
	}
	text, err := policies.FS.ReadFile("schema/input.json")
	must(t, err)
	var schema any
	must(t, json.Unmarshal(text, &schema))
	for name, req := range requests {
		t.Run(name, func(t *testing.T) {
			text, err := document.NewJSON(inputOf(req, ready, "/home/ana")).MarshalJSON()
			must(t, err)
			var read map[string]any
			must(t, json.Unmarshal(text, &read))
			plain, err := ast.JSON(inputOf(req, ready, "/home/ana"))
			must(t, err)
			var same map[string]any
			must(t, json.Unmarshal([]byte(asJSON(t, plain)), &same))
			if !reflect.DeepEqual(read, same) {
				t.Errorf("written as %s\nbut it is %v", text, plain)
			}
			if name != "unheard-of tools" {
				wantMatch(t, schema, read)
			}
		})
	}
}

// wantMatch asks OPA whether a document is one that the schema describes.
func wantMatch(t *testing.T, schema, document any) {
	t.Helper()
	p := opened(t, map[string]string{"p.rego": allowing, "data.json": asJSON(t, map[string]any{"schema": schema, "document": document}),
		"m.rego": "package match\n\nresult := json.match_schema(data.document, data.schema)\n"})
	result, _, err := p.Query(context.Background(), listing, ready, "match/result")
	if fmt.Sprint(result) != "[true []]" || err != nil {
		t.Errorf("the schema does not describe %v: %v %v", document, result, err)
	}
}

func TestTheInputDocumentTellsEverything(t *testing.T) {
	req := listing
	req.Env, req.Backend = []string{"A", "B"}, "docker"
	at := ready
	at.EnvAvailable = []string{"A"}
	text := asJSON(t, document.NewJSON(inputOf(req, at, "")))
	for _, part := range []string{
		`"tool":"terminal"`, `"args":{"background":false,"command":"ls -l","stdin":"","timeout":0,"workdir":""}`,
		`"caller":{"name":"hermes"}`, `"time":"2026-11-21T12:00:00Z"`, `"env":{"available":["A"],"requested":["A","B"]}`,
		`"backend":{"available":{"docker":{"isolated":true,"ready":true}},"requested":"docker"}`,
		`"session":{"chat_id":"42","chat_type":"dm","id":"s","platform":"telegram","profile":"","thread_id":"","unattended":false,` +
			`"user_id":"42","user_name":""}`,
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is missing in %s", part, text)
		}
	}
}

func TestFilesThatTheTextRunsAreNamedAndKnownByContentOnceRead(t *testing.T) {
	p := opened(t, deciding(`{"outcome": "deny"}`))
	req := listing
	req.Args.Command, req.Args.Workdir = "sh ./deploy.sh && . missing.sh", "/workspace"
	j := p.Decide(context.Background(), req, ready)
	if want := []string{"/workspace/deploy.sh", "/workspace/missing.sh"}; !slices.Equal(slices.Sorted(slices.Values(j.Files)), want) {
		t.Errorf("the files are %v, want %v", j.Files, want)
	}
	if text := asJSON(t, j.Input); strings.Contains(text, "sha256") {
		t.Errorf("a digest that nobody took stands in %s", text)
	}
	at := ready
	at.Files = []bailiff.File{{Path: "/workspace/missing.sh"}, {Path: "/workspace/deploy.sh", SHA256: "0123"}}
	text := asJSON(t, p.Decide(context.Background(), req, at).Input)
	if !strings.Contains(text, `{"path":"/workspace/deploy.sh","sha256":"0123"}`) ||
		!strings.Contains(text, `{"path":"/workspace/missing.sh"}`) {
		t.Errorf("the files of %s are not those that were found", text)
	}
}

func TestPoliciesSeeWhatAScriptCallsAToolWith(t *testing.T) {
	p := opened(t, deciding(`{"outcome": "deny", "denials": [{"rule": "r", "message": sprintf("%s %v %v", [input.tool, input.args, `+
		`object.keys(input)])}]}`))
	req := listing
	req.Tool, req.Args = bailiff.Call, bailiff.Args{Name: "web_search", Arguments: `{"query": "x", "most": 3}`}
	want := `call {"arguments": {"most": 3, "query": "x"}, "name": "web_search"} {"args", "backend", "caller", "date", "env", "files",` +
		` "session", "time", "tool"}`
	if j := p.Decide(context.Background(), req, ready); j.Fault != nil || j.Decision.Denials[0].Message != want {
		t.Errorf("the policies saw %+v, want %s", j.Decision, want)
	}
}

func TestACallWhoseArgumentsNobodyCanReadIsDenied(t *testing.T) {
	p := opened(t, map[string]string{"p.rego": allowing})
	for _, arguments := range []string{"", "null", "[1]", `"{}"`, `{"a": 1`, `{"a": 1} {"b": 2}`, "nonsense",
		`{"a": 1, "b": 2, "a": 3}`, `{"x": [{"a": 1, "\u0061": 2}]}`, `{"n": 1e999999}`, "{\"\xff\": 1, \"\xfe\": 2}"} {
		req := listing
		req.Tool, req.Args = bailiff.Call, bailiff.Args{Name: "web_search", Arguments: arguments}
		j := p.Decide(context.Background(), req, ready)
		wantDenial(t, j, "policy.error", "the arguments of the call")
		if text := asJSON(t, j.Input); !strings.Contains(text, `"args":{"arguments":{},"name":"web_search"}`) {
			t.Errorf("%q: the log would show %s", arguments, text)
		}
	}
}

func TestOnlyAShellTextWithNothingBesideItIsPlain(t *testing.T) {
	p := opened(t, deciding(`{"outcome": "deny"}`))
	for name, c := range map[string]struct {
		tool bailiff.Tool
		args bailiff.Args
		want bool
	}{
		"a command":             {bailiff.Terminal, bailiff.Args{Command: "rm -r build"}, true},
		"a command that is fed": {bailiff.Terminal, bailiff.Args{Command: "rm -r build", Stdin: "y"}, false},
		"a command in disguise": {bailiff.Terminal, bailiff.Args{Command: "cd ..; rm -r build"}, false},
		"a program":             {bailiff.ExecuteCode, bailiff.Args{Code: "import os\nos.system('rm -r build')"}, false},
		"a look, for a shell":   {bailiff.Process, bailiff.Args{Action: "write", ProcessID: "1", Data: "ls\n", Command: "sh"}, true},
		"the same, for a program": {bailiff.Process, bailiff.Args{Action: "write", ProcessID: "1", Data: "ls\n", Command: "python3"},
			false},
		"for an opaque shell": {bailiff.Process, bailiff.Args{Action: "write", ProcessID: "1", Data: "ls\n", Command: "sh",
			Typed: bailiff.Typed{Opaque: true}}, false},
		"an input to a process":   {bailiff.Process, bailiff.Args{Action: "write", ProcessID: "1", Data: "rm -r build"}, false},
		"a script's call":         {bailiff.Call, bailiff.Args{Name: "web_search", Arguments: `{"query": "rm -r build"}`}, false},
		"a process that is ended": {bailiff.Process, bailiff.Args{Action: "kill", ProcessID: "1"}, false},
	} {
		req := listing
		req.Tool, req.Args = c.tool, c.args
		if j := p.Decide(context.Background(), req, ready); j.Plain != c.want {
			t.Errorf("%s: plain is %v, want %v", name, j.Plain, c.want)
		}
	}
}

func TestTheStatusDoesNotWaitForAReload(t *testing.T) {
	p := opened(t, deciding(`{"outcome": "deny"}`))
	p.reloading.Lock()
	defer p.reloading.Unlock()
	if s := p.Status(); s.Revision != p.Revision() || !s.OK {
		t.Errorf("status is %+v", s)
	}
}

func TestInputForAProcessIsJudgedLikeACommandOfItsOwn(t *testing.T) {
	p, err := Open(context.Background(), Config{EvalTimeout: time.Minute})
	must(t, err)
	for name, c := range map[string]struct {
		reader, action, data string
		host, sandbox        bailiff.Outcome
		rule                 string
	}{
		"an ordinary command for a shell":       {"bash", "submit", "ls -l", bailiff.Allow, bailiff.Allow, ""},
		"one for a shell that repeats commands": {"bash -i", "submit", "ls -l", bailiff.Ask, bailiff.Allow, "command.hides_meaning"},
		"a command that deletes": {"bash", "submit", "rm -rf ./build", bailiff.Ask, bailiff.Allow,
			"command.deletes_recursively"},
		"one that destroys the system":  {"sh", "write", "rm -rf /\n", bailiff.Deny, bailiff.Deny, "command.destroys_system"},
		"a text that is not understood": {"bash", "submit", "x=$(", bailiff.Ask, bailiff.Allow, "command.hides_meaning"},
		"what another language would understand": {"irb", "submit", "FileUtils.rm_rf home", bailiff.Ask, bailiff.Allow,
			"command.hides_meaning"},
		"an answer to who knows what": {"apt-get upgrade", "submit", "y", bailiff.Ask, bailiff.Allow, "command.hides_meaning"},
		"a look at what it wrote":     {"irb", "poll", "", bailiff.Allow, bailiff.Allow, ""},
		"its end":                     {"irb", "kill", "", bailiff.Allow, bailiff.Allow, ""},
	} {
		for place, want := range map[string]bailiff.Outcome{"local": c.host, "docker": c.sandbox} {
			at := ready
			at.Backends = map[string]bailiff.BackendState{place: {Isolated: place == "docker", Ready: true}}
			req := bailiff.Request{Tool: bailiff.Process, Session: bailiff.Session{ID: "s", Platform: "cli"},
				Args: bailiff.Args{Action: c.action, ProcessID: "p1", Data: c.data, Command: c.reader}}
			d := p.Decide(context.Background(), req, at).Decision
			reasons := d.Denials
			if d.Approval != nil {
				reasons = d.Approval.Reasons
			}
			if d.Outcome != want || want != bailiff.Allow &&
				!slices.ContainsFunc(reasons, func(r bailiff.Reason) bool { return r.Rule == c.rule }) {
				t.Errorf("%s on %s: got %s by %v, want %s by %q", name, place, d.Outcome, reasons, want, c.rule)
			}
		}
	}
}
