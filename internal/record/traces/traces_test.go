package traces

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// receiver takes OTLP, as a collector does.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []*tracepb.Span
	raw     []byte
	refuses int // the status of its answers; 0 is a yes
	came    chan struct{}
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{came: make(chan struct{}, 1000)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		defer func() { r.came <- struct{}{} }()
		if r.refuses != 0 {
			w.WriteHeader(r.refuses)
			return
		}
		unpacked, err := gzip.NewReader(q.Body)
		if err != nil {
			t.Errorf("unpacking: %v", err)
			return
		}
		text, err := io.ReadAll(unpacked)
		var sent tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(text, &sent)
		}
		if err != nil || q.Method != http.MethodPost || q.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s of %s came, %v", q.Method, q.Header.Get("Content-Type"), err)
		}
		r.raw = append(r.raw, text...)
		for _, of := range sent.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				r.spans = append(r.spans, scope.Spans...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) refuse(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuses = status
}

func (r *receiver) took() map[string]*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]*tracepb.Span{}
	for _, s := range r.spans {
		all[s.Name] = s
	}
	return all
}

// counted counts spans.
type counted struct {
	mu                sync.Mutex
	exported, dropped int
}

func (c *counted) SpansExported(n int) { c.mu.Lock(); defer c.mu.Unlock(); c.exported += n }
func (c *counted) SpansDropped(n int)  { c.mu.Lock(); defer c.mu.Unlock(); c.dropped += n }
func (c *counted) both() (exported, dropped int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exported, c.dropped
}

// written is a log that can be read while it is written.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}
func (w *written) String() string { w.mu.Lock(); defer w.mu.Unlock(); return w.text.String() }

func tracing(t testing.TB, url string, change func(*Config)) (*Tracer, *counted, *written) {
	t.Helper()
	counts, log := &counted{}, &written{}
	c := Config{Receiver: httpapi.Server{URL: url}, Sample: 1, Version: "1.2.3", Observer: counts,
		Log:   slog.New(slog.NewTextHandler(log, nil)),
		Scrub: func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("hunter22"), []byte("[secret]")) }}
	if change != nil {
		change(&c)
	}
	tracer, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return tracer, counts, log
}

const agents = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestPartsOfARequestAreWithinItAndItIsWithinItsAgentsTrace(t *testing.T) {
	r := newReceiver(t)
	tracer, counts, _ := tracing(t, r.URL, nil)
	request := tracer.Begin(tracer.Continue(t.Context(), agents), "request")
	decide := tracer.Begin(request, "decide")
	tracer.End(decide, bailiff.Span{Outcome: "deny", Rules: []string{"a.b", "c.d"}})
	exec := tracer.Begin(request, "exec")
	call := tracer.Begin(exec, "call")
	tracer.End(call, bailiff.Span{})
	tracer.End(exec, bailiff.Span{Failed: true})
	traceID, spanID := tracer.IDs(request)
	tracer.End(request, bailiff.Span{Tool: bailiff.Terminal, Platform: "slack", Unattended: true})
	tracer.Close()
	spans := r.took()
	if len(spans) != 4 {
		t.Fatalf("%d spans came", len(spans))
	}
	for name, parent := range map[string][]byte{"decide": spans["request"].SpanId, "exec": spans["request"].SpanId,
		"call": spans["exec"].SpanId} {
		if !bytes.Equal(spans[name].ParentSpanId, parent) {
			t.Errorf("%s is within %x, want %x", name, spans[name].ParentSpanId, parent)
		}
	}
	root := spans["request"]
	if got := hex.EncodeToString(root.TraceId); got != "4bf92f3577b34da6a3ce929d0e0e4736" || got != traceID || TraceID(call) != traceID {
		t.Errorf("the trace is %s, said to be %s and %s", got, traceID, TraceID(call))
	}
	if hex.EncodeToString(root.ParentSpanId) != "00f067aa0ba902b7" || hex.EncodeToString(root.SpanId) != spanID ||
		root.Kind != tracepb.Span_SPAN_KIND_SERVER {
		t.Errorf("the request is %v", root)
	}
	if s := spans["exec"]; s.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || s.EndTimeUnixNano < s.StartTimeUnixNano {
		t.Errorf("what failed is %v", s)
	}
	if text := fmt.Sprint(spans["decide"].Attributes); !strings.Contains(text, "a.b") || !strings.Contains(text, "c.d") {
		t.Errorf("a denial says %s", text)
	}
	if exported, dropped := counts.both(); exported != 4 || dropped != 0 {
		t.Errorf("%d are counted as exported and %d as lost", exported, dropped)
	}
}

func TestARequestWithoutAnAgentsTraceBeginsOne(t *testing.T) {
	r := newReceiver(t)
	tracer, _, _ := tracing(t, r.URL, nil)
	for name, parent := range map[string]string{
		"nothing": "", "no header": "hello", "too few parts": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
		"a trace of zeros": "00-00000000000000000000000000000000-00f067aa0ba902b7-01", "capital letters": strings.ToUpper(agents),
		"a span of zeros": "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "a version that is none": "ff" + agents[2:],
		"more than there is": agents + "-01", "a line more": agents + "\r\nX: y", "much": agents + "-" + strings.Repeat("0", 1<<20),
	} {
		ctx := tracer.Begin(tracer.Continue(t.Context(), parent), name)
		if id := TraceID(ctx); len(id) != 32 || id == agents[3:35] {
			t.Errorf("of %s the trace is %q", name, id)
		}
		tracer.End(ctx, bailiff.Span{})
	}
	tracer.Close()
	spans := r.took()
	if len(spans) != 10 {
		t.Errorf("%d spans came", len(spans))
	}
	for name, s := range spans {
		if len(s.ParentSpanId) != 0 {
			t.Errorf("of %s the parent is %x", name, s.ParentSpanId)
		}
	}
}

func TestWhatIsToldIsScrubbedAndCutAndHasNoCommandUnlessConfigured(t *testing.T) {
	said := bailiff.Span{RequestID: strings.Repeat("r", 10_000), Platform: "hunter22", Text: "echo hunter22 " + strings.Repeat("x", 10_000)}
	for range 100 {
		said.Rules = append(said.Rules, strings.Repeat("rule", 1000))
	}
	for commands, want := range map[bool]string{false: "", true: "echo [secret] xxx"} {
		r := newReceiver(t)
		tracer, _, _ := tracing(t, r.URL, func(c *Config) { c.Commands = commands })
		tracer.End(tracer.Begin(t.Context(), "request"), said)
		tracer.Close()
		all := string(r.raw)
		if len(r.took()) != 1 || len(all) > 5000 || strings.Contains(all, "hunter22") || !strings.Contains(all, "[secret]") {
			t.Errorf("%d spans in %d bytes came: %q", len(r.took()), len(all), bailiff.Beginning(all, 300))
		}
		if strings.Contains(all, "echo") != commands || !strings.Contains(all, want) {
			t.Errorf("with commands %v they are told %v", commands, strings.Contains(all, "echo"))
		}
	}
}

func TestHowManyAreToldIsNotForAgentsToSay(t *testing.T) {
	r := newReceiver(t)
	begun := func(sample float64, parent func(n int) string) (told int) {
		tracer, _, _ := tracing(t, r.URL, func(c *Config) { c.Sample = sample })
		defer tracer.Close()
		for n := range 2000 {
			ctx := tracer.Begin(tracer.Continue(t.Context(), parent(n)), "request")
			within := tracer.Begin(ctx, "decide")
			if TraceID(ctx) != TraceID(within) {
				t.Fatal("a part is told of and the request is not")
			}
			if TraceID(ctx) != "" {
				told++
			}
		}
		return told
	}
	wanted := func(flags string) func(int) string {
		return func(n int) string { return fmt.Sprintf("00-%032x-00f067aa0ba902b7-%s", n+1, flags) }
	}
	none := func(int) string { return "" }
	same := func(int) string { return agents }
	for name, c := range map[string]struct {
		sample      float64
		parent      func(int) string
		least, most int
	}{
		"all, of nobody's":                  {1, none, 2000, 2000},
		"all, as agents want":               {1, wanted("01"), 2000, 2000},
		"all, but agents do not want":       {1, wanted("00"), 0, 0},
		"none, whatever agents want":        {0, wanted("01"), 0, 0},
		"none, of nobody's":                 {0, none, 0, 0},
		"a quarter, whatever agents want":   {.25, wanted("01"), 350, 650},
		"a quarter, of nobody's":            {.25, none, 350, 650},
		"nearly none, by ids that are made": {.001, wanted("01"), 0, 20},
	} {
		if told := begun(c.sample, c.parent); told < c.least || told > c.most {
			t.Errorf("%s: %d of 2000 are told, want %d to %d", name, told, c.least, c.most)
		}
	}
	if told := begun(.5, same); told != 0 && told != 2000 {
		t.Errorf("%d of 2000 requests of one trace are told", told)
	}
}

func TestAReceiverThatIsDownIsToldOfOnceAndWhatIsLostIsCounted(t *testing.T) {
	r := newReceiver(t)
	r.refuse(http.StatusForbidden)
	tracer, counts, log := tracing(t, r.URL, nil)
	one := func() {
		tracer.End(tracer.Begin(t.Context(), "request"), bailiff.Span{})
		<-r.came
	}
	one()
	one()
	r.refuse(0)
	one()
	r.refuse(http.StatusForbidden)
	one()
	tracer.Close()
	if exported, dropped := counts.both(); exported != 1 || dropped != 3 {
		t.Errorf("%d are counted as exported and %d as lost", exported, dropped)
	}
	const told, again = "traces are not exported", "traces are exported again"
	if text := log.String(); strings.Count(text, told) != 2 || strings.Count(text, again) != 1 || !strings.Contains(text, "answered 403") {
		t.Errorf("the log says %s", text)
	}
}

func TestNobodyWaitsForAReceiverThatHangs(t *testing.T) {
	hanging := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hanging }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(hanging) })
	tracer, counts, log := tracing(t, server.URL, nil)
	const many = queueLength + 2*batchLength
	for range many {
		tracer.End(tracer.Begin(t.Context(), "request"), bailiff.Span{})
	}
	tracer.Close() // comes back while the server still hangs, as the spans before it did
	tracer.End(tracer.Begin(t.Context(), "late"), bailiff.Span{})
	if exported, dropped := counts.both(); exported != 0 || dropped != many {
		t.Errorf("%d are counted as exported and %d as lost, of %d", exported, dropped, many)
	}
	if !strings.Contains(log.String(), "traces are not exported") {
		t.Errorf("the log says %s", log)
	}
}

func TestAConfigIsToldAllThatItLacks(t *testing.T) {
	_, err := New(Config{Version: "1.2.3", Scrub: bytes.Clone})
	if err == nil || err.Error() != "traces config lacks Log, Observer, Receiver" {
		t.Errorf("it came to %v", err)
	}
}

func BenchmarkARequest(b *testing.B) {
	for name, sample := range map[string]float64{"told": 1, "untold": 0} {
		b.Run(name, func(b *testing.B) {
			tracer, _, _ := tracing(b, "http://127.0.0.1:1", func(c *Config) { c.Sample = sample })
			b.Cleanup(tracer.Close)
			b.ReportAllocs()
			for b.Loop() {
				ctx := tracer.Begin(context.Background(), "request")
				tracer.End(tracer.Begin(ctx, "decide"), bailiff.Span{Tool: bailiff.Terminal, Platform: "slack", Outcome: "allow"})
				tracer.End(ctx, bailiff.Span{Tool: bailiff.Terminal, Platform: "slack", Outcome: "completed"})
			}
		})
	}
}
