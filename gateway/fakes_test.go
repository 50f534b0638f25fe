package gateway

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// enforcer is a fake that remembers what it was asked.
type enforcer struct {
	execute func(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer

	// decide, if set, is what it decides.
	decide func() bailiff.Decision

	mu      sync.Mutex
	seen    []bailiff.Request
	refused []string // callers and rules
}

var allowed = bailiff.Decision{Outcome: bailiff.Allow, Revision: "r1"}

func (e *enforcer) note(req bailiff.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = append(e.seen, req)
}

func (e *enforcer) last(t testing.TB) bailiff.Request {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.seen) == 0 {
		t.Fatal("no request reached the enforcer")
	}
	return e.seen[len(e.seen)-1]
}

func (e *enforcer) Execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
	e.note(req)
	if e.execute != nil {
		return e.execute(ctx, req, news)
	}
	return completed(req, "hello\n")
}

func completed(req bailiff.Request, output string) bailiff.Answer {
	return bailiff.Answer{RequestID: req.ID, DecisionID: "d1", Status: bailiff.Completed, Output: []byte(output), Decision: allowed}
}

func (e *enforcer) Decide(_ context.Context, req bailiff.Request) bailiff.Decided {
	e.note(req)
	if e.decide != nil {
		return bailiff.Decided{ID: "d1", Decision: e.decide()}
	}
	return bailiff.Decided{ID: "d1", Decision: allowed}
}

func (e *enforcer) Preview(_ context.Context, req bailiff.Request) bailiff.Decided {
	e.note(req)
	return bailiff.Decided{ID: "p1", Decision: allowed}
}

func (e *enforcer) Refuse(_ context.Context, caller string, because bailiff.Reason) bailiff.Decided {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused = append(e.refused, caller+" "+because.Rule)
	return bailiff.Decided{ID: "r1", Decision: bailiff.Decision{Denials: []bailiff.Reason{because}}}
}

func (e *enforcer) EndSession(_ context.Context, caller, session string) (bailiff.Ended, error) {
	e.note(bailiff.Request{Caller: caller, Session: bailiff.Session{ID: session}})
	return bailiff.Ended{Sandboxes: 1, Processes: 2}, nil
}

var messaging = []string{"telegram", "discord", "slack"}

func agentOf(e Enforcer) AgentConfig {
	return AgentConfig{Name: "hermes", Messaging: messaging, DataPaths: []string{api.DecisionPath}, Enforcer: e, Tools: &toolbox{}}
}

func agentHandler(t testing.TB, c AgentConfig) http.Handler {
	t.Helper()
	h, err := NewAgent(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// open starts a listener on a socket of its own and closes it at the test's end.
func open(t testing.TB, c ListenerConfig, h http.Handler) *Listener {
	t.Helper()
	if c.Network == "" {
		c.Network, c.Address = "unix", filepath.Join(t.TempDir(), "a.sock")
	}
	if c.Name == "" {
		c.Name = "hermes"
	}
	d, err := Open(c, h)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what still runs is cancelled at once
		_ = d.Shutdown(ctx)
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return d
}

// caller speaks HTTP to a listener.
type caller struct {
	t      testing.TB
	client *http.Client
}

func callerOf(t testing.TB, d *Listener) caller {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return dialListener(ctx, d)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return caller{t, &http.Client{Transport: transport}}
}

func dialListener(ctx context.Context, d *Listener) (net.Conn, error) {
	network, address, _ := strings.Cut(d.Address(), "://")
	return new(net.Dialer).DialContext(ctx, network, address)
}

// reply is one whole answer.
type answerBytes struct {
	status int
	header http.Header
	body   []byte
}

func (c caller) do(method, path, body string, header ...string) answerBytes {
	c.t.Helper()
	r, err := http.NewRequest(method, "http://bailiff"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := c.client.Do(r)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s %s: reading the answer: %v", method, path, err)
	}
	return answerBytes{resp.StatusCode, resp.Header, text}
}

func (c caller) post(path, body string, header ...string) answerBytes {
	c.t.Helper()
	return c.do(http.MethodPost, path, body, header...)
}

// into reads the answer's JSON strictly.
func (a answerBytes) into(t testing.TB, status int, value any) {
	t.Helper()
	if a.status != status {
		t.Fatalf("status is %d, want %d: %s", a.status, status, bytes.TrimSpace(a.body))
	}
	if err := json.Unmarshal(a.body, value, json.RejectUnknownMembers(true), lenient); err != nil {
		t.Fatalf("reading %s: %v", a.body, err)
	}
}

func (a answerBytes) problem(t testing.TB, status int) api.Problem {
	t.Helper()
	var p api.Problem
	a.into(t, status, &p)
	return p
}

const telegramRequest = `{"tool": "terminal", "args": {"command": "git status"}, "session": {"id": "s1", "platform": "telegram"}}`
