package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

// sidecar is a fake behind real listeners.
type sidecar struct {
	execute func(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer
}

func (s sidecar) Execute(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
	return s.execute(ctx, req, news)
}
func (sidecar) Decide(_ context.Context, req bailiff.Request) bailiff.Decided {
	return bailiff.Decided{ID: req.Args.Command, Decision: bailiff.Decision{Outcome: bailiff.Ask,
		Approval: &bailiff.ApprovalTerms{Quorum: 2}}}
}
func (s sidecar) Preview(ctx context.Context, req bailiff.Request) bailiff.Decided {
	d := s.Decide(ctx, req)
	d.ID = "preview of " + d.ID
	return d
}
func (sidecar) Refuse(context.Context, string, bailiff.Reason) bailiff.Decided {
	return bailiff.Decided{}
}

func (sidecar) EndSession(_ context.Context, _, session string) (bailiff.Ended, error) {
	return bailiff.Ended{Sandboxes: len(session), Processes: 2}, nil
}
func (sidecar) Status(context.Context) api.Status { return api.Status{Version: "1.2.3"} }
func (sidecar) List(context.Context) []api.Sandbox {
	return []api.Sandbox{{ID: "sb1", Since: time.Unix(1, 0).UTC()}}
}
func (sidecar) Remove(_ context.Context, id string) (bool, error) { return id == "sb1", nil }
func (sidecar) Reap(context.Context) (int, error)                 { return 3, nil }

func agentListener(t *testing.T, s sidecar, c gateway.ListenerConfig) string {
	t.Helper()
	h, err := gateway.NewAgent(gateway.AgentConfig{Name: "hermes", Messaging: []string{"telegram"}, Enforcer: s, Tools: &toolbox{}})
	if err != nil {
		t.Fatal(err)
	}
	return open(t, c, h)
}

func open(t *testing.T, c gateway.ListenerConfig, h http.Handler) string {
	t.Helper()
	if c.Network == "" {
		c.Network, c.Address = "unix", filepath.Join(t.TempDir(), "a.sock")
	}
	d, err := gateway.Open(c, h)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = d.Serve() }()
	t.Cleanup(func() { _ = d.Shutdown(context.Background()) })
	return d.Address()
}

func clientOf(t *testing.T, address string) *Client {
	t.Helper()
	c, err := New(address, bailiff.Secret{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

var request = bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "true"},
	Session: bailiff.Session{ID: "s1", Platform: "telegram"}}

func TestExecutingTellsNewsAndEndsInTheAnswer(t *testing.T) {
	s := sidecar{func(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Step: "pulling image"})
		news(bailiff.Progress{Decision: &bailiff.Decided{ID: "d1", Decision: bailiff.Decision{Outcome: bailiff.Allow}}})
		news(bailiff.Progress{Approval: &bailiff.Approval{ID: "a-1", State: bailiff.ApprovalPending}})
		news(bailiff.Progress{Output: []byte("a\n")})
		news(bailiff.Progress{Output: []byte("\xff")})
		return bailiff.Answer{RequestID: req.ID, DecisionID: "d1", Status: bailiff.Completed, ExitCode: 7, Output: []byte("a\n\xff")}
	}}
	var told []string
	news := News{
		Decision: func(d api.Decided) { told = append(told, d.DecisionID+" "+d.Decision.Outcome.String()) },
		Approval: func(a api.Approval) { told = append(told, a.ID+" "+string(a.State)) },
		Output:   func(b []byte) { told = append(told, string(b)) },
		Step:     func(step string) { told = append(told, step) },
	}
	answer, err := clientOf(t, agentListener(t, s, gateway.ListenerConfig{})).Execute(t.Context(), request, news)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(told, "|"), "pulling image|d1 allow|a-1 pending|a\n|\xff"; got != want {
		t.Errorf("told %q, want %q", got, want)
	}
	if output, err := answer.Bytes(); err != nil || string(output) != "a\n\xff" || answer.ExitCode != 7 {
		t.Errorf("the answer is %+v", answer)
	}
	if _, err := clientOf(t, agentListener(t, s, gateway.ListenerConfig{})).Execute(t.Context(), request, News{}); err != nil {
		t.Errorf("without anybody to tell: %v", err)
	}
}

func TestEndingTheContextEndsTheRequest(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	s := sidecar{func(ctx context.Context, _ bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Output: []byte("a")})
		close(started)
		<-ctx.Done()
		close(ended)
		return bailiff.Answer{Status: bailiff.Interrupted}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := clientOf(t, agentListener(t, s, gateway.ListenerConfig{})).Execute(ctx, request, News{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	<-ended
}

func TestAProblemIsTheError(t *testing.T) {
	c := clientOf(t, agentListener(t, sidecar{}, gateway.ListenerConfig{}))
	_, err := c.Decide(t.Context(), []byte(`{"tool": "browser"}`))
	var p *api.Problem
	if !errors.As(err, &p) || p.Code != "invalid_request" || len(p.Errors) == 0 || p.Errors[0].At != "/tool" {
		t.Errorf("the error is %v", err)
	}
	foreign := request
	foreign.Session.Platform = "cli"
	if _, err := c.Execute(t.Context(), foreign, News{}); !errors.As(err, &p) || p.Code != "platform_not_allowed" {
		t.Errorf("the error is %v", err)
	}
}

func TestASidecarThatIsNotThereIsSaid(t *testing.T) {
	socket := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	for _, address := range []string{socket, "tcp://127.0.0.1:1"} {
		_, err := clientOf(t, address).Status(t.Context())
		if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "bailiff serve") || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: the error is %v", address, err)
		}
	}
}

func TestWhatIsNoSidecarIsSaid(t *testing.T) {
	for name, answer := range map[string]string{
		"another server's error":  "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found",
		"a stream without an end": "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: output\ndata: {\"seq\":1}\n\n",
		"a stream that is none":   "HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\nevent: result\ndata: nonsense\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				if c, err := l.Accept(); err == nil {
					_, _ = c.Read(make([]byte, 4096))
					_, _ = c.Write([]byte(answer))
					_ = c.Close()
				}
			}()
			if a, err := clientOf(t, "tcp://"+l.Addr().String()).Execute(t.Context(), request, News{}); err == nil {
				t.Errorf("it answered %+v", a)
			}
		})
	}
}

func TestTheTokenIsSent(t *testing.T) {
	token := bailiff.NewSecret("s3cret")
	address := agentListener(t, sidecar{}, gateway.ListenerConfig{Network: "tcp", Address: "127.0.0.1:0", Token: token})
	c, err := New(address, token)
	if err != nil {
		t.Fatal(err)
	}
	decided, err := c.Decide(t.Context(), []byte(`{"tool": "terminal", "args": {"command": "true"}, "session": {"id": "s", "platform": `+
		`"telegram"}}`))
	if err != nil || decided.DecisionID != "true" || decided.Decision.Outcome != bailiff.Ask || decided.Decision.Approval.Quorum != 2 {
		t.Errorf("decided %+v, %v", decided, err)
	}
	ahead, err := c.DecideAhead(t.Context(), []byte(`{"tool": "terminal", "args": {"command": "true"}, "session": {"id": "s", "platform": `+
		`"telegram"}}`))
	if err != nil || ahead.DecisionID != "preview of true" {
		t.Errorf("decided ahead %+v, %v", ahead, err)
	}
	if ended, err := c.EndSession(t.Context(), "a/b c"); ended.Removed != 5 || ended.Processes != 2 || err != nil {
		t.Errorf("ended %+v, %v", ended, err)
	}
}

func TestOperatorsAsk(t *testing.T) {
	c, _ := operators(t)
	if status, err := c.Status(t.Context()); err != nil || status.Version != "1.2.3" {
		t.Errorf("the status is %+v, %v", status, err)
	}
	if list, err := c.Sandboxes(t.Context()); err != nil || len(list) != 1 || list[0].ID != "sb1" {
		t.Errorf("the sandboxes are %+v, %v", list, err)
	}
	if err := c.RemoveSandbox(t.Context(), "sb1"); err != nil {
		t.Errorf("removing: %v", err)
	}
	var p *api.Problem
	if err := c.RemoveSandbox(t.Context(), "sb2"); !errors.As(err, &p) || p.Code != "sandbox_unknown" {
		t.Errorf("removing another: %v", err)
	}
	if n, err := c.Reap(t.Context()); n != 3 || err != nil {
		t.Errorf("reaped %d, %v", n, err)
	}
}

func TestAnAddressIsAUnixSocketOrAPort(t *testing.T) {
	for _, address := range []string{"", "/run/bailiff/agent.sock", "unix://", "http://127.0.0.1:80", "tcp:/x"} {
		if _, err := New(address, bailiff.Secret{}); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
}

func TestWhoeverStopsARequestHearsHowItEnded(t *testing.T) {
	started := make(chan struct{})
	s := sidecar{func(ctx context.Context, _ bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Output: []byte("a")})
		started <- struct{}{}
		<-ctx.Done()
		return bailiff.Answer{Status: bailiff.ApprovalRequired, ExitCode: bailiff.ExitPending, Message: "It waits."}
	}}
	c := clientOf(t, agentListener(t, s, gateway.ListenerConfig{}))
	for range 3 { // by a client that is used again
		stop := make(chan struct{})
		go func() { <-started; close(stop) }()
		answer, err := c.Execute(t.Context(), request, News{Stop: stop})
		if err != nil || answer.Status != bailiff.ApprovalRequired || answer.Message != "It waits." {
			t.Errorf("it ended as %+v, %v", answer, err)
		}
	}
}

func TestAStopThatComesTooLateEndsNoOtherRequest(t *testing.T) {
	var stop chan struct{}
	s := sidecar{func(ctx context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		if req.Args.Command == "slow" {
			select {
			case <-ctx.Done():
				return bailiff.Answer{Status: bailiff.Interrupted}
			case <-time.After(2 * time.Millisecond): // in which a late stop would come
			}
		} else {
			close(stop)
		}
		return bailiff.Answer{Status: bailiff.Completed}
	}}
	c := clientOf(t, agentListener(t, s, gateway.ListenerConfig{}))
	slow := request
	slow.Args.Command = "slow"
	for range 200 {
		stop = make(chan struct{})
		if _, err := c.Execute(t.Context(), request, News{Stop: stop}); err != nil {
			t.Fatal(err)
		}
		if answer, err := c.Execute(t.Context(), slow, News{}); err != nil || answer.Status != bailiff.Completed {
			t.Fatalf("the next request ended as %+v, %v", answer, err)
		}
	}
}

func TestARequestThatNoSidecarWouldReadIsNotSent(t *testing.T) {
	large := request
	large.Args.Command = strings.Repeat("x", gateway.LargestRequest)
	_, err := clientOf(t, "unix:///nowhere/a.sock").Execute(t.Context(), large, News{})
	var p *api.Problem
	if !errors.As(err, &p) || p.Code != "too_large" || errors.Is(err, ErrUncertain) {
		t.Errorf("the error is %v", err)
	}
}
