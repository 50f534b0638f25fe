package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
)

// Door is one client's connection to a server, by which its tools are tried.
type Door struct{ session *sdk.ClientSession }

// Start starts a server as agents do, and connects to its standard input and output.
func Start(ctx context.Context, server *exec.Cmd) (*Door, error) {
	return enter(ctx, &sdk.CommandTransport{Command: server})
}

// Visit connects to a listener's server by HTTP.
func Visit(ctx context.Context, network, address string, token bailiff.Secret) (*Door, error) {
	host := "bailiff"
	if network == "tcp" {
		host = address
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return enter(ctx, &sdk.StreamableClientTransport{Endpoint: "http://" + host + Path, DisableStandaloneSSE: true, MaxRetries: -1,
		HTTPClient: &http.Client{Transport: withToken{token, &http.Transport{DialContext: dial}}}})
}

// withToken sends a token, if there is one.
type withToken struct {
	token bailiff.Secret
	http  *http.Transport
}

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	if token := w.token.Reveal(); token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return w.http.RoundTrip(r)
}

func enter(ctx context.Context, transport sdk.Transport) (*Door, error) {
	session, err := sdk.NewClient(&sdk.Implementation{Name: "bailiff-doctor", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		return nil, fmt.Errorf("connecting by MCP: %w", err)
	}
	return &Door{session}, nil
}

// Terminal calls the tool terminal. Failed says that the tool answered with an error.
func (d *Door) Terminal(ctx context.Context, command string) (text string, failed bool, err error) {
	params := &sdk.CallToolParams{Name: string(bailiff.Terminal), Arguments: map[string]any{"command": command}}
	result, err := d.session.CallTool(ctx, params)
	if err != nil {
		return "", false, fmt.Errorf("calling terminal by MCP: %w", err)
	}
	var said strings.Builder
	for _, part := range result.Content {
		if content, is := part.(*sdk.TextContent); is {
			said.WriteString(content.Text)
		}
	}
	return said.String(), result.IsError, nil
}

// Close ends the connection, and with it the session's sandbox.
func (d *Door) Close() error { return d.session.Close() }
