package ocsf_test

import (
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/bailiff-dev/bailiff/internal/record/ocsf"
)

//go:embed testdata/schema.json
var described string

// told is what a line becomes, which fits the schema.
func told(t *testing.T, line string) map[string]any {
	t.Helper()
	text, err := ocsf.Of([]byte(line), "1.2.3")
	if err != nil {
		t.Fatalf("of %s: %v", line, err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(described))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("ocsf.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("ocsf.json")
	if err != nil {
		t.Fatal(err)
	}
	event, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(event); err != nil {
		t.Errorf("%s\nbecomes %s\n%v", line, text, err)
	}
	return event.(map[string]any)
}

const head = `"decision_id":"d-1","timestamp":"2026-11-27T14:50:44.300125737Z","requested_by":"agents"`

var lines = map[string]string{
	"an allowed command": `{` + head + `,"path":"bailiff/decision","input":{"tool":"terminal","args":{"command":"ls -la"},"session":{` +
		`"platform":"telegram","user_id":"7","user_name":"ana","chat_id":"42","chat_type":"group"}},"result":{"outcome":"allow"},` +
		`"bundles":{"policies":{"revision":"r1"}},"custom":{"event":"decision","session":"telegram:7","request_id":"q1","hash":"h1"}}`,
	"a question": `{` + head + `,"input":{"tool":"execute_code","args":{"code":"x"}},"result":{"outcome":"ask","approval":{"reasons":[` +
		`{"rule":"code.a","message":"It does a.","severity":"medium","attack":["T1059.006"]},` +
		`{"rule":"code.b","message":"It does b.","severity":"critical","attack":["T1059.006","T1485"]}]}},"custom":{"event":"decision"}}`,
	"a denial": `{` + head + `,"input":{"tool":"terminal"},"result":{"outcome":"deny","denials":[{"rule":"command.x","message":"No."}]},` +
		`"custom":{"event":"decision"}}`,
	"a fault": `{` + head + `,"error":{"message":"it is broken"},"custom":{"event":"decision"}}`,
	"what a mask left": `{"decision_id":"d-2","timestamp":"2026-11-27T14:50:44Z","input":{"tool":7,"args":"x","session":[]},"result":"y",` +
		`"erased":["/input/session"],"custom":{"event":"decision"}}`,
	"a question to people": `{` + head + `,"custom":{"event":"approval","session":"s","approval":{"id":"a-1","state":"pending"}}}`,
	"an answer": `{` + head + `,"custom":{"event":"approval","session":"s","approval":{"id":"a-1","state":"approved","by":"ana","via":` +
		`"console","scope":"once"}}}`,
	"a no":      `{` + head + `,"custom":{"event":"approval","approval":{"id":"a-1","state":"denied","by":"ana"}}}`,
	"an expiry": `{` + head + `,"custom":{"event":"approval","approval":{"id":"a-1","state":"expired"}}}`,
	"a run": `{` + head + `,` +
		`"custom":{"event":"execution","status":"completed","exit_code":6,"backend":"docker","sandbox_id":"x-1","duration_ns":58473024}}`,
	"a timeout": `{` + head + `,"custom":{"event":"execution","status":"timeout","backend":"docker","sandbox_id":"x-1"}}`,
	"an opening": `{` + head + `,` +
		`"custom":{"event":"connection","sandbox_id":"x-1",` +
		`"connection":{"what":"opened","protocol":"https","host":"a.example","port":443}}}`,
	"an end": `{` + head + `,` +
		`"custom":{"event":"connection","connection":{"what":"closed","host":"a.example","port":443,"sent":5,"received":9}}}`,
	"a refusal": `{` + head + `,` +
		`"custom":{"event":"connection","connection":{"what":"refused","host":"b.example","port":80,"rule":"connection.unknown"}}}`,
	"a reload":              `{` + head + `,"custom":{"event":"reload","message":"policies are in force"}}`,
	"a sandbox":             `{` + head + `,"custom":{"event":"sandbox","backend":"docker","sandbox_id":"x-1"}}`,
	"a removal":             `{` + head + `,"custom":{"event":"retention"}}`,
	"a trial":               `{` + head + `,"custom":{"event":"shadow","shadow":{}}}`,
	"a later kind of event": `{` + head + `,"custom":{"event":"login"}}`,
	"half a line":           `{"decision_id":`,
	"nothing that is known": `{"timestamp":"2026-11-27T14:50:44Z"}`,
}

func TestEveryKindOfEventFitsTheSchema(t *testing.T) {
	t.Parallel()
	for name, line := range lines {
		t.Run(name, func(t *testing.T) { told(t, line) })
	}
}

func TestWhatALineSaysStandsWhereOthersLookForIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, path, want string }{
		{"an allowed command", "/type_uid", `600399`},
		{"an allowed command", "/time", `1795791044300`},
		{"an allowed command", "/metadata/uid", `"h1"`},
		{"an allowed command", "/metadata/correlation_uid", `"d-1"`},
		{"an allowed command", "/metadata/product/version", `"1.2.3"`},
		{"an allowed command", "/api", `{"operation":"terminal","request":{"data":{"text":"ls -la"},"uid":"q1"},` +
			`"service":{"name":"bailiff"}}`},
		{"an allowed command", "/actor", `{"app_name":"telegram","session":{"uid":"telegram:7"},"user":{"name":"ana","uid":"7"}}`},
		{"an allowed command", "/action", `"Allowed"`},
		{"an allowed command", "/policy/uid", `"r1"`},
		{"an allowed command", "/severity", `"Informational"`},
		{"an allowed command", "/unmapped/chat/id", `"42"`},
		{"a question", "/severity_id", `5`},
		{"a question", "/attacks", `[{"technique":{"uid":"T1059.006"}},{"technique":{"uid":"T1485"}}]`},
		{"a question", "/firewall_rule/uid", `"code.a"`},
		{"a question", "/unmapped/reasons/1/rule", `"code.b"`},
		{"a question", "/disposition", `"Approval required"`},
		{"a denial", "/disposition_id", `2`},
		{"a denial", "/message", `"No."`},
		{"a fault", "/status_id", `2`},
		{"a fault", "/status_detail", `"it is broken"`},
		{"what a mask left", "/unmapped/erased", `["/input/session"]`},
		{"a question to people", "/type_uid", `600301`},
		{"an answer", "/actor", `{"app_name":"console","user":{"name":"ana"}}`},
		{"an answer", "/api/operation", `"approval.approved"`},
		{"an answer", "/unmapped/requested_for/session/uid", `"s"`},
		{"an answer", "/action_id", `1`},
		{"a no", "/action_id", `2`},
		{"a run", "/exit_code", `6`},
		{"a run", "/duration", `58`},
		{"a run", "/device/uid", `"x-1"`},
		{"a timeout", "/status_detail", `"timeout"`},
		{"an opening", "/dst_endpoint", `{"hostname":"a.example","port":443}`},
		{"an end", "/traffic", `{"bytes_in":9,"bytes_out":5}`},
		{"a refusal", "/type_uid", `400105`},
		{"a refusal", "/firewall_rule/uid", `"connection.unknown"`},
		{"a later kind of event", "/api/operation", `"login"`},
		{"half a line", "/raw_data", `"{\"decision_id\":"`},
		{"half a line", "/severity", `"High"`},
	} {
		var at any = told(t, lines[c.line])
		for name := range strings.SplitSeq(c.path[1:], "/") {
			switch in := at.(type) {
			case map[string]any:
				at = in[name]
			case []any:
				at = in[len(in)-1]
			}
		}
		if got, err := json.Marshal(at); err != nil || string(got) != c.want {
			t.Errorf("%s: %s is %s, %v, want %s", c.line, c.path, got, err, c.want)
		}
	}
}
