package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
)

// sidecar stands for one: it starts a server that the test plays, judges by a table, and
// remembers what it judged.
type sidecar struct {
	table  map[string]string // name → allow, or why not
	limit  int
	server func(s *played, m map[string]any)

	mu      sync.Mutex
	judged  []string
	answers map[string]chan string
	ended   int
}

// played is the server's end of a connection.
type played struct{ line func(string) }

func (p *played) result(id any, result string) {
	p.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, written(id), result))
}

func (f *sidecar) ServeMCP(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) (bailiff.Answer, error) {
	if req.Tool == bailiff.Terminal {
		return f.serve(ctx, req, news)
	}
	f.mu.Lock()
	arguments := strings.Join(strings.Fields(req.Args.Arguments), "")
	f.judged = append(f.judged, fmt.Sprintf("%s %s %v", req.Args.Name, arguments, req.Args.Trusted))
	f.mu.Unlock()
	if word := f.table[req.Args.Name]; word != "allow" || !req.Args.Trusted {
		return bailiff.Answer{Status: bailiff.Refused, Message: "Denied: " + word}, nil
	}
	answer := make(chan string, 1)
	f.mu.Lock()
	id := fmt.Sprint("c", len(f.answers))
	f.answers[id] = answer
	f.mu.Unlock()
	news(bailiff.Progress{ToolCall: &bailiff.ToolCall{ID: id, Name: req.Args.Name}})
	select {
	case output := <-answer:
		return bailiff.Answer{Status: bailiff.Completed, Output: []byte(output),
			Decision: ofLimit(f.limit)}, nil
	case <-ctx.Done():
		return bailiff.Answer{Status: bailiff.Interrupted, Message: "The caller went away."}, nil
	}
}

func (f *sidecar) serve(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) (bailiff.Answer, error) {
	if f.server == nil {
		return bailiff.Answer{Status: bailiff.Refused, Message: "Denied: no " + req.Args.Command}, nil
	}
	lines, over := make(chan string, 64), make(chan string, 1)
	p := &played{line: func(text string) { lines <- text }}
	news(bailiff.Progress{Files: []bailiff.File{{Path: "s.js", SHA256: "ab"}}, Say: func(line []byte) error {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		if m["method"] == "tools/call" && strings.Contains(string(line), `"die"`) {
			over <- "boom"
			return nil
		}
		go f.server(p, m)
		return nil
	}})
	for {
		select {
		case line := <-lines:
			news(bailiff.Progress{Line: []byte(line)})
		case words := <-over:
			return bailiff.Answer{Status: bailiff.Completed, ExitCode: 7, Output: []byte(words)}, nil
		case <-ctx.Done():
			return bailiff.Answer{Status: bailiff.Interrupted}, nil
		}
	}
}

func (f *sidecar) AnswerMCP(id, result string, _ bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[id] <- result
	return nil
}

func (f *sidecar) OfferedByMCP(context.Context, bailiff.Request) (names []string, err error) {
	for name, word := range f.table {
		if word == "allow" {
			names = append(names, name)
		}
	}
	return names, nil
}

func (f *sidecar) EndSession(context.Context, string) (bailiff.Ended, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended++
	return bailiff.Ended{}, nil
}

// echoing is a server with a tool that says what it is told, and some that no client is offered.
func echoing(tools ...string) func(*played, map[string]any) {
	return func(p *played, m map[string]any) {
		switch m["method"] {
		case "initialize":
			p.result(m["id"], `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"logging":{},"odd":{}},`+
				`"serverInfo":{"name":"echo","version":"1"},"instructions":"Use echo."}`)
		case "tools/list":
			p.result(m["id"], `{"tools":[`+strings.Join(append([]string{echoTool}, tools...), ",")+`]}`)
		case "tools/call":
			text := m["params"].(map[string]any)["arguments"].(map[string]any)["text"]
			p.result(m["id"], `{"content":[{"type":"text","text":`+string(written(text))+`}]}`)
		}
	}
}

const echoTool = `{"name":"echo","description":"Says it.","inputSchema":{"type":"object","required":["text"],` +
	`"properties":{"text":{"type":"string"}},"additionalProperties":false}}`

// opened is a client's connection, with what is behind it.
type opened struct {
	net.Conn
	t     *testing.T
	from  *bufio.Reader
	trust *trust.Store
	proxy *Proxy
}

// connect opens a connection to the server of a sidecar.
func connect(t *testing.T, f *sidecar, trusted bool) *opened {
	t.Helper()
	f.answers = map[string]chan string{}
	if f.limit == 0 {
		f.limit = 1 << 16
	}
	var p *Proxy
	store, err := trust.Open(t.TempDir(), slog.New(slog.DiscardHandler), func(server string) { p.Recheck(server) })
	if err != nil {
		t.Fatal(err)
	}
	if p, err = New(Config{Trust: store, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(p.Handler("test", f))
	t.Cleanup(func() { p.Close(); web.Close() })
	conn, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	o := &opened{conn, t, bufio.NewReader(conn), store, p}
	body := `{"server":"echo","command":["node","s.js"],"session":{"platform":"cli"}}`
	fmt.Fprintf(conn, "POST /v1/mcp HTTP/1.1\r\nHost: x\r\nUpgrade: bailiff-mcp\r\nConnection: Upgrade\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(body), body)
	answer, err := http.ReadResponse(o.from, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("opening: %+v, %v", answer, err)
	}
	if trusted {
		o.ask(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}`)
		shown, err := store.Show("echo")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Trust("echo", shown.Digest, "ana"); err != nil {
			t.Fatal(err)
		}
		if m := o.next(); m["method"] != "notifications/tools/list_changed" {
			t.Fatalf("after a yes the client is told %v", m)
		}
	}
	return o
}

func (o *opened) send(line string) {
	o.t.Helper()
	if _, err := io.WriteString(o, line+"\n"); err != nil {
		o.t.Fatal(err)
	}
}

func (o *opened) next() (m map[string]any) {
	o.t.Helper()
	line, err := o.from.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil {
		o.t.Fatalf("reading a message: %q, %v", line, err)
	}
	return m
}

func (o *opened) ask(id int, method, params string) map[string]any {
	o.t.Helper()
	o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params))
	return o.next()
}

// text is what a result of a tool says, or a fault.
func text(m map[string]any) string {
	if f, is := m["error"].(map[string]any); is {
		return fmt.Sprintf("%v %v", f["code"], f["message"])
	}
	said := ""
	for _, part := range m["result"].(map[string]any)["content"].([]any) {
		said += fmt.Sprint(part.(map[string]any)["text"])
	}
	return said
}

func names(m map[string]any) (all []string) {
	for _, tool := range m["result"].(map[string]any)["tools"].([]any) {
		all = append(all, tool.(map[string]any)["name"].(string))
	}
	return all
}

func TestNothingOfAServerIsOfferedOrCalledBeforeAPersonSaidYes(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoing()}
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
	more, ends := make(chan string, 1), make(chan *played, 64)
	f := &sidecar{table: map[string]string{"echo": "allow", "late": "allow"}, server: func(s *played, m map[string]any) {
		ends <- s
		var tools []string
		select {
		case tool := <-more:
			tools = append(tools, tool)
			more <- tool
		default:
		}
		echoing(tools...)(s, m)
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
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoing()}
	o := connect(t, f, true)
	for _, c := range []struct{ params, want string }{
		{`{"name":"echo","arguments":{"text":"hello"}}`, "hello"},
		{`{"name":"echo","arguments":{"txt":"hello"}}`, "do not fit the schema"},
		{`{"name":"echo"}`, "do not fit the schema"},
		{`{"name":"echo","arguments":[]}`, "-32602 Want an object"},
		{`{"name":"echo","arguments":{"text":"a","text":"b"}}`, "-32700"},
		{`{"name":"ｅcho","arguments":{}}`, "Denied"},
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
	o := connect(t, &sidecar{table: table, server: echoing(odd...)}, true)
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
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoing()}
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
		f.server = func(p *played, m map[string]any) {
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
				p.result(called, `{"content":[{"type":"text","text":`+string(written(said))+`}]}`)
			default:
				echoing()(p, m)
			}
		}
		o := connect(t, f, true)
		answer := o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"x"}}`)
		if answer["method"] == "sampling/createMessage" {
			if params := string(written(answer["params"])); params != `{"n":1}` {
				t.Errorf("the client is asked with %s", params)
			}
			o.send(`{"jsonrpc":"2.0","id":` + string(written(answer["id"])) + `,"result":{}}`)
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
	f.server = func(p *played, m map[string]any) {
		switch m["method"] {
		case "tools/call":
			token := m["params"].(map[string]any)["_meta"].(map[string]any)["progressToken"]
			p.line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":99,"progress":1}}`)
			p.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress",`+
				`"params":{"progressToken":%v,"progress":1,"message":"half"}}`, token))
		case "notifications/cancelled":
			cancelled <- m["params"].(map[string]any)["requestId"]
		default:
			echoing()(p, m)
		}
	}
	o := connect(t, f, true)
	told := o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"x"},"_meta":{"progressToken":"mine"}}`)
	if params := string(written(told["params"])); params != `{"message":"half","progress":1,"progressToken":"mine"}` {
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

func TestResultsAreBounded(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoing(), limit: 1000}
	o := connect(t, f, true)
	said := text(o.ask(5, "tools/call", `{"name":"echo","arguments":{"text":"a`+strings.Repeat("x", 100_000)+`z"}}`))
	if len(said) > 1100 || !strings.HasPrefix(said, "ax") || !strings.HasSuffix(said, "xz") || !strings.Contains(said, "bytes left out") {
		t.Errorf("a long result has %d bytes: %.80s", len(said), said)
	}
}

func TestAServerThatDiesTakesItsConnectionWithIt(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}, server: echoing()}
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
		`{"server":"a","command":["https://x.test/"],"session":{}}`:  "no MCP servers by URL",
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

func ofLimit(bytes int) (d bailiff.Decision) {
	d.Limits.OutputBytes = bytes
	return d
}
