package export

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// receiver is a decision log service, as strict as OPA's description of it.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu sync.Mutex
	// answer is the status for a batch of lines; zero takes it.
	answer func(lines []string) int
	taken  []string
	asked  int
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	lines := r.read(q)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	if r.answer != nil {
		if status := r.answer(lines); status != 0 {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"code": "invalid", "message": "no"}`)
			return
		}
	}
	r.taken = append(r.taken, lines...)
}

func (r *receiver) read(q *http.Request) (lines []string) {
	if q.Method != http.MethodPost || q.URL.Path != "/logs" || q.Header.Get("Content-Type") != "application/json" ||
		q.Header.Get("Content-Encoding") != "gzip" || q.Header.Get("Authorization") != "Bearer sesame-4711-and-more" {
		r.t.Errorf("asked %s %s with %v", q.Method, q.URL, q.Header)
	}
	body, err := gzip.NewReader(q.Body)
	if err != nil {
		r.t.Error(err)
		return nil
	}
	var events []json.RawMessage
	decoder := json.NewDecoder(body)
	if err := decoder.Decode(&events); err != nil || len(events) == 0 {
		r.t.Errorf("want an array of events: %v", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		r.t.Errorf("something follows the array: %v", err)
	}
	for _, event := range events {
		r.check(event)
		lines = append(lines, string(event))
	}
	return lines
}

// check holds an event against the fields that OPA's have.
func (r *receiver) check(event json.RawMessage) {
	var known struct {
		Labels      map[string]string `json:"labels"`
		DecisionID  string            `json:"decision_id"`
		Bundles     map[string]any    `json:"bundles"`
		Path        string            `json:"path"`
		Input       any               `json:"input"`
		Result      any               `json:"result"`
		RequestedBy string            `json:"requested_by"`
		Timestamp   time.Time         `json:"timestamp"`
		Metrics     map[string]any    `json:"metrics"`
		Error       any               `json:"error"`
		Custom      map[string]any    `json:"custom"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(event)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&known); err != nil || known.DecisionID == "" || known.Timestamp.IsZero() || known.Labels["app"] != "bailiff" {
		r.t.Errorf("%s: %v", event, err)
	}
}

// answers replaces how batches are answered.
func (r *receiver) answers(status func(lines []string) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = status
}

// always answers so, and holding where a batch has the event of an id.
func always(status int) func([]string) int { return func([]string) int { return status } }

func holding(id string, status int) func([]string) int {
	return func(lines []string) int {
		if strings.Contains(strings.Join(lines, ""), `"decision_id":"`+id+`"`) {
			return status
		}
		return 0
	}
}

// ids are those of the events that were taken.
func (r *receiver) ids() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, line := range r.taken {
		var event struct {
			ID string `json:"decision_id"`
		}
		_ = json.Unmarshal([]byte(line), &event)
		ids = append(ids, event.ID)
	}
	return strings.Join(ids, " ")
}

// counted is what an Exporter told.
type counted struct{ exported, refused, failed int }

func (c *counted) Exported(n int)      { c.exported += n }
func (c *counted) ExportRefused(n int) { c.refused += n }
func (c *counted) ExportFailed()       { c.failed++ }

// exporter sends the log of a folder to a receiver.
func (r *receiver) exporter(stateDir string) (*Exporter, *counted) {
	r.t.Helper()
	told := &counted{}
	token := filepath.Join(r.t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("sesame-4711-and-more"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	service, err := NewService(httpapi.Server{URL: r.URL + "/logs", Token: settings.Credential{File: token}}, nil)
	must(r.t, err)
	e, err := New(Config{StateDir: stateDir, Cursor: "exported.json", Observer: told, Receiver: service,
		Log: slog.New(slog.DiscardHandler)})
	must(r.t, err)
	return e, told
}

// newLog opens a log whose segments hold a few events each.
func newLog(t *testing.T, stateDir string) *audit.Log {
	t.Helper()
	log, err := audit.Open(audit.Config{StateDir: stateDir, Bounds: audit.Bounds{SegmentBytes: 1500}})
	must(t, err)
	t.Cleanup(func() { _ = log.Close() })
	return log
}

// record writes an event for each id.
func record(t *testing.T, log *audit.Log, ids ...string) {
	t.Helper()
	for _, id := range ids {
		err := log.Record(t.Context(), api.Event{DecisionID: id, Timestamp: time.Now().Add(-time.Minute),
			Result: map[string]string{"outcome": "deny"}, Custom: api.Custom{Event: api.DecisionEvent}})
		must(t, err)
	}
}

// numbers are the ids from one to another.
func numbers(from, to int) (ids []string) {
	for i := from; i <= to; i++ {
		ids = append(ids, fmt.Sprint(i))
	}
	return ids
}
