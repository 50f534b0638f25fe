package mcp

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff/gateway"
)

// Path is where a listener serves the protocol.
const Path = "/mcp"

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	// stateless is the first version without sessions.
	stateless = "2026-07-28"
)

func (s *Server) serveHTTP() {
	server := func(*http.Request) *sdk.Server { return s.sdk }
	s.stateful = sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{SessionTimeout: s.config.idle})
	s.stateless = sdk.NewStreamableHTTPHandler(server, &sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
}

// ServeHTTP serves the streamable transport, in all versions that there are. It
// stands behind a [gateway.Listener], which knows whom it lets in. There is no stream
// but the answers to calls, since all that a server has to say belongs to a call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost && r.Method != http.MethodDelete {
		w.Header().Set("Allow", "POST, DELETE")
		http.Error(w, "want POST or DELETE: there is no stream beside the answers", http.StatusMethodNotAllowed)
		return
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		http.Error(w, "pages of other servers may not ask this", http.StatusForbidden)
		return
	}
	v := s.visits.begin(w, r)
	defer s.visits.end(v)
	if r.Header.Get(versionHeader) >= stateless {
		s.stateless.ServeHTTP(v, r)
		return
	}
	s.serveSession(v, r)
}

// serveSession serves a session's client, or one that wants to begin one.
func (s *Server) serveSession(v *visit, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	if id == "" && r.Method == http.MethodPost {
		if !s.sessions.reserve(s.config.maxSessions) {
			v.Header().Set("Retry-After", "60")
			http.Error(v, fmt.Sprintf("there are %d sessions already, want some of them ended", s.config.maxSessions),
				http.StatusServiceUnavailable)
			return
		}
		defer s.sessions.release()
	} else if !s.sessions.belongs(id, v.peer) {
		http.Error(v, "session not found", http.StatusNotFound)
		return
	}
	if r.Method == http.MethodDelete {
		s.sessions.stop(id) // the end waits for the calls
	}
	s.stateful.ServeHTTP(v, r)
}

// session is one of the protocol, by HTTP.
type session struct {
	peer string
	life context.Context //nolint:containedctx // as the server's
	stop context.CancelFunc
	// asked is whether its client has called anything.
	asked atomic.Bool
}

// sessions are those that are open.
type sessions struct {
	mu      sync.Mutex
	open    map[string]*session
	opening int
	ending  sync.WaitGroup
}

// reserve keeps a place for a session that may begin, release gives it back: one
// that has begun has its own.
func (ss *sessions) reserve(most int) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if len(ss.open)+ss.opening >= most {
		return false
	}
	ss.opening++
	return true
}

func (ss *sessions) release() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.opening--
}

func (ss *sessions) find(id string) *session {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return ss.open[id]
}

// belongs says whether it was the peer who began a session: its id alone lets
// no caller into it.
func (ss *sessions) belongs(id, peer string) bool {
	found := ss.find(id)
	return found != nil && found.peer == peer
}

func (ss *sessions) stop(id string) {
	if found := ss.find(id); found != nil {
		found.stop()
	}
}

// begin remembers a session until it is over, and then tells of its end.
func (ss *sessions) begin(ctx context.Context, of *sdk.ServerSession, peer string, over func(id string, asked *atomic.Bool)) {
	life, stop := context.WithCancel(ctx)
	id := of.ID()
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.open == nil {
		ss.open = map[string]*session{}
	}
	begun := &session{peer: peer, life: life, stop: stop}
	ss.open[id] = begun
	ss.ending.Go(func() {
		_ = of.Wait() // how it ended changes nothing
		stop()
		over(id, &begun.asked)
		ss.mu.Lock()
		defer ss.mu.Unlock()
		delete(ss.open, id)
	})
}

func (ss *sessions) wait() { ss.ending.Wait() }

// admit remembers each session that begins by HTTP.
func (s *Server) admit(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, req)
		of, _ := req.GetSession().(*sdk.ServerSession)
		if v := s.visits.of(req.GetExtra()); method == "initialize" && err == nil && v != nil && of.ID() != "" {
			s.sessions.begin(s.life, of, v.peer, func(id string, asked *atomic.Bool) { s.endSession(s.sessionID(id), asked) })
		}
		return result, err
	}
}

// visit is a request by HTTP, with its answer. The protocol's library hands on
// nothing of a request but its header, which therefore names the visit, under a
// name that no client can send.
type visit struct {
	http.ResponseWriter
	id   string
	ctx  context.Context //nolint:containedctx // see above
	peer string

	mu    sync.Mutex // the library and signs of life write
	ended bool
}

const visitHeader = "bailiff visit"

type visits struct {
	last atomic.Int64
	all  sync.Map // visits by id
}

func (vs *visits) begin(w http.ResponseWriter, r *http.Request) *visit {
	v := &visit{ResponseWriter: w, id: strconv.FormatInt(vs.last.Add(1), 10), ctx: r.Context(), peer: gateway.CredentialOf(r)}
	r.Header[visitHeader] = []string{v.id}
	vs.all.Store(v.id, v)
	return v
}

func (vs *visits) end(v *visit) {
	vs.all.Delete(v.id)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
}

// of is the visit that a message came by; nil if it came by a pipe, or if its
// client is gone.
func (vs *visits) of(extra *sdk.RequestExtra) *visit {
	if extra == nil || len(extra.Header[visitHeader]) != 1 {
		return nil
	}
	found, _ := vs.all.Load(extra.Header[visitHeader][0])
	v, _ := found.(*visit)
	return v
}

func (v *visit) WriteHeader(status int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ResponseWriter.WriteHeader(status)
}

func (v *visit) Write(b []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.ResponseWriter.Write(b)
}

// FlushError is how [http.ResponseController] flushes.
func (v *visit) FlushError() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return http.NewResponseController(v.ResponseWriter).Flush()
}

// beat writes, until ctx ends, signs of life into an answer that is an event stream,
// so that no proxy on the way takes a silent command for a dead server.
func (v *visit) beat(ctx context.Context, pace time.Duration) {
	ticks := time.NewTicker(pace)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			v.comment()
		}
	}
}

func (v *visit) comment() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended || !slices.Equal(v.Header()["Content-Type"], []string{"text/event-stream"}) {
		return
	}
	_, _ = v.ResponseWriter.Write([]byte(": still here\n\n")) // who is gone ends ctx
	_ = http.NewResponseController(v.ResponseWriter).Flush()
}
