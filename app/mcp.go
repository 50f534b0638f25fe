package app

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/mcp"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// mcpServers are the listeners' servers of the Model Context Protocol. They outlive the
// listeners, so that a configuration that is read again ends the sessions of no listener
// that it leaves as it was.
type mcpServers struct {
	mu   sync.Mutex
	open map[string]*mcpServer // by listener
}

// mcpServer is one of them, and as what it was configured.
type mcpServer struct {
	*mcp.Server
	config config.MCP
	// agent is the one that the listener serves now.
	agent atomic.Pointer[gateway.Agent]
}

func (s *mcpServer) Execute(ctx context.Context, req bailiff.Request, news gateway.News) (api.Answer, error) {
	return s.agent.Load().Execute(ctx, req, news)
}

func (s *mcpServer) EndSession(ctx context.Context, session string) (bailiff.Ended, error) {
	return s.agent.Load().EndSession(ctx, session)
}

// serveMCP is what a listener serves that speaks the protocol too.
func (a *App) serveMCP(p agentPlan) (http.Handler, error) {
	server, err := a.mcpServers.at(p, mcp.Config{Name: p.config.Name, Version: a.version, Session: p.mcp.Session, Env: p.mcp.Env,
		WaitSeconds:   cmp.Or(p.mcp.WaitSeconds, api.UsualMCPWait),
		ClientTimeout: time.Duration(p.mcp.ClientTimeoutSeconds) * time.Second, Log: a.log})
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() == mcp.Path {
			server.ServeHTTP(w, r)
			return
		}
		p.agent.ServeHTTP(w, r)
	}), nil
}

// at is a listener's server, with the agent that the listener serves from now on.
func (m *mcpServers) at(p agentPlan, c mcp.Config) (server *mcpServer, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if open := m.open[c.Name]; open != nil {
		open.agent.Store(p.agent)
		return open, nil
	}
	server = &mcpServer{config: *p.mcp}
	server.agent.Store(p.agent)
	c.Sidecar = server
	if server.Server, err = mcp.New(c); err != nil {
		return nil, err
	}
	if m.open == nil {
		m.open = map[string]*mcpServer{}
	}
	m.open[c.Name] = server
	return server, nil
}

// retire takes away the servers that these listeners do not have, or have otherwise.
func (m *mcpServers) retire(listeners []config.Listener) (retired []*mcpServer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := map[string]*mcpServer{}
	for _, l := range listeners {
		if open := m.open[l.Name]; open != nil && l.MCP != nil && reflect.DeepEqual(open.config, *l.MCP) {
			kept[l.Name] = open
		}
	}
	for name, server := range m.open {
		if kept[name] == nil {
			retired = append(retired, server)
		}
	}
	m.open = kept
	return retired
}

func closeMCP(servers []*mcpServer) {
	var closing sync.WaitGroup
	for _, server := range servers {
		closing.Go(server.Close)
	}
	closing.Wait()
}
