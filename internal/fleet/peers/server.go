package peers

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/fleet"
)

// path is where sidecars ask each other. A release that changes a message in a way that an older
// one would misread changes it.
const path = "/peers/1/"

const (
	// largest bounds what a sidecar sends: a request as a door takes it, spelt anew.
	largest = 8 * gateway.LargestRequest
	// mostStreams are served at once on one connection.
	mostStreams   = 1000
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// requestMessage is a request, with what its door knows of it.
type requestMessage struct {
	Caller  string          `json:"caller"`
	Peer    string          `json:"peer"`
	Stream  bool            `json:"stream,omitempty"`
	Request bailiff.Request `json:"request"`
}

func requestOf(req bailiff.Request) requestMessage {
	return requestMessage{Caller: req.Caller, Peer: req.Peer, Request: req}
}

func (m requestMessage) request() bailiff.Request {
	m.Request.Caller, m.Request.Peer = m.Caller, m.Peer
	return m.Request
}

type sessionMessage struct {
	Caller  string   `json:"caller"`
	Session string   `json:"session"`
	Tools   []string `json:"tools,omitempty"`
}

type answerMessage struct {
	Caller  string `json:"caller"`
	ID      string `json:"id"`
	Result  string `json:"result"`
	IsError bool   `json:"is_error"`
}

// part is one line of the answer to a request that runs: news, or the end.
type part struct {
	Progress *bailiff.Progress `json:"progress,omitempty"`
	Answer   *bailiff.Answer   `json:"answer,omitempty"`
}

// ServeHTTP does what other sidecars ask.
func (r *Router) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	what, ok := strings.CutPrefix(q.URL.Path, path)
	serve := map[string]func(http.ResponseWriter, *http.Request){
		"execute": r.serveExecute, "decide": r.serveJudge(r.Local.Decide), "preview": r.serveJudge(r.Local.Preview),
		"end": r.serveEnd, "tools": r.serveTools, "answer": r.serveAnswer,
	}[what]
	if !ok || serve == nil || q.Method != http.MethodPost {
		http.Error(w, "there is nothing here for other sidecars", http.StatusNotFound)
		return
	}
	if said := q.Header.Values(gateway.Traceparent); len(said) == 1 && r.config.Tracer != nil {
		q = q.WithContext(r.config.Tracer.Continue(q.Context(), said[0]))
	}
	q.Body = http.MaxBytesReader(w, q.Body, largest)
	serve(w, q)
}

// read reads a message whole: what an older sidecar does not know it must not leave out.
func read(w http.ResponseWriter, q *http.Request, into any) bool {
	decoder := json.NewDecoder(q.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		http.Error(w, "the message cannot be read: "+err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

// isHome refuses what another sidecar is to do.
func (r *Router) isHome(ctx context.Context, w http.ResponseWriter, s fleet.Session) bool {
	home, err := r.config.Homes.Home(ctx, s)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case !home.Mine:
		r.config.Homes.Forget(s)
		http.Error(w, "the session is served elsewhere", http.StatusMisdirectedRequest)
	}
	return err == nil && home.Mine
}

func (r *Router) serveExecute(w http.ResponseWriter, q *http.Request) {
	var message requestMessage
	if !read(w, q, &message) || !r.isHome(q.Context(), w, fleet.SessionOf(message.request())) {
		return
	}
	ctx, cancel := context.WithCancel(q.Context())
	defer cancel()
	s := &stream{encoder: json.NewEncoder(w), control: http.NewResponseController(w), gone: cancel}
	s.begin()
	var news func(bailiff.Progress)
	if message.Stream {
		news = func(p bailiff.Progress) {
			if p.Say != nil || p.Outlet != nil { // no line of a client reaches a server here
				cancel()
				return
			}
			s.write(part{Progress: &p})
		}
	}
	a := r.Local.Execute(ctx, message.request(), news)
	if a.Status == bailiff.ApprovalRequired && r.leaving.Load() { // nothing ran: the session's next home asks the same
		a = bailiff.Answer{RequestID: a.RequestID, Status: bailiff.Unavailable, Code: bailiff.CodeShutdown}
	}
	s.write(part{Answer: &a})
}

// stream writes parts.
type stream struct {
	encoder *json.Encoder
	control *http.ResponseController
	gone    context.CancelFunc // called when the door takes no more
	mu      sync.Mutex
}

// begin has the door know that the request was taken.
func (s *stream) begin() { s.endWrite(nil) }

func (s *stream) write(p part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endWrite(s.encoder.Encode(p))
}

func (s *stream) endWrite(err error) {
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.gone()
	}
}

func (r *Router) serveJudge(judge func(context.Context, bailiff.Request) bailiff.Decided) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		var message requestMessage
		if read(w, q, &message) && r.isHome(q.Context(), w, fleet.SessionOf(message.request())) {
			send(w, judge(q.Context(), message.request()))
		}
	}
}

func send(w http.ResponseWriter, value any) { _ = json.NewEncoder(w).Encode(value) }

func (r *Router) serveEnd(w http.ResponseWriter, q *http.Request) {
	var message sessionMessage
	if !read(w, q, &message) || !r.isHome(q.Context(), w, fleet.Session{Caller: message.Caller, ID: message.Session}) {
		return
	}
	ended, err := r.EndSession(q.Context(), message.Caller, message.Session)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, ended)
}

func (r *Router) serveTools(w http.ResponseWriter, q *http.Request) {
	var message sessionMessage
	if !read(w, q, &message) || !r.isHome(q.Context(), w, fleet.Session{Caller: message.Caller, ID: message.Session}) {
		return
	}
	if err := r.Local.RegisterTools(message.Caller, message.Session, message.Tools); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
	}
}

func (r *Router) serveAnswer(w http.ResponseWriter, q *http.Request) {
	var message answerMessage
	if !read(w, q, &message) {
		return
	}
	if err := r.Local.AnswerTool(message.Caller, message.ID, message.Result, message.IsError); err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
	}
}

// Server serves a router to other sidecars.
type Server struct {
	socket net.Listener
	http   *http.Server
}

// Listen opens the address at which other sidecars ask.
func Listen(address string, r *Router, log *slog.Logger) (*Server, error) {
	config, err := r.config.TLS.server()
	if err != nil {
		return nil, err
	}
	socket, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Server{socket, &http.Server{
		Handler: r, TLSConfig: config, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(log.With("listener", "peers").Handler(), slog.LevelWarn),
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: mostStreams, SendPingTimeout: pingAfter, PingTimeout: pingTime},
	}}, nil
}

// Address is where it listens, with the port that the system chose for :0.
func (s *Server) Address() string { return s.socket.Addr().String() }

// Serve takes requests until [Server.Shutdown].
func (s *Server) Serve() error {
	if err := s.http.ServeTLS(s.socket, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown takes no more requests, and lets those that run finish until ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	defer func() { _ = s.socket.Close() }() // which the server does only if it ever served
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}
