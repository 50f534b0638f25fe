package streamable

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// hear takes what the server answers to a request.
func (s *Server) hear(ctx context.Context, m head, answer *http.Response) error {
	if m.Method == "initialize" {
		if err := s.nameSession(answer.Header.Get("Mcp-Session-Id")); err != nil {
			return err
		}
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	switch {
	case answer.StatusCode == http.StatusOK && kind == "application/json":
		return s.hearOne(ctx, m, answer.Body)
	case answer.StatusCode == http.StatusOK && kind == "text/event-stream":
		return s.hearAll(ctx, m, answer.Body)
	}
	return fmt.Errorf("the server answers a request by %d and %.60q, want application/json or text/event-stream", answer.StatusCode, kind)
}

// nameSession remembers how the server names the session.
func (s *Server) nameSession(id string) error {
	if len(id) > longestID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the server names the session by what is no plain text of at most %d characters", longestID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = id
	return nil
}

var errNoAnswer = errors.New("the server has answered something else")

// hearOne takes a body that is one message, the answer.
func (s *Server) hearOne(ctx context.Context, m head, body io.Reader) error {
	at := &place{server: s}
	defer at.free()
	t := text{at: at}
	piece := make([]byte, 16<<10)
	for {
		n, err := body.Read(piece)
		if grown := t.add(ctx, piece[:n]); grown != nil {
			return grown
		}
		switch {
		case errors.Is(err, io.EOF):
			if !s.take(m, t.bytes) {
				return errNoAnswer
			}
			return nil
		case err != nil:
			return broken(err)
		}
	}
}

// broken is an answer that broke off. What the library says of it may hold an address.
func broken(error) error { return errors.New("the server's answer broke off") }

// hearAll takes the messages of a stream, of which one is the answer.
func (s *Server) hearAll(ctx context.Context, m head, body io.ReadCloser) error {
	events := newEvents(s, body)
	defer events.free()
	for {
		data, err := events.next(ctx)
		switch {
		case err == nil && len(data) > 0:
			if s.take(m, data) {
				s.drain(body)
				return nil
			}
		case errors.Is(err, io.EOF):
			return errors.New("the server ended its stream without an answer")
		case err != nil:
			return err
		}
	}
}

const (
	// drainBytes and drainTime bound what is read of a stream after its answer, so that its connection serves another request.
	drainBytes = 64 << 10
	drainTime  = time.Second
)

func (*Server) drain(body io.ReadCloser) {
	defer time.AfterFunc(drainTime, func() { _ = body.Close() }).Stop()
	_, _ = io.CopyN(io.Discard, body, drainBytes) // at most that the connection is lost
}

// take hands on a message that came in answer to a request, and says whether it is the answer. A
// response to anything else is dropped.
func (s *Server) take(m head, line []byte) (isAnswer bool) {
	var got head
	if json.Unmarshal(line, &got) != nil {
		return false
	}
	isAnswer = got.Method == "" && len(m.ID) > 0 && bytes.Equal(got.ID, m.ID)
	if got.Method == "" && !isAnswer {
		return false
	}
	if isAnswer && m.Method == "initialize" {
		s.noteVersion(got)
	}
	s.config.Take(line)
	return isAnswer
}

// noteVersion remembers which version of the protocol the server speaks.
func (s *Server) noteVersion(answer head) {
	var of struct {
		Version string `json:"protocolVersion"`
	}
	if json.Unmarshal(answer.Result, &of) == nil && len(of.Version) <= len("2025-11-25") &&
		strings.Trim(of.Version, "0123456789-") == "" {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.version = of.Version
	}
}

const (
	// leastWait and longestWait bound how long a stream that ended is let be, firstWait where the server does not say.
	leastWait   = 100 * time.Millisecond
	firstWait   = time.Second
	longestWait = time.Minute
)

// toolsChanged is what a server may have said while nothing heard it.
const toolsChanged = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// listen hears what the server says unasked, as long as it has a stream for that. Up is called once it is known whether it has.
func (s *Server) listen(up func()) {
	wait, isFirst := firstWait, true
	for {
		began, retry, err := s.listenOnce(isFirst, up)
		up()
		if isNo := new(statusError); errors.As(err, &isNo) && (isNo.status/100 == 4 || isNo.status == http.StatusNotImplemented) {
			return // it has none, or none any more
		}
		s.config.Log.Debug("the stream of an MCP server ended", "error", err)
		if began {
			wait, isFirst = max(leastWait, cmp.Or(retry, firstWait)), false
		}
		select {
		case <-time.After(wait):
			wait = min(2*wait, longestWait)
		case <-s.ctx.Done():
			return
		}
	}
}

// listenOnce hears one stream to its end. Began says that there was one, retry how long the server wants to be let be.
func (s *Server) listenOnce(isFirst bool, up func()) (began bool, retry time.Duration, err error) {
	answer, err := s.send(s.ctx, http.MethodGet, nil)
	if err != nil {
		return false, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind != "text/event-stream" {
		return false, 0, &statusError{http.StatusMethodNotAllowed, "it is no stream"}
	}
	up()
	if !isFirst {
		s.config.Take([]byte(toolsChanged))
	}
	events := newEvents(s, answer.Body)
	defer events.free()
	for {
		data, err := events.next(s.ctx)
		if err != nil {
			return true, events.retry, err
		}
		if len(data) > 0 {
			s.take(head{}, data)
		}
	}
}
