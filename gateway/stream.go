package gateway

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// wantsStream tells whether the client takes an event stream.
func wantsStream(r *http.Request) bool {
	for _, accept := range r.Header["Accept"] {
		if strings.Contains(accept, "text/event-stream") {
			return true
		}
	}
	return false
}

// stream executes a request and tells of it as it goes. However that ends, the
// last event is a result.
func (a *agent) stream(w http.ResponseWriter, r *http.Request, req bailiff.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := &stream{w: w, control: http.NewResponseController(w), console: a.config.Console, gone: cancel}
	defer s.beat(a.config.keepAlive)()
	defer func() {
		if cause := recover(); cause != nil {
			s.broken(req)
			panic(cause)
		}
	}()
	s.end(a.config.Enforcer.Execute(ctx, req, s.news))
}

// keepAlive is how often a stream says that it lives, which tells a command that
// prints nothing from a sidecar that is stuck.
const keepAlive = 10 * time.Second

// stream writes server-sent events.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	console string             // the web page's address
	gone    context.CancelFunc // called when the client takes no more
	seq     int
	rest    []byte // the start of a character whose end is still to come

	mu      sync.Mutex // events and signs of life come from different sides
	started bool
	ended   bool
	pulse   *time.Timer
	buf     bytes.Buffer
}

// beat has the stream say from time to time that it lives, until it is told that
// its handler is over.
func (s *stream) beat(pace time.Duration) (over func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pulse = time.AfterFunc(pace, func() {
		if s.comment("still here") {
			s.pulse.Reset(pace)
		}
	})
	return s.over
}

func (s *stream) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.pulse.Stop()
}

func (s *stream) news(p bailiff.Progress) {
	if p.Decision != nil {
		s.event("decision", api.Decided{DecisionID: p.Decision.ID, Decision: p.Decision.Decision.ForSender()})
		return
	}
	if p.Approval != nil {
		s.event("approval", toldApproval(p.Approval, s.console))
		return
	}
	if p.ToolCall != nil {
		s.event("tool_call", api.ToolCall{ID: p.ToolCall.ID, Name: p.ToolCall.Name, Arguments: []byte(p.ToolCall.Arguments)})
		return
	}
	if p.Step != "" {
		s.event("progress", api.Progress{Step: p.Step})
		return
	}
	if p.Blocked != nil {
		s.event("egress", p.Blocked)
		return
	}
	whole, rest := splitCharacter(append(s.rest, p.Output...))
	s.output(whole)
	s.rest = append([]byte(nil), rest...)
}

func (s *stream) output(piece []byte) {
	if len(piece) == 0 {
		return
	}
	s.seq++
	data, encoding := api.Encode(piece)
	s.event("output", api.Output{Seq: s.seq, Data: data, Encoding: encoding})
}

func (s *stream) end(answer bailiff.Answer) {
	s.output(s.rest)
	s.event("result", wireAnswer(answer, s.console))
}

// broken ends a stream whose request panicked; one that has not begun is left
// to the listener, which answers 500.
func (s *stream) broken(req bailiff.Request) {
	if s.begun() {
		s.event("result", wireAnswer(bailiff.Answer{RequestID: req.ID, Status: bailiff.Failed, Code: "internal",
			ExitCode: bailiff.ExitFailed, Message: internalFault}, s.console))
	}
}

func (s *stream) begun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.started
}

func (s *stream) event(name string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Reset()
	s.buf.WriteString("event: " + name + "\ndata: ")
	if err := json.MarshalWrite(&s.buf, value, lenient); err != nil {
		panic(err) // as in send
	}
	s.buf.WriteString("\n\n")
	s.flush()
}

// comment says what clients skip, so that both ends see that the other is there;
// a stream whose handler is over says no more.
func (s *stream) comment(said string) (open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.buf.Reset()
	s.buf.WriteString(": " + said + "\n\n")
	s.flush()
	return true
}

func (s *stream) flush() {
	if !s.started {
		s.started = true
		h := s.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
	}
	_, err := s.w.Write(s.buf.Bytes())
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.gone()
	}
}

// splitCharacter cuts off a character that has begun at the end of output, so
// that text that comes in pieces stays text.
func splitCharacter(output []byte) (whole, rest []byte) {
	for i := len(output) - 1; i >= 0 && i >= len(output)-utf8.UTFMax; i-- {
		if utf8.RuneStart(output[i]) {
			if !utf8.FullRune(output[i:]) {
				return output[:i], output[i:]
			}
			break
		}
	}
	return output, nil
}
