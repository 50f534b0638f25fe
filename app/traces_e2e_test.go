package app

import (
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// collector takes traces, as OpenTelemetry's does.
type collector struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   strings.Builder
}

func serveCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		var sent tracepb.TracesData
		unpacked, err := gzip.NewReader(r.Body)
		if err == nil {
			var text []byte
			text, err = io.ReadAll(unpacked)
			c.raw.Write(text)
			if err == nil {
				err = proto.Unmarshal(text, &sent)
			}
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("at %s came no traces: %v", r.URL.Path, err)
		}
		fmt.Fprint(&c.raw, r.Header)
		for _, of := range sent.ResourceSpans {
			c.spans = append(c.spans, of.ScopeSpans[0].Spans...)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// named are the spans of one name, in the order of their ends.
func (c *collector) named(name string) []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.spans), func(s *tracepb.Span) bool { return s.Name != name })
}

func attributeOf(s *tracepb.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == "bailiff."+key {
			if list := a.Value.GetArrayValue(); list != nil {
				return fmt.Sprint(list.Values)
			}
			return a.Value.GetStringValue()
		}
	}
	return ""
}

const (
	agentsTrace  = "4bf92f3577b34da6a3ce929d0e0e4736"
	agentsSpan   = "00f067aa0ba902b7"
	agentsParent = "00-" + agentsTrace + "-" + agentsSpan + "-01"
)

func TestARequestIsATraceFromItsAgentToItsCommand(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijklmnopqrstuv"
	t.Setenv("GITHUB_TOKEN", secret)
	c := serveCollector(t)
	d := startCounted(t, "traces: {url: \""+c.URL+"/v1/traces\"}")
	config := filepath.Join(t.TempDir(), "prometheus.yml")
	save(t, config, fmt.Sprintf("scrape_configs: [{job_name: bailiff, scrape_interval: 1s, static_configs: [{targets: [%q]}]}]",
		d.probes.listener.Addr()))
	prometheus := apptest.ServePrometheus(t, config)

	req := d.removal("traced")
	req.ID = "id-" + secret
	req.Env = []string{"GITHUB_TOKEN"}
	e := send(gateway.WithTraceparent(t.Context(), agentsParent), d.agent, req)
	mustApprove(t, d.operator, e.question(t), "")
	a := e.end(t)
	wants(t, a, bailiff.Completed, "")

	t.Run("its histograms lead to it", func(t *testing.T) {
		for _, metric := range []string{"bailiff_decision_duration_seconds_bucket", "bailiff_approval_wait_seconds_bucket",
			"bailiff_execution_duration_seconds_bucket", "bailiff_sandbox_start_duration_seconds_bucket"} {
			var last string
			awaittest.Until(t, "an exemplar of "+metric, func() bool {
				found, err := prometheus.Exemplars(metric)
				last = fmt.Sprint(found, err)
				return err == nil && slices.ContainsFunc(found,
					func(labels map[string]string) bool { return labels["trace_id"] == agentsTrace })
			})
			t.Log(metric, last)
		}
	})
	d.stop()

	t.Run("its parts are within it, and it within its agent's", func(t *testing.T) {
		roots := c.named("request")
		if len(roots) != 1 {
			t.Fatalf("%d requests came", len(roots))
		}
		root := roots[0]
		if hex.EncodeToString(root.TraceId) != agentsTrace || hex.EncodeToString(root.ParentSpanId) != agentsSpan {
			t.Errorf("the request is %x within %x", root.TraceId, root.ParentSpanId)
		}
		// It comes to its sandbox before the question, where its paths are looked at, and to run.
		for name, n := range map[string]int{"decide": 2, "approve": 1, "start": 2, "exec": 1} {
			parts := c.named(name)
			if len(parts) != n {
				t.Errorf("%d parts are called %s, want %d", len(parts), name, n)
			}
			for _, part := range parts {
				if !slices.Equal(part.ParentSpanId, root.SpanId) || !slices.Equal(part.TraceId, root.TraceId) {
					t.Errorf("%s is within %x of %x", name, part.ParentSpanId, part.TraceId)
				}
				if part.StartTimeUnixNano < root.StartTimeUnixNano || part.EndTimeUnixNano > root.EndTimeUnixNano {
					t.Errorf("%s lasts longer than its request", name)
				}
			}
		}
		for key, want := range map[string]string{"tool": "terminal", "platform": "cli", "backend": "local",
			"outcome": "completed", "request_id": "id-[GITHUB_TOKEN redacted]", "decision_id": a.DecisionID} {
			if got := attributeOf(root, key); got != want {
				t.Errorf("of the request %s is %q, want %q", key, got, want)
			}
		}
		if rules := attributeOf(c.named("approve")[0], "rules"); !strings.Contains(rules, "command.deletes_recursively") {
			t.Errorf("what was asked about is %s", rules)
		}
	})

	t.Run("nothing of it says what ran, or a secret", func(t *testing.T) {
		for _, never := range []string{secret, "rm -rf", "nothing", "tee -a", "ledger"} {
			if strings.Contains(c.raw.String(), never) {
				t.Errorf("%q was sent", never)
			}
		}
	})

	t.Run("the decision log names it", func(t *testing.T) {
		events := map[api.EventKind]int{}
		for _, line := range logLines(t, d.folder) {
			if line.TraceID == agentsTrace {
				events[line.Custom.Event]++
			}
			if line.Custom.Event == api.ExecutionEvent && line.SpanID != hex.EncodeToString(c.named("request")[0].SpanId) {
				t.Errorf("its execution is part of %q", line.SpanID)
			}
		}
		if events[api.DecisionEvent] != 2 || events[api.ExecutionEvent] != 1 || events[api.ApprovalEvent] < 2 {
			t.Errorf("the log names it in %v", events)
		}
	})
}

func logLines(t *testing.T, folder string) (lines []api.Line) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "state/decisions/*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the decision log is %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for line := range strings.Lines(string(text)) {
			read, err := api.ReadLine([]byte(line))
			must(t, err)
			lines = append(lines, read)
		}
	}
	return lines
}

func TestADecisionOfAnyClientIsTraced(t *testing.T) {
	t.Parallel()
	c := serveCollector(t)
	d := startCounted(t, "traces: {url: \""+c.URL+"/v1/traces\", commands: true}")
	address, path := strings.TrimPrefix(d.cfg.Agent.Listeners[0].Listen.String(), "unix://"), "/v1/data/bailiff/decision"
	answer := askSocket(t, address, path, `{"input": {"tool": "terminal", "args": {"command": "echo traced"}, `+
		`"session": {"id": "s", "platform": "telegram"}}}`,
		http.Header{"Traceparent": {agentsParent}})
	if !strings.Contains(answer, `"decision_id"`) {
		t.Errorf("the answer is %s", answer)
	}
	d.stop()
	requests, decisions := c.named("request"), c.named("decide")
	if len(requests) != 1 || len(decisions) != 1 || hex.EncodeToString(requests[0].TraceId) != agentsTrace ||
		!slices.Equal(decisions[0].ParentSpanId, requests[0].SpanId) {
		t.Fatalf("%v and %v came", requests, decisions)
	}
	if attributeOf(requests[0], "command") != "echo traced" || attributeOf(requests[0], "outcome") != "allow" ||
		attributeOf(decisions[0], "outcome") != "allow" {
		t.Errorf("they say %v and %v", requests[0].Attributes, decisions[0].Attributes)
	}
}

// askSocket posts a body to a listener.
func askSocket(t *testing.T, socket, path, body string, header http.Header) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://bailiff"+path, strings.NewReader(body))
	must(t, err)
	r.Header = header
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return string(text)
}

func TestADeadReceiverOfTracesHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	d := startCounted(t, "traces: {url: \""+gone.URL+"/v1/traces\"}")
	wants(t, ask(t, d.agent, atTerminal("dead", "echo fine")), bailiff.Completed, "")
	d.stop() // and comes to an end
	if n := strings.Count(d.log.String(), "traces are not exported"); n != 1 {
		t.Errorf("the log tells it %d times: %s", n, d.log)
	}
}
