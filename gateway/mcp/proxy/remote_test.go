package proxy

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
)

func TestWhatOpensAConnectionToAURLIsReadStrictly(t *testing.T) {
	for body, want := range map[string]string{
		`"command":["https://notes.test/mcp"]`:                                                       "",
		`"command":["https://notes.test/mcp"],"headers":["Authorization: Bearer $TOKEN","x-key:$B"]`: "",
		`"command":["ftp://notes.test/mcp"]`:                                                         "Want the MCP server's URL",
		`"command":["https://ana:secret@notes.test/mcp"]`:                                            "Want the MCP server's URL",
		`"command":["https:///mcp"]`:                                                                 "Want the MCP server's URL",
		`"command":["https://notes.test/a b"]`:                                                       "Want the MCP server's URL",
		`"command":["https://nótes.test/"]`:                                                          "Want the MCP server's URL",
		`"command":["https://notes.test/mcp"],"workdir":"/x"`:                                        "has no working folder",
		`"command":["https://notes.test/mcp"],"env":["TOKEN"]`:                                       "gets variables by headers alone",
		`"command":["https://notes.test/mcp"],"headers":["Authorization: Bearer secret"]`:            "number 1 is another",
		`"command":["https://notes.test/mcp"],"headers":["X: $A","Mcp-Session-Id: $A"]`:              "number 2 is another",
		`"command":["https://notes.test/mcp"],"headers":["Host: $A"]`:                                "number 1 is another",
		`"command":["https://notes.test/mcp"],"headers":["X: $A\r\nY: 1"]`:                           "number 1 is another",
		`"command":["node","s.js"],"headers":["X: $A"]`:                                              "Headers are for MCP servers",
	} {
		p, err := New(Config{Trust: &trust.Store{}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(`{"server":"a",`+body+`,"session":{"platform":"cli"}}`))
		r.Header.Set("Upgrade", Protocol)
		w := httptest.NewRecorder()
		p.Handler("test", &sidecar{}).ServeHTTP(w, r)
		said := w.Body.String()
		if want == "" && w.Code != http.StatusServiceUnavailable || want != "" && w.Code != http.StatusBadRequest ||
			!strings.Contains(said, want) || strings.Contains(said, "secret") {
			t.Errorf("%s is answered %d %s", body, w.Code, said)
		}
	}
}

// distant is a sidecar whose server is at a URL.
type distant struct {
	*sidecar
	at       string // where it is served
	standIns map[string]bailiff.Secret
	ended    chan bool
}

func (d distant) ServeMCP(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) (bailiff.Answer, error) {
	if req.Tool != bailiff.Terminal {
		return d.sidecar.ServeMCP(ctx, req, news)
	}
	if req.Args.URL != "http://localhost/mcp" || req.Args.Command != "curl -- http://localhost/mcp" {
		return bailiff.Answer{}, errors.New("it is another")
	}
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	news(bailiff.Progress{Outlet: &bailiff.Outlet{Dial: func() (net.Conn, error) { return net.Dial("tcp", d.at) }, StandIns: d.standIns,
		Authority: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})}})
	<-ctx.Done()
	close(d.ended)
	return bailiff.Answer{Status: bailiff.Interrupted, Message: "Interrupted."}, nil
}

// playing serves what echoServer plays by HTTP. Each text that a tool is told may change what is answered.
func playing(t *testing.T, answer func(w http.ResponseWriter, text string) bool) (at string) {
	t.Helper()
	play := echoServer()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m map[string]any
		if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil || r.Header.Get("X-Key") != "stands-for-it" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Mcp-Session-Id", "one")
		if m["id"] == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if m["method"] == "tools/call" && answer(w, fmt.Sprint(m["params"].(map[string]any)["arguments"].(map[string]any)["text"])) {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		play(&serverEnd{line: func(text string) { _, _ = io.WriteString(w, text) }}, m)
	}))
	t.Cleanup(web.Close)
	return web.Listener.Addr().String()
}

const atURL = `"command":["http://localhost/mcp"],"headers":["X-Key: $KEY"]`

func TestAConnectionToAURLEndsWithTheSessionThatTheServerForgot(t *testing.T) {
	at := playing(t, func(w http.ResponseWriter, text string) bool {
		if text == "forget" {
			w.WriteHeader(http.StatusNotFound)
		}
		return text == "forget"
	})
	f := &sidecar{table: map[string]string{"echo": "allow"}}
	by := distant{f, at, map[string]bailiff.Secret{"KEY": bailiff.NewSecret("stands-for-it")}, make(chan bool)}
	o := connectBy(t, f, by, atURL, true)
	if said := text(o.ask(2, "tools/call", `{"name":"echo","arguments":{"text":"hello"}}`)); said != "hello" {
		t.Errorf("a call is answered %q", said)
	}
	if said := text(o.ask(3, "tools/call", `{"name":"echo","arguments":{"text":"forget"}}`)); !strings.Contains(said, "404") &&
		!strings.Contains(said, "has forgotten the session") {
		t.Errorf("a call of a session that was forgotten is answered %q", said)
	}
	if line, err := o.from.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Errorf("then comes %q, %v", line, err)
	}
	<-by.ended
}

func TestAServerAtAURLIsSentNoHeaderWithoutItsVariable(t *testing.T) {
	f := &sidecar{table: map[string]string{"echo": "allow"}}
	by := distant{f, playing(t, nil), nil, make(chan bool)}
	o := connectBy(t, f, by, atURL, false)
	if m := o.ask(1, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`); !strings.
		Contains(text(m), "No variable KEY may be sent") {
		t.Errorf("initialize is answered %v", m)
	}
	<-by.ended
}
