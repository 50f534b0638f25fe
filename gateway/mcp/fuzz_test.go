package mcp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzMessages sends anything to a server: it may refuse it, and must go on.
func FuzzMessages(f *testing.F) {
	for _, body := range []string{initialize, callLS, "[" + callLS + "]", "{}", "[]", "null",
		`{"jsonrpc": "2.0", "id": null, "method": "tools/call"}`,
		`{"jsonrpc": "2.0", "id": 1, "result": {}}`, `{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "terminal", "arguments": [1], "_meta": ` +
			`{"bailiff.dev/session": []}}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {}}}`,
		`{"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": ` +
			`"2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}`,
	} {
		for _, version := range []string{"", "2025-03-26", "2026-07-28", "9"} {
			f.Add(body, version, "application/json")
		}
	}
	server, err := New(Config{Name: "tools", Version: "1", Session: ana, Sidecar: &sidecar{}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(server.Close)
	f.Fuzz(func(t *testing.T, body, version, kind string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost"+Path, strings.NewReader(body))
		r.Header = http.Header{"Content-Type": {kind}, "Accept": {"application/json, text/event-stream"}, versionHeader: {version}}
		server.ServeHTTP(httptest.NewRecorder(), r)
	})
}
