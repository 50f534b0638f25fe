// Package proxy puts MCP servers of others behind the sidecar. A client opens a connection
// by POST /v1/mcp with what starts the server, and from then on speaks the Model Context
// Protocol by it, a message a line.
//
// Promised here:
//   - a server runs in a sandbox that the policies choose for the command that starts it, in
//     a session of its own, and ends with its connection;
//   - a client is offered the tools of a server to which a person said yes, as far as the
//     policies do not deny them, and no others;
//   - each call of a tool, and each other request that passes in either direction, is judged
//     by the policies with its arguments, waits for approval if one is due, and stands in the
//     decision log; its arguments fit the tool's schema before;
//   - a message is read strictly and written anew, so that both sides and the policies read
//     the same; what is no message of the protocol, what answers nothing that was asked, and
//     every method that is not named here, goes no further;
//   - results are bounded.
//
// Not here: what a person said yes to (gateway/mcp/trust), what the policies say, and how a
// server is started (enforcer).
package proxy

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
	"github.com/bailiff-dev/bailiff/internal/config/required"
)

// Path is where connections are opened.
const Path = "/v1/mcp"

// Protocol is what a connection is upgraded to.
const Protocol = "bailiff-mcp"

// Sidecar takes requests.
type Sidecar interface {
	// ServeMCP executes a request, and tells of it as it goes.
	ServeMCP(ctx context.Context, req bailiff.Request, news func(bailiff.Progress)) (bailiff.Answer, error)
	// AnswerMCP ends a call of which the news told.
	AnswerMCP(id, result string, isError bool) error
	// OfferedByMCP are the names that the policies do not deny.
	OfferedByMCP(ctx context.Context, req bailiff.Request) ([]string, error)
	EndSession(ctx context.Context, session string) (bailiff.Ended, error)
}

// Trust knows to what people said yes.
type Trust interface {
	// See notes what a server is and offers now, and says whether a person said yes to that.
	See(server string, l api.MCPListing) (trusted bool, err error)
}

// Config is what a Proxy needs; every field is required.
type Config struct {
	Trust Trust
	Log   *slog.Logger
}

// Proxy serves connections.
type Proxy struct {
	config Config
	life   context.Context //nolint:containedctx // connections end with the proxy
	end    context.CancelFunc

	mu       sync.Mutex
	sessions map[*session]bool
	open     sync.WaitGroup
}

// New returns a Proxy, or names everything that the config lacks.
func New(c Config) (*Proxy, error) {
	if err := required.Fields("mcp proxy", map[string]bool{"Trust": c.Trust == nil, "Log": c.Log == nil}); err != nil {
		return nil, err
	}
	p := &Proxy{config: c, sessions: map[*session]bool{}}
	p.life, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Close ends all connections, and returns when their servers have ended.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.end() // under the lock, so that no session enters after it
	p.mu.Unlock()
	p.open.Wait()
}

// Recheck has the clients of a server list its tools anew, as a person said yes or no to it.
func (p *Proxy) Recheck(server string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.sessions {
		if s.opening.Server == server && s.forget() { // at once, for what waits for approval
			go s.tellOfTools()
		}
	}
}

// Handler serves the connections of one listener.
func (p *Proxy) Handler(listener string, sidecar Sidecar) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		opening, problem := open(r)
		if problem != nil {
			gateway.Refuse(w, problem)
			return
		}
		s := p.newSession(listener, sidecar, opening, gateway.CredentialOf(r))
		if problem := p.enter(s); problem != nil {
			gateway.Refuse(w, problem)
			return
		}
		defer p.leave(s)
		p.serve(w, s)
	})
}

// maxSessions are open at once: each takes a place among the requests that a listener serves.
const maxSessions = 128

func (p *Proxy) enter(s *session) *api.Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.life.Err() != nil:
		return refusal(http.StatusServiceUnavailable, "shutting_down", "The sidecar is shutting down.")
	case len(p.sessions) >= maxSessions:
		return refusal(http.StatusServiceUnavailable, "busy", fmt.Sprintf("%d connections to MCP servers are open, as many as may be.",
			maxSessions))
	}
	p.open.Add(1)
	p.sessions[s] = true
	return nil
}

func (p *Proxy) leave(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, s)
	p.open.Done()
}

// open reads what opens a connection.
func open(r *http.Request) (o api.MCPOpening, problem *api.Problem) {
	const code = "invalid_request"
	if r.Method != http.MethodPost || !strings.EqualFold(r.Header.Get("Upgrade"), Protocol) {
		return o, refusal(http.StatusUpgradeRequired, code, "This path takes POST with \"Upgrade: "+Protocol+
			"\" only, as bailiff-hook mcp sends it.")
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &o, json.RejectUnknownMembers(true))
	}
	switch {
	case err != nil:
		return o, refusal(http.StatusBadRequest, code, "What opens a connection to an MCP server cannot be read: "+err.Error()+".")
	case !trust.IsName(o.Server):
		return o, refusal(http.StatusBadRequest, code, fmt.Sprintf("An MCP server is called by up to 64 letters, digits, _ and -, not %q.",
			bailiff.Beginning(o.Server, 40)))
	case len(o.Command) == 0 || o.Command[0] == "" || strings.ContainsRune(strings.Join(o.Command, ""), 0):
		return o, refusal(http.StatusBadRequest, code, "Want the command that starts the MCP server, without NUL bytes.")
	case len(o.Headers) > 0 && !isURL(o.Command):
		return o, refusal(http.StatusBadRequest, code, "Headers are for MCP servers at a URL.")
	}
	if isURL(o.Command) {
		var wrong string
		if o, wrong = remote(o); wrong != "" {
			return o, refusal(http.StatusBadRequest, code, wrong)
		}
	}
	if o.WaitSeconds == nil {
		usual := api.UsualMCPWait
		o.WaitSeconds = &usual
	}
	return o, nil
}

func refusal(status int, code, message string) *api.Problem {
	return &api.Problem{Status: status, Code: code, Message: message}
}

// serve takes the connection over, and speaks the protocol until it ends.
func (p *Proxy) serve(w http.ResponseWriter, s *session) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		gateway.Refuse(w, refusal(http.StatusInternalServerError, "internal", "The connection cannot be taken over."))
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Time{}) // a broken connection fails what follows
	const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + Protocol + "\r\n\r\n"
	if _, err := io.WriteString(conn, switching); err != nil {
		return
	}
	s.conn = conn
	defer context.AfterFunc(s.ctx, func() { _ = conn.Close() })()
	if err := s.run(bufio.NewReaderSize(buffered.Reader, 64<<10)); err != nil && !errors.Is(err, io.EOF) && s.ctx.Err() == nil {
		p.config.Log.Info("a connection to an MCP server broke off", "server", s.opening.Server, "session", s.id, "error", err)
	}
}

func (p *Proxy) newSession(listener string, sidecar Sidecar, o api.MCPOpening, peer string) *session {
	s := &session{opening: o, sidecar: sidecar, trust: p.config.Trust, peer: peer,
		id:  "mcp:" + listener + ":" + o.Server + ":" + rand.Text(),
		log: p.config.Log.With("server", o.Server), calls: map[string]context.CancelFunc{}, atServer: map[int64]*question{},
		atClient: map[int64]*question{}, outbox: make(chan []byte, maxOutbox), places: make(chan struct{}, maxCalls),
		wishes: make(chan struct{}, maxWishes), ended: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(p.life)
	return s
}
