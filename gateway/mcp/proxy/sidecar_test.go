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
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
)

// sidecar stands for one: it starts a server that the test plays, judges by a table, and
// remembers what it judged.
type sidecar struct {
	table  map[string]string // name → allow, or why not
	limit  int
	server func(s *serverEnd, m map[string]any)
	// asks happens between the judgement of a call and the call, as an approval would.
	asks func()
	// deaf has the server read nothing any more after it closes.
	deaf chan struct{}

	mu      sync.Mutex
	judged  []string
	answers map[string]chan string
	ended   int
}

// serverEnd is the server's end of a connection.
type serverEnd struct {
	line func(string)
	// long says a line of which the middle is left out.
	long func(head, tail string)
}

func (p *serverEnd) result(id any, result string) {
	p.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, jsonOf(id), result))
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
	if f.asks != nil {
		f.asks()
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
	long := make(chan bailiff.LongLine, 1)
	p := &serverEnd{func(text string) { lines <- text },
		func(head, tail string) { long <- bailiff.LongLine{Head: []byte(head), Tail: []byte(tail)} }}
	news(bailiff.Progress{Files: []bailiff.File{{Path: "s.js", SHA256: "ab"}}, Say: func(line []byte) error {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			panic(err)
		}
		if strings.Contains(string(line), `"stop reading"`) {
			close(f.deaf)
			<-ctx.Done()
			return ctx.Err()
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
		case line := <-long:
			news(bailiff.Progress{LongLine: &line})
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

// echoServer is a server with a tool that says what it is told, and some that no client is offered.
func echoServer(tools ...string) func(*serverEnd, map[string]any) {
	return func(p *serverEnd, m map[string]any) {
		switch m["method"] {
		case "initialize":
			p.result(m["id"], `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"logging":{},"odd":{}},`+
				`"serverInfo":{"name":"echo","version":"1"},"instructions":"Use echo."}`)
		case "tools/list":
			p.result(m["id"], `{"tools":[`+strings.Join(append([]string{echoTool}, tools...), ",")+`]}`)
		case "tools/call":
			text := m["params"].(map[string]any)["arguments"].(map[string]any)["text"]
			p.result(m["id"], `{"content":[{"type":"text","text":`+string(jsonOf(text))+`}]}`)
		}
	}
}

const echoTool = `{"name":"echo","description":"Says it.","inputSchema":{"type":"object","required":["text"],` +
	`"properties":{"text":{"type":"string"}},"additionalProperties":false}}`

// connection is a client's connection, with what is behind it.
type connection struct {
	net.Conn
	t     *testing.T
	from  *bufio.Reader
	trust *trust.Store
	proxy *Proxy
}

// connect opens a connection to the server of a sidecar.
func connect(t *testing.T, f *sidecar, trusted bool) *connection {
	t.Helper()
	return connectBy(t, f, f, `"command":["node","s.js"]`, trusted)
}

// connectBy opens a connection as a sidecar is asked for it, which is f in all that is not said otherwise.
func connectBy(t *testing.T, f *sidecar, by Sidecar, asked string, trusted bool) *connection {
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
	web := httptest.NewServer(p.Handler("test", by))
	t.Cleanup(func() { p.Close(); web.Close() })
	conn, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	o := &connection{conn, t, bufio.NewReader(conn), store, p}
	body := `{"server":"echo",` + asked + `,"session":{"platform":"cli"}}`
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

func (o *connection) send(line string) {
	o.t.Helper()
	if _, err := io.WriteString(o, line+"\n"); err != nil {
		o.t.Fatal(err)
	}
}

func (o *connection) next() (m map[string]any) {
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

func (o *connection) ask(id int, method, params string) map[string]any {
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
