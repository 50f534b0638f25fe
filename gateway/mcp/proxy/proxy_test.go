package proxy

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
)

func TestNothingOfAServerIsOfferedOrCalledBeforeAPersonSaidYes(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoServer()}
	o := connect(t, f, false)
	begun := o.ask(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	if said := begun["result"].(map[string]any)["instructions"].(string); !strings.Contains(said, "bailiff mcp trust echo") ||
		strings.Contains(said, "Use echo") {
		t.Errorf("the model is told %q", said)
	}
	if list := o.ask(2, "tools/list", `{}`); len(names(list)) > 0 {
		t.Errorf("offered are %v", list)
	}
	if said := text(o.ask(3, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`)); !strings.HasPrefix(said, "Denied") {
		t.Errorf("a call says %q", said)
	}
	if want := []string{`echo {"text":"x"} false`}; !slices.Equal(f.judged, want) {
		t.Errorf("judged were %q, want %q", f.judged, want)
	}
}

func TestAServerThatChangesIsTrustedNoMore(t *testing.T) {
	more, ends := make(chan string, 1), make(chan *serverEnd, 64)
	f := &sidecar{table: map[string]string{"echo": "allow", "late": "allow"}, server: func(s *serverEnd, m map[string]any) {
		ends <- s
		var tools []string
		select {
		case tool := <-more:
			tools = append(tools, tool)
			more <- tool
		default:
		}
		echoServer(tools...)(s, m)
	}}
	o := connect(t, f, true)
	if list := names(o.ask(2, "tools/list", `{}`)); !slices.Equal(list, []string{"echo"}) {
		t.Fatalf("offered are %v", list)
	}
	more <- `{"name":"late","inputSchema":{"type":"object"}}`
	(<-ends).line(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	if m := o.next(); m["method"] != "notifications/tools/list_changed" {
		t.Fatalf("the client is told %v", m)
	}
	for _, tool := range []string{"echo", "late"} {
		if said := text(o.ask(3, "tools/call", `{"name":"`+tool+`","arguments":{"text":"x"}}`)); !strings.HasPrefix(said, "Denied") {
			t.Errorf("%s says %q", tool, said)
		}
	}
	shown, err := o.trust.Show("echo")
	if err != nil || shown.Trusted || len(shown.Changes) != 1 || shown.Changes[0].What != "tool late" || shown.By != "ana" {
		t.Errorf("an operator is shown %+v, %v", shown, err)
	}
}

func TestACallFitsItsSchemaIsJudgedAndAnswered(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoServer()}
	o := connect(t, f, true)
	for _, c := range []struct{ params, want string }{
		{`{"name":"echo","arguments":{"text":"hello"}}`, "hello"},
		{`{"name":"echo","arguments":{"txt":"hello"}}`, "do not fit the schema"},
		{`{"name":"echo"}`, "do not fit the schema"},
		{`{"name":"echo","arguments":[]}`, "-32602 Want an object"},
		{`{"name":"echo","arguments":{"text":"a","text":"b"}}`, "-32700"},
		{`{"name":"ｅcho","arguments":{}}`, "Denied"},
		{`{"name":"resources/read","arguments":{"uri":"file:///etc/passwd"}}`, "-32602 No tool is called resources/read"},
	} {
		o.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":` + c.params + `}`)
		if said := text(o.next()); !strings.Contains(said, c.want) {
			t.Errorf("%s says %q, want %q", c.params, said, c.want)
		}
	}
	if want := []string{`echo {"text":"hello"} true`, `ｅcho {} false`}; !slices.Equal(f.judged, want) {
		t.Errorf("judged were %q, want %q", f.judged, want)
	}
}

func TestToolsWithNamesThatMisleadAreOfferedToNoClient(t *testing.T) {
	odd := []string{`{"name":"resources/read","inputSchema":{"type":"object"}}`, `{"name":"еcho","inputSchema":{"type":"object"}}`,
		`{"name":"twice","inputSchema":{"type":"object"}}`, `{"name":"twice","inputSchema":{"type":"object"}}`, `{"name":"bare"}`, `7`}
	table := map[string]string{"echo": "allow", "resources/read": "allow", "еcho": "allow", "twice": "allow", "bare": "allow", "": "allow"}
	o := connect(t, &sidecar{table: table, server: echoServer(odd...)}, true)
	if list := names(o.ask(2, "tools/list", `{}`)); !slices.Equal(list, []string{"echo"}) {
		t.Errorf("offered are %v", list)
	}
	shown, err := o.trust.Show("echo")
	refused := 0
	for _, tool := range shown.Listing.Tools {
		if tool.Refused != "" {
			refused++
		}
	}
	if err != nil || refused != len(odd) {
		t.Errorf("refused are %d of %d: %+v, %v", refused, len(odd), shown.Listing.Tools, err)
	}
}

func TestWhatIsNoMessageOrNotNamedGoesNoFurther(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoServer()}
	o := connect(t, f, true)
	for _, c := range []struct{ line, want string }{
		{`nonsense`, "-32700"},
		{`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`, "-32600 Batches"},
		{`{"jsonrpc":"1.0","id":3,"method":"ping"}`, "-32600"},
		{`{"jsonrpc":"2.0","id":null,"method":"tools/call"}`, "-32600"},
		{`{"jsonrpc":"2.0","id":1.5,"method":"tools/call"}`, "-32600"},
		{`{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}`, "-32600"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/destroy"}`, "-32601"},
		{`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, "-32601 The table mcp_tools"},
		{`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}`, "-32600 The connection is initialized already."},
	} {
		o.send(c.line)
		if said := text(o.next()); !strings.HasPrefix(said, c.want) {
			t.Errorf("%s says %q, want %q", c.line, said, c.want)
		}
	}
	o.send(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`)
	o.send(`{"jsonrpc":"2.0","id":77,"result":{}}`)
	o.ask(4, "ping", `{}`)
	if len(f.judged) > 0 {
		t.Errorf("judged was %q", f.judged)
	}
}

func TestRequestsOfTheServerReachTheClientOnlyAsTheTableSays(t *testing.T) {
	for method, table := range map[string]map[string]string{
		"-32601 The client does not take sampling/createMessage.": {"echo": "allow"},
		"sampled": {"echo": "allow", "sampling/createMessage": "allow"},
	} {
		var called any
		f := &sidecar{table: table}
		f.server = func(p *serverEnd, m map[string]any) {
			switch {
			case m["method"] == "tools/call":
				called = m["id"]
				p.line(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`) // of no request
				p.line(`{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"_meta":{"x":1},"n":1}}`)
			case m["id"] == "s":
				said := "sampled"
				if e, is := m["error"].(map[string]any); is {
					said = fmt.Sprintf("%v %v", e["code"], e["message"])
				}
				p.result(called, `{"content":[{"type":"text","text":`+string(jsonOf(said))+`}]}`)
			default:
				echoServer()(p, m)
			}
		}
		o := connect(t, f, true)
		answer := o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`)
		if answer["method"] == "sampling/createMessage" {
			if params := string(jsonOf(answer["params"])); params != `{"n":1}` {
				t.Errorf("the client is asked with %s", params)
			}
			o.send(`{"jsonrpc":"2.0","id":` + string(jsonOf(answer["id"])) + `,"result":{}}`)
			answer = o.next()
		}
		if said := text(answer); said != method {
			t.Errorf("the call says %q, want %q", said, method)
		}
	}
}

func TestProgressAndCancellationFindTheirCalls(t *testing.T) {
	cancelled := make(chan any, 1)
	f := &sidecar{table: map[string]string{"echo": "allow"}}
	f.server = func(p *serverEnd, m map[string]any) {
		switch m["method"] {
		case "tools/call":
			token := m["params"].(map[string]any)["_meta"].(map[string]any)["progressToken"]
			p.line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}`)
			p.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress",`+
				`"params":{"progressToken":%v,"progress":1,"message":"half"}}`, token))
		case "notifications/cancelled":
			cancelled <- m["params"].(map[string]any)["requestId"]
		default:
			echoServer()(p, m)
		}
	}
	o := connect(t, f, true)
	told := o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"x"},"_meta":{"progressToken":"mine"}}`)
	if params := string(jsonOf(told["params"])); params != `{"message":"half","progress":1,"progressToken":"mine"}` {
		t.Fatalf("the client is told %s", params)
	}
	o.send(`{"jsonrpc":"2.0","id":5,"method":"ping"}`) // under the id of the call
	if said := text(o.next()); !strings.HasPrefix(said, "-32600 The id 5") {
		t.Errorf("an id that is in use says %q", said)
	}
	o.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	<-cancelled
	if m := o.ask(6, "ping", `{}`); m["id"] != 6.0 {
		t.Errorf("a call that was cancelled is answered: %v", m)
	}
}

// asClient are the parameters of initialize.
func asClient(version string) string {
	return `{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`
}

func TestAVersionThatIsNotKnownIsAskedForAsTheNewest(t *testing.T) {
	versions := make(chan any, 1)
	f := &sidecar{server: func(p *serverEnd, m map[string]any) {
		if m["method"] == "initialize" {
			versions <- m["params"].(map[string]any)["protocolVersion"]
		}
		echoServer()(p, m)
	}}
	begun := connect(t, f, false).ask(1, "initialize", asClient("2026-07-28"))
	if version := <-versions; version != newest || begun["result"].(map[string]any)["protocolVersion"] != "2025-06-18" {
		t.Errorf("the server was asked for %v, the client is told %v", version, begun)
	}
}

func TestAYesThatIsTakenBackDuringAnApprovalCallsNothing(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoServer()}
	o := connect(t, f, true)
	f.asks = func() {
		if err := o.trust.Forget("echo"); err != nil {
			t.Error(err)
		}
	}
	o.send(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}`)
	m := o.next()
	for ; m["method"] != nil; m = o.next() { // it is told that the tools changed
	}
	if said := text(m); !strings.HasPrefix(said, "Nothing was called: what the server offers, or whether it is trusted, changed") {
		t.Errorf("the call says %q", said)
	}
}

func TestAServerThatStopsReadingHoldsNothingElseUp(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoServer(), deaf: make(chan struct{})}
	o := connect(t, f, true)
	call := `"method":"tools/call","params":{"name":"echo","arguments":{"text":"stop reading"}}}`
	o.send(`{"jsonrpc":"2.0","id":5,` + call)
	<-f.deaf
	o.send(`{"jsonrpc":"2.0","id":6,` + call)
	o.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	if m := o.ask(7, "ping", `{}`); m["id"] != 7.0 {
		t.Errorf("a ping is answered %v", m)
	}
	o.proxy.Close()
	if f.ended != 1 {
		t.Errorf("the session was ended %d times", f.ended)
	}
}

func TestWhatAServerIsStartedByIsPartOfTheYes(t *testing.T) {
	wait := 0
	s := &session{opening: api.MCPOpening{Command: []string{"node", "s.js"}, Workdir: "/srv", Env: []string{"B", "A", "B"},
		Backend: "docker", WaitSeconds: &wait}}
	st := &serverState{info: implementation{Name: "echo", Title: "Echo", Version: "1"}}
	l := st.read(nil)
	s.describeStart(&l, []bailiff.File{{Path: "s.js", SHA256: "ab"}})
	want := api.MCPListing{Command: []string{"node", "s.js"}, Files: []bailiff.File{{Path: "s.js", SHA256: "ab"}}, Workdir: "/srv",
		Env: []string{"A", "B"}, Backend: "docker", Name: "echo", Title: "Echo", Version: "1", Tools: []api.MCPTool{}}
	if trust.Digest(l) != trust.Digest(want) {
		t.Errorf("a person says yes to %+v", l)
	}
}

func TestAServerThatDiesTakesItsConnectionWithIt(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoServer()}
	o := connect(t, f, true)
	said := text(o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"die"}}`))
	if !strings.Contains(said, "ended with status 7. Boom.") {
		t.Errorf("the call says %q", said)
	}
	if _, err := o.from.ReadByte(); err == nil {
		t.Error("the connection stays")
	}
	o.proxy.Close()
	if f.ended != 1 {
		t.Errorf("the session was ended %d times", f.ended)
	}
}

func TestAServerThatMayNotStartSaysWhy(t *testing.T) {
	o := connect(t, &sidecar{}, false)
	said := text(o.ask(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`))
	if said != "-32000 Denied: no node s.js" {
		t.Errorf("it says %q", said)
	}
	if said := text(o.ask(2, "tools/list", `{}`)); !strings.Contains(said, "not initialized") {
		t.Errorf("a list says %q", said)
	}
}

func TestAConnectionIsOpenedByItsNameAndCommandAlone(t *testing.T) {
	p, err := New(Config{Trust: &trust.Store{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`{"server":"a b","command":["x"],"session":{}}`:              "letters, digits",
		`{"server":"a","command":[],"session":{}}`:                   "want the command",
		`{"server":"a","command":["x"],"session":{},"trusted":true}`: "trusted",
		`{"server":"a","command":["x\u0000"],"session":{}}`:          "NUL",
		`{"server":"a","command":["x"],"server":"b","session":{}}`:   "server",
	} {
		r := httptest.NewRequest("POST", Path, strings.NewReader(body))
		r.Header.Set("Upgrade", Protocol)
		w := httptest.NewRecorder()
		p.Handler("test", &sidecar{}).ServeHTTP(w, r)
		var problem api.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || w.Code != http.StatusBadRequest ||
			!strings.Contains(strings.ToLower(problem.Message), strings.ToLower(want)) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	p.Handler("test", &sidecar{}).ServeHTTP(w, httptest.NewRequest("GET", Path, nil))
	if w.Code != http.StatusUpgradeRequired {
		t.Errorf("without an upgrade: %d", w.Code)
	}
}
