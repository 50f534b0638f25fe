package streamable

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
)

// peer is a session with a server, and what it said.
type peer struct {
	*Server
	t    *testing.T
	said chan map[string]any
	gone chan string
	id   int
}

// reach opens a session with what serves. The way to it is that of a proxy, which takes the URL with its host.
func reach(t *testing.T, handler http.Handler) *peer {
	t.Helper()
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	return reachAt(t, web)
}

func reachAt(t *testing.T, web *httptest.Server) *peer {
	t.Helper()
	secure := httptest.NewTLSServer(nil)
	t.Cleanup(secure.Close)
	p := &peer{t: t, said: make(chan map[string]any, 64), gone: make(chan string, 1)}
	server, err := New(t.Context(), Config{
		URL: "http://localhost/mcp", Header: http.Header{"Authorization": {"Bearer x"}}, Log: slog.New(slog.DiscardHandler),
		Outlet: &bailiff.Outlet{Dial: func() (net.Conn, error) { return net.Dial("tcp", web.Listener.Addr().String()) },
			Authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})},
		Take: func(line []byte) {
			var m map[string]any
			if err := json.Unmarshal(line, &m); err != nil {
				t.Errorf("taken is %q", line)
			}
			p.said <- m
		},
		Gone: func(why string) { p.gone <- why },
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Server = server
	t.Cleanup(server.Close)
	return p
}

func (p *peer) say(format string, values ...any) {
	p.t.Helper()
	if err := p.Say(fmt.Appendf(nil, format, values...)); err != nil {
		p.t.Fatal(err)
	}
}

// ask sends a request, and returns its answer; what else is said before is left out.
func (p *peer) ask(method, params string) map[string]any {
	p.t.Helper()
	p.id++
	p.say(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.id, method, params)
	for {
		if m := <-p.said; m["id"] == float64(p.id) && m["method"] == nil {
			return m
		}
	}
}

const initialize = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`

// fault is the words of a fault; empty where the answer is a result.
func fault(m map[string]any) string {
	f, _ := m["error"].(map[string]any)
	words, _ := f["message"].(string)
	return words
}

// heads notes the heads of requests.
type heads struct {
	http.Handler
	mu  sync.Mutex
	all []string
}

func (h *heads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	named := "none"
	if r.Header.Get("Mcp-Session-Id") != "" {
		named = "named"
	}
	h.all = append(h.all, fmt.Sprintf("%s %s %s %s", r.Method, named, r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Authorization")))
	h.mu.Unlock()
	h.Handler.ServeHTTP(w, r)
}

func (h *heads) seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.all...)
}

// notes is a server of the official SDK with a tool that says what it is told.
func notes() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	type said struct {
		Text string `json:"text"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "echo"}, func(_ context.Context, _ *sdk.CallToolRequest, s said) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s.Text}}}, nil, nil
	})
	return server
}

func TestASessionWithAServerOfTheOfficialSDK(t *testing.T) {
	for _, isJSON := range []bool{false, true} {
		t.Run(fmt.Sprint("JSON ", isJSON), func(t *testing.T) {
			server := notes()
			h := &heads{Handler: sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
				&sdk.StreamableHTTPOptions{JSONResponse: isJSON})}
			p := reach(t, h)
			if m := p.ask("initialize", initialize); fault(m) != "" {
				t.Fatal(m)
			}
			p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			m := p.ask("tools/call", `{"name":"echo","arguments":{"text":"hello"}}`)
			if text, _ := json.Marshal(m["result"]); !strings.Contains(string(text), "hello") {
				t.Errorf("a call is answered %v", m)
			}
			sdk.AddTool(server, &sdk.Tool{Name: "more"}, func(context.Context, *sdk.CallToolRequest, any) (*sdk.CallToolResult, any,
				error) {
				return nil, nil, nil
			})
			for m := range p.said {
				if m["method"] == "notifications/tools/list_changed" {
					break
				}
			}
			p.Close()
			seen := h.seen()
			if seen[0] != "POST none  Bearer x" || seen[1] != "POST named 2025-06-18 Bearer x" ||
				seen[len(seen)-1] != "DELETE named 2025-06-18 Bearer x" {
				t.Errorf("it was sent %q", seen)
			}
		})
	}
}

// plays answers a request by its method, and has no stream of its own.
func plays(answers map[string]func(w http.ResponseWriter, id string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if answer := answers[m.Method]; answer != nil {
			answer(w, string(m.ID))
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
}

func answerOf(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":{}}` }

// says answers with a type and a body, in which %s is the id.
func says(kind, body string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, id string) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "%s", id))
	}
}

func TestAnAnswerThatIsNoneIsAFaultOfItsRequest(t *testing.T) {
	const stream = "text/event-stream"
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter, string)
		want   string
	}{
		"a plain one":      {says("application/json", answerOf("%s")), ""},
		"in several lines": {says(stream, ": hi\r\nid: 7\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":%s,\"result\":{}}\r\n\r\n"), ""},
		"behind other events": {says(stream, "event: ping\ndata: x\n\nid: 1\ndata:\n\ndata: "+answerOf("99")+"\n\ndata: "+
			answerOf("%s")+"\n\n"), ""},
		"another's":     {says("application/json", answerOf("99")), "answered something else"},
		"a batch":       {says("application/json", "["+answerOf("%s")+"]"), "answered something else"},
		"a name twice":  {says("application/json", `{"jsonrpc":"2.0","id":%s,"id":%s,"result":{}}`), "answered something else"},
		"no JSON":       {says("application/json", "<html>"), "answered something else"},
		"a page":        {says("text/html", "<html>"), `by 200 and "text/html", want application/json`},
		"nothing":       {func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusAccepted) }, "answers a request by 202"},
		"an early end":  {says(stream, "data: "+answerOf("99")+"\n\n"), "ended its stream without an answer"},
		"half an event": {says(stream, "data: "+answerOf("%s")), "ended its stream without an answer"},
		"too much": {says("application/json", `{"jsonrpc":"2.0","id":%s,"result":"`+strings.Repeat("x", longest)+`"}`),
			"more than 8 MiB"},
		"an event that is too much": {says(stream, "data: "+strings.Repeat("x", longest)+"\n\n"), "more than 8 MiB"},
		"events of one that are too much": {says(stream, strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 9)+"\n"),
			"more than 8 MiB"},
		"a redirect": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Location", "http://other.test/mcp")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "answers 307 Temporary Redirect, and no redirect is followed"},
		"a refusal": {func(w http.ResponseWriter, _ string) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":1,"message":"Bring a token."}}`)
		}, "answers 401 Unauthorized: Bring a token"},
		"a death": {func(w http.ResponseWriter, _ string) {
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
		}, "cannot be reached"},
		"a death in a stream": {func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", stream)
			_, _ = io.WriteString(w, "data: {")
			_ = http.NewResponseController(w).Flush()
			conn, _, _ := http.NewResponseController(w).Hijack()
			_ = conn.Close()
		}, "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			p := reach(t, plays(map[string]func(http.ResponseWriter, string){"ping": c.answer,
				"tools/list": says("application/json", answerOf("%s"))}))
			m := p.ask("ping", "{}")
			if words := fault(m); c.want == "" && words != "" || !strings.Contains(words, c.want) {
				t.Errorf("it is answered %.300v, want %q", m, c.want)
			}
			if m := p.ask("tools/list", "{}"); fault(m) != "" {
				t.Errorf("what comes next is answered %v", m)
			}
		})
	}
}

func TestASessionThatTheServerForgotIsOver(t *testing.T) {
	p := reach(t, plays(map[string]func(http.ResponseWriter, string){
		"initialize": func(w http.ResponseWriter, id string) {
			w.Header().Set("Mcp-Session-Id", "s1")
			says("application/json", answerOf(id))(w, id)
		},
		"ping": func(w http.ResponseWriter, _ string) { w.WriteHeader(http.StatusNotFound) },
	}))
	p.ask("initialize", initialize)
	if m := p.ask("ping", "{}"); !strings.Contains(fault(m), "answers 404 Not Found") {
		t.Errorf("it is answered %v", m)
	}
	if why := <-p.gone; why != "the server has forgotten the session" {
		t.Errorf("it is over since %q", why)
	}
}

func TestARequestThatIsCancelledIsGivenUp(t *testing.T) {
	hangs, given := make(chan bool, 1), make(chan bool)
	p := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text, _ := io.ReadAll(r.Body); strings.Contains(string(text), `"slow"`) {
			hangs <- true
			<-r.Context().Done()
			close(given)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	p.say(`{"jsonrpc":"2.0","id":1,"method":"slow"}`)
	<-hangs
	p.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-given
	p.Close()
	if len(p.said) > 0 {
		t.Errorf("it is answered %v", <-p.said)
	}
}

func TestAStreamThatBrokeOffIsHeardAgainAndTheToolsAreReadAnew(t *testing.T) {
	streams := make(chan string, 4)
	streams <- "retry: 1\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"
	streams <- "data: " + answerOf("1") + "\n\n"
	p := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		select {
		case said := <-streams:
			says("text/event-stream", said)(w, "")
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, want := range []string{"notifications/message", "notifications/tools/list_changed"} {
		if m := <-p.said; m["method"] != want {
			t.Errorf("taken is %v, want %s", m, want)
		}
	}
	p.Close()
	if len(p.said) > 0 {
		t.Errorf("a response that answers nothing is taken: %v", <-p.said)
	}
}

func TestASessionIsNamedByPlainText(t *testing.T) {
	for name, isOne := range map[string]bool{"a-1": true, "": true, strings.Repeat("x", longestID+1): false, "a b": false, "é": false} {
		p := reach(t, plays(map[string]func(http.ResponseWriter, string){"initialize": func(w http.ResponseWriter, id string) {
			w.Header().Set("Mcp-Session-Id", name)
			says("application/json", answerOf(id))(w, id)
		}}))
		if m := p.ask("initialize", initialize); (fault(m) == "") != isOne {
			t.Errorf("%.20q is answered %v", name, m)
		}
	}
}
