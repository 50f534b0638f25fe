// Package client asks a running sidecar, by the same listeners as every other
// program: the agent API and the operator API of package gateway.
//
//	c, err := client.New("unix:///run/bailiff/agent.sock", bailiff.Secret{})
//	answer, err := c.Execute(ctx, bailiff.Request{
//		Tool:    bailiff.Terminal,
//		Args:    bailiff.Args{Command: "git status"},
//		Session: bailiff.Session{ID: "s1", Platform: "cli", UserID: "1000"},
//	}, client.News{})
//
// What the sidecar says of a request is its answer: Status, ExitCode and Output
// say how it ended, Message why it did not run. An error means that there is none:
//
//   - [ErrUnreachable]: no sidecar could be asked, so nothing ran;
//   - [*api.Problem] alone: the sidecar did not take the request, so nothing
//     ran;
//   - [ErrUncertain]: it was asked to run something, and how that ended is not
//     known, so it may have run;
//   - any other: what was asked was not answered as a sidecar answers.
//
// An answer is taken only when it is whole: all that the API promises is there,
// and every word of it is known. A sidecar that stays silent for half a minute is
// given up, also while a command runs, since it says every few seconds that it
// lives; by operators after ten seconds, or a minute where it first stops what runs.
// A context bounds the time in all. Ending the context of [Client.Execute] closes
// the connection, and the sidecar then kills the command.
//
// Nothing is asked twice, nothing is run here, and no answer sends a request
// elsewhere. A client may be used by many goroutines at once.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

// ErrUnreachable means that no sidecar could be asked.
var ErrUnreachable = errors.New("no sidecar answers")

// How long a sidecar may be silent: to agents, to operators who ask for what it knows
// or can do at once, and to those for whom it stops what runs.
const (
	patience = 30 * time.Second
	prompt   = 10 * time.Second
	stopping = time.Minute
)

// largestAnswer bounds what is read of an answer or of an event, in bytes.
const largestAnswer = 64 << 20

// Client asks one listener of a sidecar.
type Client struct {
	address  string
	token    bailiff.Secret
	base     string
	http     *http.Client
	patience time.Duration
	prompt   time.Duration
	stopping time.Duration
}

// New returns a client of the listener at unix:///path or tcp://host:port; the token
// is for the latter.
func New(address string, token bailiff.Secret) (*Client, error) {
	network, where, _ := strings.Cut(address, "://")
	if (network != "unix" && network != "tcp") || where == "" {
		return nil, fmt.Errorf("reading the sidecar's address: want unix:///path or tcp://host:port, is %q", address)
	}
	c := &Client{address: address, token: token, base: "http://bailiff", patience: patience, prompt: prompt, stopping: stopping}
	if network == "tcp" {
		c.base = "http://" + where
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, where)
	}
	c.http = &http.Client{Transport: &http.Transport{DialContext: dial}, CheckRedirect: stay}
	return c, nil
}

// stay follows no server that sends elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Health asks whether a sidecar serves the listener, and lets this client in.
func (c *Client) Health(ctx context.Context) (api.Health, error) {
	return ask[api.Health](ctx, c, c.patience, http.MethodGet, "/healthz", nil)
}

// Decide asks what would happen to a request, given as JSON.
func (c *Client) Decide(ctx context.Context, request []byte) (api.Decided, error) {
	return timed(ctx, c, c.patience, func(ctx context.Context) (api.Decided, error) {
		return read(ctx, c, http.MethodPost, "/v1/decide", request, checkDecided)
	})
}

// DecideAhead asks the same about a request that is executed then if it may be, so that the decision
// log holds what was decided once.
func (c *Client) DecideAhead(ctx context.Context, request []byte) (api.Decided, error) {
	return timed(ctx, c, c.patience, func(ctx context.Context) (api.Decided, error) {
		return read(ctx, c, http.MethodPost, "/v1/decide?then=execute", request, checkDecided)
	})
}

// EndSession removes a session's sandboxes and stops what else it runs. An engine that ends many sandboxes at once may take
// minutes: the sidecar is given up only once it answers nothing else, either.
func (c *Client) EndSession(ctx context.Context, session string) (api.SessionEnded, error) {
	return whileServing(ctx, c, func(ctx context.Context) (api.SessionEnded, error) {
		return read(ctx, c, http.MethodDelete, "/v1/sessions/"+url.PathEscape(session), nil, checkEnded)
	})
}

// RegisterTools says which tools the scripts of a session may call.
func (c *Client) RegisterTools(ctx context.Context, session string, names []string) error {
	return c.post(ctx, "/v1/sessions/"+url.PathEscape(session)+"/tools", api.Tools{Tools: names})
}

// AnswerTool gives a script what its call came to.
func (c *Client) AnswerTool(ctx context.Context, id string, answer api.ToolAnswer) error {
	return c.post(ctx, "/v1/tool_calls/"+url.PathEscape(id), answer)
}

// post sends a value that is answered with nothing.
func (c *Client) post(ctx context.Context, path string, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("asking the sidecar: %w", err)
	}
	return c.silently(ctx, c.patience, http.MethodPost, path, body)
}

// Status tells how the sidecar is. This and what follows are the operator's.
func (c *Client) Status(ctx context.Context) (api.Status, error) {
	return ask[api.Status](ctx, c, c.prompt, http.MethodGet, "/v1/status", nil)
}

// Sandboxes lists the live ones.
func (c *Client) Sandboxes(ctx context.Context) ([]api.Sandbox, error) {
	list, err := ask[api.Sandboxes](ctx, c, c.prompt, http.MethodGet, "/v1/sandboxes", nil)
	return list.Sandboxes, err
}

// Sessions lists those that were used last, the latest first.
func (c *Client) Sessions(ctx context.Context) ([]api.Session, error) {
	list, err := ask[api.Sessions](ctx, c, c.prompt, http.MethodGet, "/v1/session-histories", nil)
	return list.Sessions, err
}

// Session tells what the sessions of an id did.
func (c *Client) Session(ctx context.Context, id string) (api.SessionShown, error) {
	return ask[api.SessionShown](ctx, c, c.prompt, http.MethodGet, "/v1/session-histories/"+url.PathEscape(id), nil)
}

// RemoveSandbox stops and removes one.
func (c *Client) RemoveSandbox(ctx context.Context, id string) error {
	return c.silently(ctx, c.stopping, http.MethodDelete, "/v1/sandboxes/"+url.PathEscape(id), nil)
}

// Reap removes every sandbox that is not in use and returns how many those were.
func (c *Client) Reap(ctx context.Context) (removed int, err error) {
	reaped, err := ask[api.Reaped](ctx, c, c.stopping, http.MethodPost, "/v1/sandboxes/reap", nil)
	return reaped.Removed, err
}

// BreakGlass runs a request that the policies deny, for a reason. It takes the time
// that the command does.
func (c *Client) BreakGlass(ctx context.Context, req bailiff.Request, reason string) (api.Answer, error) {
	text, err := json.Marshal(req)
	if err != nil {
		return api.Answer{}, fmt.Errorf("asking the sidecar: %w", err)
	}
	body, err := json.Marshal(api.Breaking{Request: text, Reason: reason})
	if err != nil {
		return api.Answer{}, fmt.Errorf("asking the sidecar: %w", err)
	}
	return read[api.Answer](ctx, c, http.MethodPost, "/v1/break-glass", body, nil)
}

func ask[T any](ctx context.Context, c *Client, patience time.Duration, method, path string, body []byte) (T, error) {
	return timed(ctx, c, patience, func(ctx context.Context) (T, error) {
		return read[T](ctx, c, method, path, body, nil)
	})
}

// ErrGivenUp is why a call ends that a sidecar took and left without an answer.
var ErrGivenUp = errors.New("the sidecar was given up")

// silence is such an end, in words of its own.
type silence struct{ error }

func (silence) Is(target error) bool { return target == ErrGivenUp }

// timed ends a call that takes longer than this, and says what to do then.
func timed[T any](ctx context.Context, c *Client, patience time.Duration, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrGivenUp)
	defer cancel()
	answer, err := call(ctx)
	return answer, c.givenUp(ctx, err, patience)
}

// givenUp is the error of a call, and what to do then if that is that it was given up.
func (c *Client) givenUp(ctx context.Context, err error, patience time.Duration) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrGivenUp) && !isRefusal(err) {
		err = silence{fmt.Errorf("the sidecar at %s took the request, did not answer it within %g s, and may still do what was asked; "+
			"look at its log, kill -CONT or restart it", c.address, patience.Seconds())}
	}
	return err
}

// whileServing ends a call when the sidecar has left it without an answer for as long as it may be silent, and then
// answers no client.
func whileServing[T any](ctx context.Context, c *Client, call func(context.Context) (T, error)) (T, error) {
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	go c.giveUpOnceSilent(ctx, give)
	answer, err := call(ctx)
	return answer, c.givenUp(ctx, err, c.patience)
}

func (c *Client) giveUpOnceSilent(ctx context.Context, give context.CancelCauseFunc) {
	for serving := true; serving; serving = c.isServing(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(c.patience):
		}
	}
	give(ErrGivenUp)
}

// isServing says whether the sidecar answers, if only that it is not well.
func (c *Client) isServing(ctx context.Context) bool {
	var problem *api.Problem
	_, err := ask[api.Health](ctx, c, c.prompt, http.MethodGet, "/healthz", nil)
	return err == nil || errors.As(err, &problem)
}

// isRefusal says whether an error is that no sidecar took what was asked.
func isRefusal(err error) bool {
	var refusal *api.Problem
	return errors.Is(err, ErrUnreachable) || errors.As(err, &refusal) && !errors.Is(err, errFailed)
}

// read takes an answer if a check of it, when there is one, finds nothing amiss.
func read[T any](ctx context.Context, c *Client, method, path string, body []byte, check func(T, []byte) error) (answer T, err error) {
	resp, err := c.do(ctx, method, path, body, jsonType)
	if err != nil {
		return answer, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := readAll(resp.Body)
	if err == nil {
		answer, err = taken(text, check)
	}
	return answer, c.asking(err)
}

// asking says of an error that it came as this sidecar was asked.
func (c *Client) asking(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("asking the sidecar at %s: %w", c.address, err)
}

var errTooLarge = fmt.Errorf("it is larger than %d bytes", largestAnswer)

func readAll(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, largestAnswer+1))
	if err == nil && len(text) > largestAnswer {
		err = errTooLarge
	}
	return text, err
}

// silently asks for what is answered with nothing.
func (c *Client) silently(ctx context.Context, patience time.Duration, method, path string, body []byte) error {
	_, err := timed(ctx, c, patience, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.effect(ctx, method, path, body)
	})
	return err
}

func (c *Client) effect(ctx context.Context, method, path string, body []byte) error {
	resp, err := c.do(ctx, method, path, body, jsonType)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusNoContent {
		return c.noAnswer(resp)
	}
	return nil
}

// The types of content.
const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// do sends a request. An answer that is not 2xx, or not of the type that is
// wanted, is an error.
func (c *Client) do(ctx context.Context, method, path string, body []byte, want string) (*http.Response, error) {
	sent := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent = true }})
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking the sidecar: %w", err)
	}
	r.Header.Set("Accept", want)
	if token := c.token.Reveal(); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if parent := gateway.TraceparentOf(ctx); parent != "" {
		r.Header.Set(gateway.Traceparent, parent)
	}
	resp, err := c.http.Do(r)
	switch {
	case err != nil && sent && !isDialing(err):
		return nil, c.asking(bare(err))
	case err != nil:
		return nil, c.unreachable(bare(err))
	case isAnswer(resp, want):
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	return nil, c.refusal(resp)
}

// isAnswer says whether it is one, whatever it says.
func isAnswer(resp *http.Response, want string) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusOK && kind == want
}

// isDialing says whether an error came before there was a connection, be it that
// another had just been found dead, unused.
func isDialing(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// bare is an error without the URL, which says nothing at a socket.
func bare(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}

func (c *Client) unreachable(err error) error {
	hint := ""
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, fs.ErrNotExist):
		hint = "; start one with \"bailiff serve\""
	case errors.Is(err, syscall.EPERM):
		hint = "; a sandbox around this program lets nothing connect there"
	case errors.Is(err, fs.ErrPermission):
		hint = "; the socket is for other users, see uids in bailiff.yaml"
	}
	return c.asking(fmt.Errorf("%w (%w)%s", ErrUnreachable, err, hint))
}

var errFailed = errors.New("it failed")

// refusal reads why the sidecar did not take a request, or failed at it.
func (c *Client) refusal(resp *http.Response) error {
	text, err := readAll(resp.Body)
	if err != nil {
		return c.noAnswer(resp)
	}
	p, err := taken[api.Problem](text, nil)
	if err != nil || resp.StatusCode/100 < 4 || p.Code == "" || p.Message == "" {
		return c.noAnswer(resp)
	}
	if resp.StatusCode/100 == 5 && resp.StatusCode != http.StatusServiceUnavailable {
		return c.asking(fmt.Errorf("%w: %w", errFailed, &p))
	}
	return &p
}

func (c *Client) noAnswer(resp *http.Response) error {
	return c.asking(fmt.Errorf("it answered %d and nothing that bailiff would", resp.StatusCode))
}
