package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

// stuck is a sidecar that takes each request, says something and then nothing more.
func stuck(t *testing.T, says string) *Client {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = c.Write([]byte(says))
			}
		}
	}()
	return clientOf(t, "tcp://"+l.Addr().String())
}

func TestASidecarThatStaysSilentIsGivenUp(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	for name, says := range map[string]string{
		"from the beginning":           "",
		"within the head":              "HTTP/1.1 200 OK\r\nContent-Ty",
		"after a sign of life":         head + ": still here\n\n",
		"in the middle of a long line": head + "event: result\ndata: " + strings.Repeat(" ", 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			c := stuck(t, says)
			c.patience = 50 * time.Millisecond
			if _, err := c.Execute(t.Context(), request, News{}); !errors.Is(err, errSilent) || !errors.Is(err, ErrUncertain) ||
				!strings.Contains(err.Error(), c.address) {
				t.Errorf("a request: %v", err)
			}
			if err := c.Events(t.Context(), func(string, []byte) error { return nil }); !errors.Is(err, errSilent) {
				t.Errorf("events: %v", err)
			}
			if _, err := c.Decide(t.Context(), []byte("{}")); err == nil {
				t.Error("it decided")
			}
		})
	}
}

func TestASidecarThatLivesIsNotGivenUp(t *testing.T) {
	c := clientOf(t, open(t, gateway.ListenerConfig{}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 4 {
			_, _ = w.Write([]byte(": still here\n\n"))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(300 * time.Millisecond) // silence is what is tried
		}
		_, _ = w.Write([]byte(`event: result` + "\n" +
			`data: {"request_id": "", "decision_id": "", "status": "denied", "exit_code": 126, "output": "", "output_encoding": "utf8",` +
			` "truncated": false, "duration_seconds": 0, "backend": "", "sandbox_id": "", "process_id": "", "message": "no"}` + "\n\n"))
	})))
	c.patience = time.Second
	if answer, err := c.Execute(t.Context(), request, News{}); err != nil || answer.Status != bailiff.Refused {
		t.Errorf("it answered %+v, %v", answer, err)
	}
}

func TestASidecarThatEndsASessionForLongIsNotGivenUpWhileItAnswersOthers(t *testing.T) {
	asked := make(chan struct{}, 1000)
	c := clientOf(t, open(t, gateway.ListenerConfig{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/healthz" {
			_, _ = w.Write([]byte("{}"))
			asked <- struct{}{}
			return
		}
		for range 3 {
			select {
			case <-asked:
			case <-r.Context().Done():
				return
			}
		}
		_, _ = w.Write([]byte(`{"removed": 1, "processes": 0, "unremoved": 0}`))
	})))
	c.patience = 10 * time.Millisecond
	if ended, err := c.EndSession(t.Context(), "s1"); err != nil || ended.Removed != 1 {
		t.Errorf("it answered %+v, %v", ended, err)
	}

	c = stuck(t, "")
	c.patience, c.prompt = 10*time.Millisecond, 10*time.Millisecond
	if _, err := c.EndSession(t.Context(), "s1"); err == nil || !strings.Contains(err.Error(), "did not answer it within 0.01 s") {
		t.Errorf("a sidecar that answers no client: %v", err)
	}
}

func TestWhileTheCallerIsBusySilenceSaysNothing(t *testing.T) {
	s := sidecar{func(_ context.Context, _ bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{ToolCall: &bailiff.ToolCall{ID: "c1", Name: "web_search", Arguments: "{}"}})
		return bailiff.Answer{Status: bailiff.Completed}
	}}
	c := clientOf(t, agentListener(t, s, gateway.ListenerConfig{}))
	c.patience = 200 * time.Millisecond
	answer, err := c.Execute(t.Context(), request, News{ToolCall: func(api.ToolCall) { time.Sleep(2 * c.patience) }}) // as a slow tool does
	if err != nil || answer.Status != bailiff.Completed {
		t.Errorf("it answered %+v, %v", answer, err)
	}
}

func TestRequestsThatFollowEachOtherShareAConnection(t *testing.T) {
	connections := 0 // made one after the other
	h, err := gateway.NewAgent(gateway.AgentConfig{Name: "hermes", Messaging: []string{"telegram"}, Tools: &toolbox{},
		Enforcer: sidecar{func(context.Context, bailiff.Request, func(bailiff.Progress)) bailiff.Answer {
			return bailiff.Answer{DecisionID: "d1", Status: bailiff.Completed}
		}}})
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, open(t, gateway.ListenerConfig{}, h))
	transport := c.http.Transport.(*http.Transport)
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		connections++
		return dial(ctx, network, address)
	}
	for range 5 {
		if _, err := c.Execute(t.Context(), request, News{}); err != nil {
			t.Fatal(err)
		}
	}
	if connections != 1 {
		t.Errorf("five requests took %d connections", connections)
	}
}

func TestAStreamThatDoesNotEndAfterItsResultHoldsNobodyUp(t *testing.T) {
	whole, err := json.Marshal(api.Answer{RequestID: "r1", Status: bailiff.Completed, OutputEncoding: "utf8"})
	if err != nil {
		t.Fatal(err)
	}
	c := stuck(t, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: result\ndata: "+string(whole)+"\n\n")
	c.patience = time.Hour
	if answer, err := c.Execute(t.Context(), request, News{}); err != nil || answer.Status != bailiff.Completed {
		t.Errorf("it is answered %+v, %v", answer, err)
	}
}
