package app

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/gateway/mcp"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

const mcpToken = "a-token-for-tools-0123"

// withTools adds a listener by TCP that speaks MCP, and returns its settings.
func (r *running) withTools(tb testing.TB) *config.Config {
	tb.Helper()
	token := filepath.Join(openDir(tb), "token")
	must(tb, os.WriteFile(token, []byte(mcpToken), 0o600))
	next := *r.cfg
	next.Agent.Listeners = append([]config.Listener{{Name: "tools",
		Listen: config.Address{Network: "tcp", Address: porttest.Address(tb)}, TokenFile: token, // it is opened anew there
		Platforms: []string{"cli", "slack"}, MCP: &config.MCP{Session: bailiff.Session{Platform: "cli", UserID: "1000"}}}},
		r.cfg.Agent.Listeners...)
	r.rereads(tb, &next)
	return &next
}

func (r *running) rereads(tb testing.TB, next *config.Config) {
	tb.Helper()
	if _, err := r.reload(context.Background(), next); err != nil {
		tb.Fatal(err)
	}
}

// authorized sends a token with every request.
type authorized struct{ http.RoundTripper }

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+mcpToken)
	return a.RoundTripper.RoundTrip(r)
}

// mcpClient is a client in a session of the listener with tools.
func (r *running) mcpClient(tb testing.TB) *sdk.ClientSession {
	tb.Helper()
	transport := &sdk.StreamableClientTransport{MaxRetries: -1,
		HTTPClient: &http.Client{Transport: authorized{&http.Transport{DisableKeepAlives: true}}},
		Endpoint:   strings.Replace(r.agents[0].Address(), "tcp", "http", 1) + mcp.Path}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).
		Connect(tb.Context(), transport, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	must(tb, err)
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// runTool runs a command by MCP; meta is of whose session.
func runTool(tb testing.TB, c *sdk.ClientSession, command string, session map[string]any) (text string, err error) {
	tb.Helper()
	call := &sdk.CallToolParams{Name: "terminal", Arguments: map[string]any{"command": command}}
	if session != nil {
		call.Meta = sdk.Meta{mcp.MetaSession: session}
	}
	result, err := c.CallTool(tb.Context(), call)
	if err != nil {
		return "", err
	}
	return result.Content[0].(*sdk.TextContent).Text, nil
}

func TestAClaimOfAnMCPClientIsBoundedByItsListener(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, "backends: {bubblewrap: {}}", everything(t, "bubblewrap", ""))
	s.withTools(t)
	c := s.mcpClient(t)
	for claim, test := range map[string]struct {
		session map[string]any
		text    string
	}{
		"none":                        {nil, "here\n"},
		"another session":             {map[string]any{"id": "mine"}, "here\n"},
		"another platform of its own": {map[string]any{"id": "s", "platform": "slack", "user_id": "U1"}, "here\n"},
		"a platform of others": {map[string]any{"id": "s", "platform": "telegram", "user_id": "42"},
			`Listener "tools" may not speak for platform "telegram"; its configuration names those that it may.`},
		"one that the API does not know": {map[string]any{"id": "s", "caller": "operator"}, "The request is not valid: /session/caller: "},
	} {
		if text, err := runTool(t, c, "echo here", test.session); err != nil || !strings.HasPrefix(text, test.text) {
			t.Errorf("%s: it is answered %q, %v; want %q", claim, text, err, test.text)
		}
	}
}

func TestAReadAgainConfigurationEndsTheMCPSessionsItConcernsOnly(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, "backends: {bubblewrap: {}}", everything(t, "bubblewrap", ""))
	next := s.withTools(t)
	c := s.mcpClient(t)
	if text, err := runTool(t, c, "echo kept > f", nil); err != nil || text != "[no output]" {
		t.Fatalf("it is answered %q, %v", text, err)
	}
	next.Agent.Listeners[1].Platforms = []string{"telegram"}
	next.Agent.Listeners[0].Platforms = []string{"cli"}
	s.rereads(t, next)
	if text, err := runTool(t, c, "cat f", nil); err != nil || text != "kept\n" {
		t.Errorf("after a change of another kind it is answered %q, %v", text, err)
	}
	if text, err := runTool(t, c, "cat f", map[string]any{"id": "s", "platform": "slack", "user_id": "U1"}); err != nil ||
		!strings.Contains(text, "may not speak for") {
		t.Errorf("for a platform that was taken away it is answered %q, %v", text, err)
	}
	changed := *next
	changed.Agent.Listeners = append([]config.Listener{}, next.Agent.Listeners...)
	changed.Agent.Listeners[0].MCP = &config.MCP{Session: bailiff.Session{Platform: "cli", UserID: "1001"}}
	s.rereads(t, &changed)
	if text, err := runTool(t, c, "cat f", nil); err == nil {
		t.Errorf("for another user the session goes on: %q", text)
	}
	backendtest.Await(t, "the sandbox of the ended session is gone", func() bool {
		list, err := s.operators(t).Sandboxes(t.Context())
		return err == nil && len(list) == 0
	})
	if text, err := runTool(t, s.mcpClient(t), "echo anew", nil); err != nil || text != "anew\n" {
		t.Errorf("a new session is answered %q, %v", text, err)
	}
}
