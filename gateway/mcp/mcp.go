// Package mcp serves the tools terminal, execute_code and process by the Model
// Context Protocol, to one client over two streams ([Server.Pipe]) or to many over
// HTTP ([Server.ServeHTTP]). It judges and runs nothing: each call becomes a request
// of the agent API, is read as strictly as one, and goes to a [Sidecar].
//
// What is promised: the model chooses the tool's arguments and nothing else. Whose
// request it is stands in [Config]; a client (the program, not the model) may name
// another session under [MetaSession], which the sidecar takes or refuses like every
// other claim. A session of the protocol is a session of bailiff, so that it has a
// sandbox of its own, which goes with it. A call ends with its client: one that is
// cancelled, or whose connection is gone, stops the command.
//
// A call that ran is answered with its output, whatever its exit code; everything
// else is an error of the tool, in words, so that the model learns of it. Programs
// find the same as a structure in the result's _meta, see [Result].
//
// Where people are asked, a client that can show addresses is asked to show the
// console's; it is the people's answer that counts, never the client's. Every client
// waits, and is told whom for.
//
// A client that wants to hear of a call's progress is told the last line of output
// every few seconds. One that does not, and is known to give a call up after a while,
// has an answer before that: the command goes on, and so does the same call again.
package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/config/required"
)

// Sidecar takes requests.
type Sidecar interface {
	Execute(ctx context.Context, req bailiff.Request, news gateway.News) (api.Answer, error)
	EndSession(ctx context.Context, session string) (bailiff.Ended, error)
}

// Config says whose requests a server sends. Name, Version and Sidecar are required.
type Config struct {
	// Name is the listener's, or "stdio"; it begins the ids of sessions.
	Name string
	// Version is bailiff's.
	Version string
	// Session is whose requests they are. Without an ID, each session of the protocol
	// is one of its own.
	Session bailiff.Session
	// Env lists the names of the variables that every request asks for.
	Env []string
	// WaitSeconds is how long a call waits for an approval.
	WaitSeconds int
	// ClientTimeout is after how long clients give a call up, whatever they are told of
	// it meanwhile. Zero means what is known of a client by its name.
	ClientTimeout time.Duration
	Sidecar       Sidecar
	Log           *slog.Logger

	// maxSessions are open at once by HTTP, each until it is idle for so long.
	maxSessions int
	idle        time.Duration
	// keepAlive is how often an answer that is still to come says so.
	keepAlive time.Duration
	// pace is how often a client that wants to hear of it is told how its call goes on.
	pace time.Duration
}

const (
	maxSessions = 256
	idle        = 4 * time.Hour
	keepAlive   = 20 * time.Second
	// maxCalls run at once: one message of an old version may hold thousands.
	maxCalls = 256
)

// Server is one that clients connect to.
type Server struct {
	config Config
	sdk    *sdk.Server
	places chan struct{} // of running calls
	// life ends when the server does, and every call with it.
	life context.Context //nolint:containedctx // calls come from the protocol's own goroutines
	end  context.CancelFunc

	asked               atomic.Bool // whether a pipe's client has called anything
	stateful, stateless http.Handler
	visits              visits
	sessions            sessions
	left                leftRuns
}

// New returns a server, or names everything that the config lacks.
func New(c Config) (*Server, error) {
	if err := c.missing(); err != nil {
		return nil, err
	}
	c.maxSessions, c.idle, c.keepAlive = cmp.Or(c.maxSessions, maxSessions), cmp.Or(c.idle, idle), cmp.Or(c.keepAlive, keepAlive)
	c.pace = cmp.Or(c.pace, pace)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	s := &Server{config: c, places: make(chan struct{}, maxCalls)}
	s.life, s.end = context.WithCancel(context.Background())
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "bailiff", Title: "bailiff", Version: c.Version}, &sdk.ServerOptions{
		Instructions: instructions, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, tool := range tools() {
		s.sdk.AddTool(tool, s.call)
	}
	s.sdk.AddReceivingMiddleware(s.survive, s.admit)
	s.serveHTTP()
	return s, nil
}

func (c Config) missing() error {
	return required.Fields("mcp", map[string]bool{"Name": c.Name == "", "Version": c.Version == "", "Sidecar": c.Sidecar == nil})
}

// longestLine bounds a message of a pipe; requests above 1 MiB are refused anyway.
const longestLine = 4 << 20

// Pipe serves the one client at the other end of two streams, until it goes away or
// ctx ends, and ends its session.
func (s *Server) Pipe(ctx context.Context, from io.ReadCloser, to io.WriteCloser) error {
	if s.config.Session.ID == "" {
		s.config.Session.ID = s.sessionID(rand.Text())
		defer s.endSession(s.config.Session.ID, &s.asked)
	}
	defer context.AfterFunc(ctx, s.end)()
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: from, Writer: to, MaxLineLength: longestLine})
	s.end()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Close ends all calls and sessions.
func (s *Server) Close() {
	s.end()
	var closing sync.WaitGroup
	for session := range s.sdk.Sessions() {
		closing.Go(func() { _ = session.Close() })
	}
	closing.Wait()
	s.sessions.wait()
}

// endPatience is how long the end of a session may take.
const endPatience = 15 * time.Second

// endSession ends a session in which something was asked for.
func (s *Server) endSession(id string, asked *atomic.Bool) {
	if !asked.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	if _, err := s.config.Sidecar.EndSession(ctx, id); err != nil {
		s.config.Log.Warn("ending a session of MCP", "session", id, "error", err)
	}
}

// sessionID is the id of a session of the protocol.
func (s *Server) sessionID(of string) string { return "mcp:" + s.config.Name + ":" + of }
