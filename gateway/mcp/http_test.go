package mcp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

const token = "a-token-of-some-length"

// opened is a server behind a listener, by TCP unless the change says otherwise.
func opened(t *testing.T, s *sidecar, changes ...func(*Config, *gateway.ListenerConfig)) (*Server, *gateway.Listener) {
	t.Helper()
	c := Config{Name: "tools", Version: "1.2.3", Session: ana, WaitSeconds: 50, Sidecar: s, pace: 20 * time.Millisecond}
	d := gateway.ListenerConfig{Name: "tools", Network: "tcp", Address: "127.0.0.1:0", Token: bailiff.NewSecret(token)}
	for _, change := range changes {
		change(&c, &d)
	}
	server, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := gateway.Open(d, server)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = listener.Serve() }()
	t.Cleanup(func() { server.Close(); _ = listener.Shutdown(context.Background()) })
	return server, listener
}

// bearer sends the token, and whatever else its header holds.
type bearer struct {
	http.RoundTripper
	header http.Header
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	for name, values := range b.header {
		r.Header[name] = values
	}
	return b.RoundTripper.RoundTrip(r)
}

func httpClient(listener *gateway.Listener) *http.Client {
	network, address, _ := strings.Cut(listener.Address(), "://")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return &http.Client{Transport: bearer{RoundTripper: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

func url(listener *gateway.Listener) string {
	if network, address, _ := strings.Cut(listener.Address(), "://"); network == "tcp" {
		return "http://" + address + Path
	}
	return "http://localhost" + Path
}

// versions are the protocol's that clients connect by.
var versions = []string{"2025-11-25", "2026-07-28"}

func connect(t *testing.T, listener *gateway.Listener, version string, options *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	c, err := clientSession(t, listener, version, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// clientSession is a client with a session, or the error by which none began.
func clientSession(t *testing.T, listener *gateway.Listener, version string, options *sdk.ClientOptions) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, options)
	c, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url(listener), HTTPClient: httpClient(listener),
		MaxRetries: -1},
		&sdk.ClientSessionOptions{ProtocolVersion: version})
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func TestByHTTPACallIsThePeersInItsSession(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			s := &sidecar{}
			_, listener := opened(t, s)
			c := connect(t, listener, version, nil)
			if text, failed := use(t, c, "terminal", map[string]any{"command": "ls"}); text != "hello\n" || failed {
				t.Errorf("the result is %q, %v", text, failed)
			}
			got := s.last(t)
			want := "mcp:tools:tcp:local"
			if id := c.ID(); id != "" {
				want = "mcp:tools:" + id
			}
			if got.Session.ID != want || got.Peer != bailiff.LocalTCP || got.Session.UserID != "1000" {
				t.Errorf("the sidecar was asked %+v, want session %q", got, want)
			}
		})
	}
}

func TestTheEndOfASessionEndsItsSandbox(t *testing.T) {
	for name, end := range map[string]func(*Server, *sdk.ClientSession){
		"by its client": func(_ *Server, c *sdk.ClientSession) { _ = c.Close() },
		"by the server": func(s *Server, _ *sdk.ClientSession) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := &sidecar{}
			server, listener := opened(t, s)
			c := connect(t, listener, versions[0], nil)
			use(t, c, "terminal", map[string]any{"command": "ls"})
			end(server, c)
			ends(t, s, server, c)
		})
	}
}

// ends waits until a session and its sandbox have ended.
func ends(t *testing.T, s *sidecar, server *Server, c *sdk.ClientSession) {
	t.Helper()
	await(t, "the session has ended", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.Equal(s.ended, []string{"mcp:tools:" + c.ID()}) && server.sessions.find(c.ID()) == nil
	})
}

// A client may be slower than a short time of idleness: the first time is taken in which a client makes its call.
func TestASessionWithoutCallsEndsWithItsSandbox(t *testing.T) {
	for idle := 50 * time.Millisecond; ; idle *= 2 {
		s := &sidecar{}
		server, listener := opened(t, s, func(c *Config, _ *gateway.ListenerConfig) { c.idle = idle })
		c, err := clientSession(t, listener, versions[0], nil)
		if err == nil {
			_, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "terminal", Arguments: map[string]any{"command": "ls"}})
		}
		if err == nil {
			ends(t, s, server, c)
			return
		}
		if !strings.Contains(err.Error(), "session not found") || idle > time.Minute {
			t.Fatal(err)
		}
	}
}

func TestACallEndsWithItsClient(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		end     func(*Server, *gateway.Listener, *sdk.ClientSession, context.CancelFunc)
	}{
		"cancelled": {versions[0], func(_ *Server, _ *gateway.Listener, _ *sdk.ClientSession,
			cancel context.CancelFunc) {
			cancel()
		}},
		"cancelled without a session": {versions[1], func(_ *Server, _ *gateway.Listener, _ *sdk.ClientSession,
			cancel context.CancelFunc) {
			cancel()
		}},
		"its session ended": {versions[0], func(_ *Server, listener *gateway.Listener, c *sdk.ClientSession, _ context.CancelFunc) {
			r, _ := http.NewRequest(http.MethodDelete, url(listener), http.NoBody)
			r.Header.Set(sessionHeader, c.ID())
			if resp, err := httpClient(listener).Do(r); err == nil {
				_ = resp.Body.Close()
			}
		}},
		"the server ended": {versions[0], func(s *Server, _ *gateway.Listener, _ *sdk.ClientSession, _ context.CancelFunc) { s.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			running, ended := make(chan struct{}), make(chan struct{})
			s := &sidecar{execute: func(ctx context.Context, _ bailiff.Request, _ func(api.Approval)) (api.Answer, error) {
				close(running)
				<-ctx.Done()
				close(ended)
				return api.Answer{Status: bailiff.Interrupted}, nil
			}}
			server, listener := opened(t, s)
			c := connect(t, listener, test.version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				_, _ = c.CallTool(ctx, &sdk.CallToolParams{Name: "terminal", Arguments: map[string]any{"command": "sleep 100"}})
			}()
			<-running
			test.end(server, listener, c, cancel)
			<-ended
		})
	}
}

// initialize is the first message of a client with a session.
const initialize = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, ` +
	`"clientInfo": {"name": "t", "version": "1"}}}`

const callLS = `{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "terminal", "arguments": {"command": "ls"}}}`

// send posts a message as no library would.
func send(t *testing.T, listener *gateway.Listener, method, body string, header map[string]string) (status int, session, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url(listener), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		r.Header.Set(name, value)
	}
	r.Host = header["Host"]
	resp, err := httpClient(listener).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get(sessionHeader), string(text)
}

// message is one of a session.
func message(ctx context.Context, t *testing.T, listener *gateway.Listener, body, session string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url(listener), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		sessionHeader: {session}}
	return r
}

// post sends a message of a session and leaves the answer to be read.
func post(t *testing.T, listener *gateway.Listener, body, session string) *http.Response {
	t.Helper()
	resp, err := httpClient(listener).Do(message(t.Context(), t, listener, body, session))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestACallGoesOnlyWithItsConnection(t *testing.T) {
	running, ended := make(chan struct{}), make(chan struct{})
	s := &sidecar{execute: func(ctx context.Context, _ bailiff.Request, _ func(api.Approval)) (api.Answer, error) {
		close(running)
		<-ctx.Done()
		close(ended)
		return api.Answer{}, ctx.Err()
	}}
	_, listener := opened(t, s)
	_, session, _ := send(t, listener, http.MethodPost, initialize, nil)
	ctx, hangUp := context.WithCancel(t.Context())
	r := message(ctx, t, listener, callLS, session)
	go func() {
		if resp, err := httpClient(listener).Do(r); err == nil {
			_ = resp.Body.Close()
		}
	}()
	<-running
	hangUp()
	<-ended
}

func TestAnAnswerThatIsStillToComeSaysSo(t *testing.T) {
	hold := make(chan struct{})
	s := &sidecar{execute: func(context.Context, bailiff.Request, func(api.Approval)) (api.Answer, error) {
		<-hold
		return api.Answer{Status: bailiff.Completed, Output: "late"}, nil
	}}
	_, listener := opened(t, s, func(c *Config, _ *gateway.ListenerConfig) { c.keepAlive = time.Millisecond })
	_, session, _ := send(t, listener, http.MethodPost, initialize, nil)
	resp := post(t, listener, callLS, session)
	begun := make([]byte, len(": still here\n\n"))
	if _, err := io.ReadFull(resp.Body, begun); err != nil || string(begun) != ": still here\n\n" {
		t.Errorf("it said %q, %v", begun, err)
	}
	close(hold)
	if rest, err := io.ReadAll(resp.Body); err != nil || !bytes.Contains(rest, []byte("late")) {
		t.Errorf("it ended with %q, %v", rest, err)
	}
}

func TestWhoMayNotAskByHTTP(t *testing.T) {
	s := &sidecar{}
	_, listener := opened(t, s)
	_, session, _ := send(t, listener, http.MethodPost, initialize, nil)
	for name, test := range map[string]struct {
		method, body string
		header       map[string]string
		status       int
	}{
		"another site's page": {http.MethodPost, callLS, map[string]string{"Origin": "http://evil.test", sessionHeader: session},
			http.StatusForbidden},
		"a page by a name of its own": {http.MethodPost, callLS, map[string]string{"Origin": "http://evil.test", "Host": "evil.test",
			sessionHeader: session}, http.StatusForbidden},
		"a session that is none":    {http.MethodPost, callLS, map[string]string{sessionHeader: "x"}, http.StatusNotFound},
		"a call before its session": {http.MethodPost, callLS, nil, http.StatusOK},
		"a visit of somebody else": {http.MethodPost, callLS, map[string]string{"Bailiff-Visit": "1", sessionHeader: "x"},
			http.StatusNotFound},
		"a stream beside the answers":  {http.MethodGet, "", map[string]string{sessionHeader: session}, http.StatusMethodNotAllowed},
		"an end of somebody's session": {http.MethodDelete, "", map[string]string{sessionHeader: "x"}, http.StatusNotFound},
		"no JSON":                      {http.MethodPost, "{", map[string]string{sessionHeader: session}, http.StatusBadRequest},
	} {
		status, _, answer := send(t, listener, test.method, test.body, test.header)
		if status != test.status {
			t.Errorf("%s is answered %d: %s", name, status, answer)
		}
	}
	if len(s.requests) > 0 {
		t.Errorf("the sidecar was asked %+v", s.requests)
	}
}

func TestOnlyWhoBeganASessionIsInIt(t *testing.T) {
	var ss sessions
	ss.open = map[string]*session{"s1": {peer: "uid:1001"}}
	for peer, want := range map[string]bool{"uid:1001": true, "uid:1002": false, "tcp:local": false, "": false} {
		if got := ss.belongs("s1", peer); got != want {
			t.Errorf("%q belongs: %v", peer, got)
		}
	}
}

func TestAUnixSocketTellsThePeer(t *testing.T) {
	dir, err := os.MkdirTemp("", "bm")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, version := range versions {
		s := &sidecar{}
		_, listener := opened(t, s, func(_ *Config, d *gateway.ListenerConfig) {
			d.Network, d.Address, d.Token = "unix", filepath.Join(dir, version), bailiff.Secret{}
		})
		use(t, connect(t, listener, version, nil), "terminal", map[string]any{"command": "ls"})
		if want := "uid:" + strconv.Itoa(os.Geteuid()); s.last(t).Peer != want {
			t.Errorf("by %s the peer is %q, want %q", version, s.last(t).Peer, want)
		}
	}
}

func TestSessionsAreBounded(t *testing.T) {
	server, listener := opened(t, &sidecar{}, func(c *Config, _ *gateway.ListenerConfig) { c.maxSessions = 2 })
	var begun []string
	for range 2 {
		status, session, _ := send(t, listener, http.MethodPost, initialize, nil)
		if status != http.StatusOK {
			t.Fatalf("it is answered %d", status)
		}
		begun = append(begun, session)
	}
	if status, _, _ := send(t, listener, http.MethodPost, initialize, nil); status != http.StatusServiceUnavailable {
		t.Errorf("a third session is answered %d", status)
	}
	if status, _, _ := send(t, listener, http.MethodDelete, "",
		map[string]string{sessionHeader: begun[0]}); status != http.StatusNoContent {
		t.Errorf("ending a session is answered %d", status)
	}
	await(t, "there is room for another", func() bool { return server.sessions.find(begun[0]) == nil })
	if status, _, _ := send(t, listener, http.MethodPost, initialize, nil); status != http.StatusOK {
		t.Errorf("with room for it, a third is answered %d", status)
	}
}

func TestNoMessageRunsThousandsOfCallsAtOnce(t *testing.T) {
	hold := make(chan struct{})
	s := &sidecar{execute: func(context.Context, bailiff.Request, func(api.Approval)) (api.Answer, error) {
		<-hold
		return api.Answer{Status: bailiff.Completed}, nil
	}}
	_, listener := opened(t, s)
	_, session, _ := send(t, listener, http.MethodPost, strings.Replace(initialize, "2025-11-25", "2025-03-26", 1), nil)
	batch := make([]string, 2*maxCalls)
	for i := range batch {
		batch[i] = strings.Replace(callLS, `"id": 2`, fmt.Sprintf(`"id": %d`, 10+i), 1)
	}
	resp := post(t, listener, "["+strings.Join(batch, ",")+"]", session)
	lines := bufio.NewScanner(resp.Body)
	refused, ran := 0, 0
	for lines.Scan() {
		switch {
		case strings.Contains(lines.Text(), "Too many calls"):
			if refused++; refused == maxCalls {
				close(hold)
			}
		case strings.Contains(lines.Text(), "completed"):
			ran++
		}
	}
	if refused != maxCalls || ran != maxCalls {
		t.Errorf("%d calls were refused and %d ran, want %d of each", refused, ran, maxCalls)
	}
}

func TestACallThatPanicsTakesNothingWithIt(t *testing.T) {
	s := &sidecar{execute: func(context.Context, bailiff.Request, func(api.Approval)) (api.Answer, error) {
		panic("s3cret")
	}}
	_, listener := opened(t, s)
	c := connect(t, listener, versions[0], nil)
	if text, failed := use(t, c, "terminal", map[string]any{"command": "ls"}); !failed ||
		text != "The sidecar failed at this call; its log says how." {
		t.Errorf("it is answered %q, %v", text, failed)
	}
}
