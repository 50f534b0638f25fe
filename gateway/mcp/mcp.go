// Package mcp serves the tools terminal, execute_code and process by the Model
// Context Protocol. It judges and runs nothing: each call becomes a request of the
// agent API, is read as strictly as one, and goes to a [Sidecar].
//
// What is promised: the model chooses the tool's arguments and nothing else. Whose
// request it is stands in [Config]; a client (the program, not the model) may say
// another session under [MetaSession], which the sidecar takes or refuses like
// every other claim. A session of the protocol is a session of bailiff, so that it
// has a sandbox of its own, which goes with it. A call ends with its client: one
// that is cancelled, or whose connection is gone, stops the command.
//
// A call that ran is answered with its output, whatever its exit code; everything
// else is an error of the tool, in words, so that the model learns of it. Both hold
// the same as a structure, see [Result].
package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
)

// Sidecar takes requests. Asked, which may be nil, is told when people are asked,
// and of their answer.
type Sidecar interface {
	Execute(ctx context.Context, req bailiff.Request, asked func(gateway.Approval)) (gateway.Answer, error)
	EndSession(ctx context.Context, session string) error
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
	Sidecar     Sidecar
	Log         *slog.Logger
}

// Server is one that clients connect to.
type Server struct {
	Config
	// life ends when the server does, and every call with it.
	life context.Context //nolint:containedctx // calls come from the protocol's own goroutines
	end  context.CancelFunc
	sdk  *sdk.Server
}

// New returns a server, or names everything that the config lacks.
func New(c Config) (*Server, error) {
	var missing []string
	for name, absent := range map[string]bool{"Name": c.Name == "", "Version": c.Version == "", "Sidecar": c.Sidecar == nil} {
		if absent {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("mcp config lacks %s", strings.Join(missing, ", "))
	}
	s := &Server{Config: c}
	s.life, s.end = context.WithCancel(context.Background())
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "bailiff", Title: "bailiff", Version: c.Version}, &sdk.ServerOptions{
		Instructions: instructions, Logger: c.Log, Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	for _, tool := range tools() {
		s.sdk.AddTool(tool, s.call)
	}
	return s, nil
}

// endPatience is how long the end of a session may take.
const endPatience = 15 * time.Second

// longestLine bounds a message; what it carries is refused above 1 MiB.
const longestLine = 4 << 20

// Pipe serves the one client at the other end of two streams, until it goes away or
// ctx ends, and ends its session.
func (s *Server) Pipe(ctx context.Context, from io.ReadCloser, to io.WriteCloser) error {
	if s.Session.ID == "" {
		s.Session.ID = s.sessionID(rand.Text())
		defer s.endSession(s.Session.ID)
	}
	defer context.AfterFunc(ctx, s.end)()
	err := s.sdk.Run(ctx, &sdk.IOTransport{Reader: from, Writer: to, MaxLineLength: longestLine})
	s.end()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *Server) endSession(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	if err := s.Sidecar.EndSession(ctx, id); err != nil && s.Log != nil {
		s.Log.Warn("ending a session", "session", id, "error", err)
	}
}

// sessionID is the id of a session of the protocol.
func (s *Server) sessionID(of string) string { return "mcp:" + s.Name + ":" + of }
