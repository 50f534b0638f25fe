package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff/api"
)

// labels say whose event it is, as OPA has them in every event.
const labels = `{"app":"bailiff"}`

// marshal writes an event as a line without its end: the two closing braces,
// of custom and of the event, which come after the chain's fields.
//
// It is written out by hand because every request pays for it twice; a test
// holds it against encoding/json.
func marshal(e api.Event) ([]byte, error) {
	w := &lineWriter{buf: make([]byte, 0, 4096)}
	w.open()
	w.text("decision_id", e.DecisionID)
	w.optional("trace_id", e.TraceID)
	w.optional("span_id", e.SpanID)
	w.time("timestamp", e.Timestamp)
	w.optional("path", e.Path)
	w.marshaler("input", e.Input)
	w.any("result", e.Result)
	w.bundles(e.Bundles)
	w.optional("requested_by", e.RequestedBy)
	w.numbers("metrics", e.Metrics)
	if e.Error != nil {
		w.any("error", e.Error)
	}
	w.raw("labels", []byte(labels), nil)
	w.key("custom")
	w.custom(e.Custom)
	return w.buf, w.err
}

func (w *lineWriter) custom(c api.Custom) {
	w.open()
	w.text("event", string(c.Event))
	w.optional("request_id", c.RequestID)
	w.optional("digest", c.Digest)
	w.optional("session", c.Session)
	if c.Agent.IsSub() {
		w.any("agent", c.Agent)
	}
	w.optional("status", string(c.Status))
	if c.ExitCode != nil {
		w.number("exit_code", int64(*c.ExitCode))
	}
	w.optional("backend", c.Backend)
	w.optional("sandbox_id", c.SandboxID)
	w.optional("message", c.Message)
	if c.Approval != nil {
		w.any("approval", c.Approval)
	}
	if c.BreakGlass != nil {
		w.any("break_glass", c.BreakGlass)
	}
	if c.Rollback != nil {
		w.any("rollback", c.Rollback)
	}
	if c.Snapshot != nil {
		w.any("snapshot", c.Snapshot)
	}
	if c.Undo != nil {
		w.any("undo", c.Undo)
	}
	if c.MCP != nil {
		w.any("mcp", c.MCP)
	}
	if c.Shadow != nil {
		w.any("shadow", c.Shadow)
	}
	if c.Connection != nil {
		w.any("connection", c.Connection)
	}
	if c.Nanoseconds != 0 {
		w.number("duration_ns", c.Nanoseconds)
	}
}

type lineWriter struct {
	buf   []byte
	first bool
	err   error
}

func (w *lineWriter) open()  { w.buf = append(w.buf, '{'); w.first = true }
func (w *lineWriter) close() { w.buf = append(w.buf, '}'); w.first = false }

func (w *lineWriter) key(name string) {
	if !w.first {
		w.buf = append(w.buf, ',')
	}
	w.first = false
	w.buf = appendString(w.buf, name)
	w.buf = append(w.buf, ':')
}

func (w *lineWriter) text(name, value string) {
	w.key(name)
	w.buf = appendString(w.buf, value)
}

func (w *lineWriter) optional(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *lineWriter) number(name string, n int64) {
	w.key(name)
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

func (w *lineWriter) time(name string, at time.Time) {
	w.key(name)
	w.buf = append(w.buf, '"')
	w.buf = at.UTC().AppendFormat(w.buf, time.RFC3339Nano)
	w.buf = append(w.buf, '"')
}

func (w *lineWriter) marshaler(name string, m json.Marshaler) {
	if m == nil {
		return
	}
	text, err := m.MarshalJSON()
	w.raw(name, text, err)
}

func (w *lineWriter) any(name string, value any) {
	if value == nil {
		return
	}
	text, err := json.Marshal(value)
	w.raw(name, text, err)
}

// raw adds JSON that something else wrote; only its line breaks are looked at.
func (w *lineWriter) raw(name string, text []byte, err error) {
	if err != nil {
		w.err = fmt.Errorf("writing the event's %s: %w", name, err)
		return
	}
	w.key(name)
	if bytes.IndexByte(text, '\n') < 0 {
		w.buf = append(w.buf, text...)
		return
	}
	compact := bytes.NewBuffer(w.buf)
	if err := json.Compact(compact, text); err != nil {
		w.err = fmt.Errorf("writing the event's %s: %w", name, err)
	}
	w.buf = compact.Bytes()
}

func (w *lineWriter) bundles(bundles map[string]api.Bundle) {
	if len(bundles) == 0 {
		return
	}
	w.key("bundles")
	w.open()
	for _, name := range keys(bundles) {
		w.key(name)
		w.open()
		w.text("revision", bundles[name].Revision)
		w.close()
	}
	w.close()
}

func (w *lineWriter) numbers(name string, numbers map[string]int64) {
	if len(numbers) == 0 {
		return
	}
	w.key(name)
	w.open()
	for _, n := range keys(numbers) {
		w.number(n, numbers[n])
	}
	w.close()
}

func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string; what is not UTF-8 becomes U+FFFD.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for plain := 0; ; {
		n := plainPrefix(s[plain:])
		buf = append(buf, s[plain:plain+n]...)
		plain += n
		if plain == len(s) {
			return append(buf, '"')
		}
		r, size := utf8.DecodeRuneInString(s[plain:])
		buf = appendRune(buf, r)
		plain += size
	}
}

func plainPrefix(s string) int {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return i
		}
	}
	return len(s)
}

func appendRune(buf []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(buf, '\\', byte(r))
	case r < ' ' || r == 0x7f:
		return append(buf, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
	}
	return utf8.AppendRune(buf, r)
}
