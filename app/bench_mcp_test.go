package app

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/gateway/mcp"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// BenchmarkMCP times "true" in a warm sandbox by MCP against the same by the agent
// API: over HTTP at one listener, and by "bailiff mcp" against the Unix socket that it
// asks. The sides take turns; medians are reported, and their ratios.
func BenchmarkMCP(b *testing.B) {
	s := startSidecar(b, "backends: {bubblewrap: {}}")
	plain := s.poster()
	s.withTools(b)
	line := pipeMCP(b, s.agents[1].Address())
	times := takeTurns(b, map[string]func(){
		"mcp-http": s.postMCP(b), "api-http": s.postExecute(b),
		"mcp-pipe": func() { line(callTrue) }, "api-unix": func() { plain(b, inChat("bench", "true")) },
	})
	for name, all := range times {
		b.ReportMetric(float64(median(all).Microseconds()), name+"-µs")
	}
	b.ReportMetric(float64(median(times["mcp-http"]))/float64(median(times["api-http"])), "http-ratio")
	b.ReportMetric(float64(median(times["mcp-pipe"]))/float64(median(times["api-unix"])), "pipe-ratio")
}

const (
	callTrue = `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "terminal", "arguments": {"command": "true"}}}`
	begin    = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", ` +
		`"capabilities": {}, "clientInfo": {"name": "b", "version": "1"}}}`
)

// postExecute sends "true" to POST /v1/execute of the listener with tools.
func (r *running) postExecute(b *testing.B) func() {
	return func() {
		r.postTools(b, "/v1/execute", `{"tool": "terminal", "args": {"command": "true"}, `+
			`"session": {"id": "bench", "platform": "cli", "user_id": "1000"}}`, "")
	}
}

// postMCP sends "true" in one session of MCP.
func (r *running) postMCP(b *testing.B) func() {
	session := r.postTools(b, mcp.Path, begin, "")
	return func() { r.postTools(b, mcp.Path, callTrue, session) }
}

var toolsClient = &http.Client{Transport: authorized{&http.Transport{}}}

func (r *running) postTools(b *testing.B, path, body, session string) (begun string) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost,
		strings.Replace(r.agents[0].Address(), "tcp", "http", 1)+path, strings.NewReader(body))
	must(b, err)
	req.Header.Set("Content-Type", "application/json")
	if path == mcp.Path {
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := toolsClient.Do(req)
	must(b, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || body != begin && !bytes.Contains(text, []byte(`"status":"completed"`)) {
		b.Fatalf("answered %s %s %v", resp.Status, text, err)
	}
	return resp.Header.Get("Mcp-Session-Id")
}

// pipeMCP starts "bailiff mcp", and sends it messages that it answers.
func pipeMCP(b *testing.B, address string) func(message string) {
	command := exec.Command(filepath.Join(apptest.Programs(b), "bailiff"), "mcp", "--listen", address)
	in, err := command.StdinPipe()
	must(b, err)
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	must(b, err)
	b.Cleanup(func() { _ = in.Close(); _ = command.Wait() })
	lines := bufio.NewReader(out)
	send := func(message string) {
		if _, err := fmt.Fprintln(in, message); err != nil {
			b.Fatal(err)
		}
		if text, err := lines.ReadString('\n'); err != nil || message != begin && !strings.Contains(text, `"status":"completed"`) {
			b.Fatalf("answered %s %v", text, err)
		}
	}
	send(begin)
	return send
}
