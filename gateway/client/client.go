// Package client asks a running sidecar, by the same doors as every other
// program: the agent API and the operator API of package gateway.
//
// A request that the sidecar did not take is a [*gateway.Problem]; a sidecar
// that is not there is [ErrUnreachable]. Ending the context of
// [Client.Execute] closes the connection, and the sidecar then kills the command.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

// ErrUnreachable means that no sidecar could be asked.
var ErrUnreachable = errors.New("no sidecar answers")

// Client asks one door of a sidecar.
type Client struct {
	address string
	token   bailiff.Secret
	base    string
	http    *http.Client
}

// New returns a client of the door at unix:///path or tcp://host:port; the token
// is for the latter.
func New(address string, token bailiff.Secret) (*Client, error) {
	network, where, _ := strings.Cut(address, "://")
	if (network != "unix" && network != "tcp") || where == "" {
		return nil, fmt.Errorf("reading the sidecar's address: want unix:///path or tcp://host:port, is %q", address)
	}
	c := &Client{address: address, token: token, base: "http://bailiff"}
	if network == "tcp" {
		c.base = "http://" + where
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, where)
	}
	c.http = &http.Client{Transport: &http.Transport{DialContext: dial}}
	return c, nil
}

// Decide asks what would happen to a request, given as JSON.
func (c *Client) Decide(ctx context.Context, request []byte) (gateway.Decided, error) {
	return ask[gateway.Decided](ctx, c, http.MethodPost, "/v1/decide", request)
}

// EndSession removes a session's sandboxes and stops what else it runs.
func (c *Client) EndSession(ctx context.Context, session string) (gateway.SessionEnded, error) {
	return ask[gateway.SessionEnded](ctx, c, http.MethodDelete, "/v1/sessions/"+url.PathEscape(session), nil)
}

// RegisterTools says which tools the scripts of a session may call.
func (c *Client) RegisterTools(ctx context.Context, session string, names []string) error {
	return c.post(ctx, "/v1/sessions/"+url.PathEscape(session)+"/tools", gateway.Tools{Tools: names})
}

// AnswerTool gives a script what its call came to.
func (c *Client) AnswerTool(ctx context.Context, id string, answer gateway.ToolAnswer) error {
	return c.post(ctx, "/v1/tool_calls/"+url.PathEscape(id), answer)
}

// post sends a value that is answered with nothing.
func (c *Client) post(ctx context.Context, path string, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("asking the sidecar: %w", err)
	}
	resp, err := c.do(ctx, http.MethodPost, path, body)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Status tells how the sidecar is. This and what follows are the operator's.
func (c *Client) Status(ctx context.Context) (gateway.Status, error) {
	return ask[gateway.Status](ctx, c, http.MethodGet, "/v1/status", nil)
}

// Sandboxes lists the live ones.
func (c *Client) Sandboxes(ctx context.Context) ([]gateway.Sandbox, error) {
	list, err := ask[gateway.Sandboxes](ctx, c, http.MethodGet, "/v1/sandboxes", nil)
	return list.Sandboxes, err
}

// RemoveSandbox stops and removes one.
func (c *Client) RemoveSandbox(ctx context.Context, id string) error {
	resp, err := c.do(ctx, http.MethodDelete, "/v1/sandboxes/"+url.PathEscape(id), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Reap removes every sandbox that is not in use and returns how many those were.
func (c *Client) Reap(ctx context.Context) (removed int, err error) {
	reaped, err := ask[gateway.Reaped](ctx, c, http.MethodPost, "/v1/sandboxes/reap", nil)
	return reaped.Removed, err
}

// BreakGlass runs a request that the policies deny, for a reason.
func (c *Client) BreakGlass(ctx context.Context, req bailiff.Request, reason string) (gateway.Answer, error) {
	text, err := json.Marshal(req)
	if err != nil {
		return gateway.Answer{}, fmt.Errorf("asking the sidecar: %w", err)
	}
	return tell[gateway.Answer](ctx, c, http.MethodPost, "/v1/break-glass", gateway.Breaking{Request: text, Reason: reason})
}

func ask[T any](ctx context.Context, c *Client, method, path string, body []byte) (answer T, err error) {
	resp, err := c.do(ctx, method, path, body)
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return answer, fmt.Errorf("reading the sidecar's answer: %w", err)
	}
	return answer, nil
}

// do sends a request; an answer that is not 2xx is an error.
func (c *Client) do(ctx context.Context, method, path string, body []byte, accept ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking the sidecar: %w", err)
	}
	r.Header["Accept"] = accept
	if token := c.token.Reveal(); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	return nil, refusal(resp)
}

func (c *Client) unreachable(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err
	}
	hint := ""
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		hint = "; start one with \"bailiff serve\""
	case errors.Is(err, fs.ErrPermission):
		hint = "; the socket is for other users, see uids in bailiff.yaml"
	default:
		return fmt.Errorf("asking the sidecar at %s: %w", c.address, err)
	}
	return fmt.Errorf("asking the sidecar at %s: %w (%w)%s", c.address, ErrUnreachable, err, hint)
}

// refusal reads why the sidecar did not take a request.
func refusal(resp *http.Response) error {
	var p gateway.Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || p.Message == "" {
		return fmt.Errorf("asking the sidecar: it answered %s, which is no answer of bailiff", resp.Status)
	}
	return &p
}
