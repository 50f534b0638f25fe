package app

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway/mcp/proxy"
	"github.com/bailiff-dev/bailiff/gateway/mcp/trust"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

// mcpParts are what serves the MCP servers of others.
type mcpParts struct {
	trust *trust.Store
	proxy *proxy.Proxy
}

func (c *core) openMCP() (err error) {
	// Nothing is said yes to before the proxy is there.
	yes := func(server string) { c.mcp.proxy.Recheck(server) }
	if c.mcp.trust, err = trust.Open(filepath.Join(c.cfg.StateDir, "mcp"), c.log, yes); err != nil {
		return err
	}
	c.mcp.proxy, err = proxy.New(proxy.Config{Trust: c.mcp.trust, Log: c.log})
	return err
}

// withProxy is what a listener serves, and the MCP servers of others beside it.
func (a *App) withProxy(p agentPlan, handler http.Handler) http.Handler {
	proxied := a.mcp.proxy.Handler(p.config.Name, p.agent)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.EscapedPath() == proxy.Path {
			proxied.ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// truster is what operators see of MCP servers and say to them.
type truster struct{ *core }

func (t truster) List() []api.MCPServer { return t.mcp.trust.List() }

func (t truster) Show(server string) (api.MCPServer, error) { return t.mcp.trust.Show(server) }

// Trust notes a person's yes, which is in the decision log before it counts.
func (t truster) Trust(server, digest string, who bailiff.Approver) (shown api.MCPServer, err error) {
	if err := t.record(server, digest, who); err != nil {
		return shown, err
	}
	return t.mcp.trust.Trust(server, digest, who.Name())
}

func (t truster) Forget(server string, who bailiff.Approver) error {
	if err := t.record(server, "", who); err != nil {
		return err
	}
	return t.mcp.trust.Forget(server)
}

// record writes down a word about a server, if it may be given.
func (t truster) record(server, digest string, who bailiff.Approver) error {
	if err := t.roster.mayLift(who); err != nil {
		return err
	}
	shown, err := t.mcp.trust.Show(server)
	switch {
	case err != nil:
		return err
	case digest != "" && digest != shown.Digest:
		return trust.ErrChanged
	}
	event := api.Event{DecisionID: audit.NewID(), Timestamp: time.Now().UTC(), RequestedBy: who.Channel,
		Custom: api.Custom{Event: api.MCPEvent, MCP: &api.MCPTrust{Server: server, Digest: digest, By: who.Name()}}}
	if err = t.decisions.Record(context.Background(), event); err != nil {
		return fmt.Errorf("recording the yes to an MCP server: %w", err)
	}
	return nil
}

// mcpWarnings name the MCP servers whose tools are denied until a person looks at them.
func (c *core) mcpWarnings() (all []string) {
	for _, m := range c.mcp.trust.List() {
		if !m.Trusted {
			all = append(all, fmt.Sprintf("the tools of the MCP server %s are denied until a person has looked at what it is and offers: "+
				"bailiff mcp trust %s", m.Server, m.Server))
		}
	}
	return all
}
