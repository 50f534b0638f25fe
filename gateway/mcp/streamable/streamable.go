// Package streamable speaks with an MCP server at a URL, by the transport Streamable HTTP of the
// versions 2025-03-26 to 2025-11-25 of the protocol.
//
// Promised here:
//   - a request has one answer: the server's, or a fault that says why there is none; a response
//     to anything else goes no further;
//   - a message has a bounded size, and few large ones are held at once;
//   - no redirect is followed, nothing is decompressed, and a session that the server forgot is over.
//
// Not here: which connections may be made, what the messages say, and resuming a stream that broke
// off (Last-Event-ID).
package streamable

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bailiff-dev/bailiff"
)

// Config is what a Server needs; every field is required.
type Config struct {
	URL string
	// Header is sent with each request.
	Header http.Header
	// Outlet is how the server is reached.
	Outlet *bailiff.Outlet
	// Take takes one message of the server, Gone why the session is over before it was closed. Each
	// may be called from several goroutines, Gone once.
	Take func(line []byte)
	Gone func(why string)
	Log  *slog.Logger
}

const (
	// stepTime bounds what the server does not think about for long.
	stepTime = 10 * time.Second
	// upTime is how long at most the server's own stream is waited for.
	upTime = 5 * time.Second
	// closeTime bounds what is said at the end.
	closeTime = 2 * time.Second
	// mostHead bounds the head of an answer, in bytes.
	mostHead = 64 << 10
	// mostLarge large messages are held at once.
	mostLarge = 2
	// longestID bounds the name of a session, longestWords what is told of an answer that is an error.
	longestID    = 1024
	longestWords = 300
)

// Server is a server's session. [Server.Say] and [Server.Close] are called by one goroutine.
type Server struct {
	config Config
	client *http.Client
	ctx    context.Context //nolint:containedctx // of all that the session began
	cancel context.CancelFunc
	large  chan struct{} // places of large messages
	gone   sync.Once
	// running are the goroutines that wait for the server.
	running sync.WaitGroup

	mu sync.Mutex
	// session and version are how the server named the session, and which protocol it speaks.
	session, version string
	asked            map[string]context.CancelFunc // by the request's id
	listens          bool
}

// New reaches nothing yet: the first message does. The session waits for nothing any more once ctx ends.
func New(ctx context.Context, c Config) (*Server, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.Outlet.Authority) {
		return nil, errors.New("the authority of the way out cannot be read")
	}
	s := &Server{config: c, large: make(chan struct{}, mostLarge), asked: map[string]context.CancelFunc{}}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:              func(*http.Request) (*url.URL, error) { return &url.URL{Scheme: "http", Host: "egress"}, nil },
			DialContext:        func(context.Context, string, string) (net.Conn, error) { return c.Outlet.Dial() },
			TLSClientConfig:    &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			DisableCompression: true, MaxResponseHeaderBytes: mostHead,
		},
	}
	return s, nil
}

// head is what is read of a message here.
type head struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
	Result jsontext.Value `json:"result"`
}

// Say has the server read one message. What answers it is taken later.
func (s *Server) Say(line []byte) error {
	var m head
	if err := json.Unmarshal(line, &m); err != nil {
		return fmt.Errorf("reading a message for the server: %w", err)
	}
	if m.Method != "" && len(m.ID) > 0 {
		ctx, cancel := context.WithCancel(s.ctx)
		s.mu.Lock()
		s.asked[string(m.ID)] = cancel
		s.mu.Unlock()
		s.running.Go(func() { s.ask(ctx, m, line) })
		return nil
	}
	if m.Method == "notifications/cancelled" {
		s.forget(m.Params)
	}
	err := s.tell(line)
	switch {
	case err != nil:
		s.config.Log.Debug("a message was not taken by an MCP server", "method", m.Method, "error", err)
	case m.Method == "notifications/initialized" && !s.listens:
		s.listens = true
		up := make(chan struct{})
		s.running.Go(func() { s.listen(sync.OnceFunc(func() { close(up) })) })
		select { // so that no change is missed of what is asked next
		case <-up:
		case <-time.After(upTime):
		case <-s.ctx.Done():
		}
	}
	return s.ctx.Err()
}

// forget gives up the request that a notification cancels.
func (s *Server) forget(params jsontext.Value) {
	var of struct {
		ID jsontext.Value `json:"requestId"`
	}
	if json.Unmarshal(params, &of) != nil {
		return
	}
	s.mu.Lock()
	cancel := s.asked[string(of.ID)]
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// tell sends a message that has no answer.
func (s *Server) tell(line []byte) error {
	ctx, cancel := context.WithTimeout(s.ctx, stepTime)
	defer cancel()
	answer, err := s.send(ctx, http.MethodPost, line)
	if err == nil {
		_ = answer.Body.Close() // nothing is in it
	}
	return err
}

// ask sends a request, and sees that it is answered.
func (s *Server) ask(ctx context.Context, m head, line []byte) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asked[string(m.ID)]()
		delete(s.asked, string(m.ID))
	}()
	answer, err := s.send(ctx, http.MethodPost, line)
	if err == nil {
		defer func() { _ = answer.Body.Close() }()
		err = s.hear(ctx, m, answer)
	}
	if err != nil && ctx.Err() == nil {
		s.config.Take(faultLine(m.ID, err))
	}
}

// faultLine answers a request in the place of a server.
func faultLine(id jsontext.Value, err error) []byte {
	const refused = -32000
	line, failed := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id,
		"error": map[string]any{"code": refused, "message": bailiff.Sentence(err.Error())}})
	if failed != nil {
		panic(failed) // texts, and an id that was read: cannot fail
	}
	return line
}

// send sends one request of HTTP. Its answer is a success, or an error.
func (s *Server) send(ctx context.Context, method string, body []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = s.config.Header.Clone()
	s.mu.Lock()
	session := s.session
	for name, value := range map[string]string{"Mcp-Session-Id": s.session, "Mcp-Protocol-Version": s.version} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	s.mu.Unlock()
	switch method {
	case http.MethodPost:
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	case http.MethodGet:
		r.Header.Set("Accept", "text/event-stream")
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, unreached(err)
	}
	if answer.StatusCode == http.StatusOK || answer.StatusCode == http.StatusAccepted || answer.StatusCode == http.StatusNoContent {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode == http.StatusNotFound && session != "" {
		s.end("the server has forgotten the session")
	}
	return nil, errorOf(answer)
}

// unreached says why there is no answer, without the URL around it, which may hold what is not to be told.
func unreached(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err
	}
	if errors.As(err, new(x509.UnknownAuthorityError)) {
		return errors.New("the rows of the server's host leave its TLS closed (intercept: false), so that no request could be judged")
	}
	return fmt.Errorf("the server cannot be reached: %w", err)
}

// statusError is an answer that is no success.
type statusError struct {
	status int
	words  string
}

// Error says what was answered.
func (e *statusError) Error() string { return e.words }

// errorOf words an answer that is no success.
func errorOf(answer *http.Response) error {
	words := fmt.Sprintf("the server answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	if answer.StatusCode/100 == 3 {
		return &statusError{answer.StatusCode, words + ", and no redirect is followed: name the address to which it leads"}
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)) // as much as came
	var says struct {
		Message string `json:"message"` // of a refusal on the way out
		Rule    string `json:"rule"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(text, &says) // what is no JSON says nothing here
	if said := strings.TrimSpace(cmp.Or(says.Error.Message, says.Message)); said != "" {
		words += ": " + bailiff.Beginning(said, longestWords)
	}
	if says.Rule != "" && answer.Header.Get("X-Bailiff-Rule") == says.Rule {
		words += " (" + bailiff.Beginning(says.Rule, longestWords) + ")"
	}
	return &statusError{answer.StatusCode, words}
}

// end ends the session before it is closed.
func (s *Server) end(why string) {
	s.gone.Do(func() { s.config.Gone(why) })
}

// Close ends the session, and returns when nothing of it waits any more.
func (s *Server) Close() {
	s.cancel()
	s.running.Wait()
	s.gone.Do(func() {}) // what follows tells nothing new
	if s.session != "" {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if answer, err := s.send(ctx, http.MethodDelete, nil); err == nil {
			_ = answer.Body.Close()
		}
	}
	s.client.CloseIdleConnections()
}
