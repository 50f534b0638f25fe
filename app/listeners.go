package app

import (
	"context"
	"net/http"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// listener is one that is open, with the API that it serves.
type listener struct {
	*gateway.Listener
	left     chan struct{} // closed when it takes no more requests
	openedBy agentTerms    // of an agents' listener
}

// agentTerms are what an agents' listener is opened by. One is kept while they are the same.
type agentTerms struct {
	listener  config.Listener
	messaging []string
	token     bailiff.Secret
}

func (a *App) openListeners() error {
	if err := a.openOperator(); err != nil { // first: agents are told of its web page
		return err
	}
	for _, listener := range a.cfg.Agent.Listeners {
		listener, err := a.openAgent(listener)
		if err != nil {
			return err
		}
		a.agents = append(a.agents, listener)
	}
	if err := a.openPeers(); err != nil {
		return err
	}
	if err := a.openChats(); err != nil {
		return err
	}
	return a.openMetrics()
}

func (a *App) openAgent(l config.Listener) (*listener, error) {
	plan, err := a.planAgent(l)
	if err != nil {
		return nil, err
	}
	return a.openPlan(plan)
}

// agentPlan is all that opening an agents' listener needs, but the address being free.
type agentPlan struct {
	config gateway.ListenerConfig
	agent  *gateway.Agent
	mcp    *config.MCP // nil if it is not served
	terms  agentTerms
}

func (a *App) openPlan(p agentPlan) (opened *listener, err error) {
	var handler http.Handler = p.agent
	if p.mcp != nil {
		if handler, err = a.serveMCP(p); err != nil {
			return nil, err
		}
	}
	if opened, err = openListener(p.config, a.withProxy(p, handler)); err == nil {
		opened.openedBy = p.terms
	}
	return opened, err
}

func (a *App) planAgent(l config.Listener) (agentPlan, error) {
	messaging := tableNames(context.Background(), a.policies, "platforms")
	agent, err := gateway.NewAgent(gateway.AgentConfig{
		Name: l.Name, Platforms: l.Platforms, Messaging: withoutCLI(messaging), DataPaths: a.cfg.Agent.DataPaths, Console: a.consoleURL(),
		Enforcer: a.front, Tools: a.front, Evaluator: a.policies, Circumstances: a.enforcer.Placement, Tracer: a.agentTracer(),
		Trusts:   a.mcp.trust.Names,
		Connects: a.decideConnection,
	})
	if err != nil {
		return agentPlan{}, err
	}
	token, err := config.ReadToken(l.TokenFile)
	if err != nil {
		return agentPlan{}, err
	}
	return agentPlan{gateway.ListenerConfig{Name: l.Name, Network: l.Listen.Network, Address: l.Listen.Address,
		UIDs: l.UIDs, Token: token, Log: a.log, Crowded: a.metrics.Crowded(l.Name)}, agent, l.MCP, agentTerms{l, messaging, token}}, nil
}

// openOperator opens the operators' socket, and the console that it gives links to.
func (a *App) openOperator() error {
	link, err := a.openConsole()
	if err != nil {
		return err
	}
	api := a.operatorAPI(gateway.ByPeer(a.roster.Identify))
	api.BreakGlass, api.Link = a.breakGlass(), link
	handler, err := gateway.NewOperator(api)
	if err != nil {
		return err
	}
	o := a.cfg.Operator
	a.operator, err = openListener(gateway.ListenerConfig{Name: bailiff.ChannelOperator, Network: o.Listen.Network,
		Address: o.Listen.Address,
		UIDs:    o.UIDs, Log: a.log, Crowded: a.metrics.Crowded(bailiff.ChannelOperator)}, handler)
	return err
}

// operatorAPI is what operators can do at every listener of theirs.
func (a *App) operatorAPI(who func(*http.Request) (bailiff.Approver, bool)) gateway.OperatorConfig {
	return gateway.OperatorConfig{Statuser: a, Sandboxes: operatorSandboxes{a.enforcer}, Approvals: a.approvals,
		Grants: a.approvals, Freezer: freezer{a.core}, Projects: projects{a.core}, Sessions: a.past, Reports: a.reports,
		Decisions: a.decisions, History: policyHistory{a.core}, Who: who, Permit: a.roster.permit, Undo: undoer{a.core},
		MCP: truster{a.core}}
}

func openListener(c gateway.ListenerConfig, handler http.Handler) (*listener, error) {
	opened, err := gateway.Open(c, handler)
	if err != nil {
		return nil, err
	}
	return &listener{Listener: opened, left: make(chan struct{})}, nil
}

func (a *App) serve() {
	for _, d := range a.openedListeners() {
		a.serveListener(d)
	}
	if a.fleet.server != nil {
		a.serving.Go(func() { a.listenerFailed(a.fleet.server.Serve()) })
	}
	if a.probes != nil {
		a.serving.Go(func() { a.listenerFailed(a.probes.serve()) })
	}
	close(a.up)
}

func (a *App) openedListeners() []*listener {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Clone(a.agents)
	for _, d := range []*listener{a.operator, a.console} {
		if d != nil {
			all = append(all, d)
		}
	}
	return all
}

func (a *App) serveListener(d *listener) {
	a.serving.Go(func() {
		defer close(d.left)
		a.listenerFailed(d.Serve())
	})
}

// listenerFailed ends the sidecar because a listener failed; the first fault is the reason.
func (a *App) listenerFailed(err error) {
	if err == nil {
		return
	}
	select {
	case a.failed <- err:
	default:
	}
}

func (a *App) shut(ctx context.Context, d *listener) {
	if err := d.Shutdown(ctx); err != nil {
		a.log.Warn("closing a listener", "listener", d.Name(), "error", err)
	}
}
