package app

import (
	"context"
	"net/http"
	"slices"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/config"
)

// door is one that is served until it is shut.
type door struct {
	*gateway.Door
	left chan struct{} // closed when it takes no more requests
}

func (s *App) openDoors() error {
	if err := s.openOperator(); err != nil { // first: agents are told of its web page
		return err
	}
	for _, listener := range s.cfg.Agent.Listeners {
		door, err := s.openAgent(listener)
		if err != nil {
			return err
		}
		s.agents = append(s.agents, door)
	}
	if err := s.openChats(); err != nil {
		return err
	}
	return s.openMetrics()
}

func (s *App) openAgent(l config.Listener) (*door, error) {
	plan, err := s.planAgent(l)
	if err != nil {
		return nil, err
	}
	return s.openPlan(plan)
}

// agentPlan is all that opening an agents' door needs but the address being free.
type agentPlan struct {
	config gateway.DoorConfig
	agent  *gateway.Agent
	mcp    *config.MCP // nil if it is not served
}

func (s *App) openPlan(p agentPlan) (*door, error) {
	if p.mcp == nil {
		return openDoor(p.config, p.agent)
	}
	handler, err := s.serveMCP(p)
	if err != nil {
		return nil, err
	}
	return openDoor(p.config, handler)
}

func (s *App) planAgent(l config.Listener) (agentPlan, error) {
	messaging := tableNames(context.Background(), s.policies, "platforms")
	agent, err := gateway.NewAgent(gateway.AgentConfig{
		Name: l.Name, Platforms: l.Platforms, Messaging: withoutCLI(messaging), DataPaths: s.cfg.Agent.DataPaths, Console: s.consoleURL(),
		Enforcer: s.enforcer, Tools: s.enforcer, Evaluator: s.policies, Circumstances: s.enforcer.Circumstances, Tracer: s.continued(),
	})
	if err != nil {
		return agentPlan{}, err
	}
	token, err := config.ReadToken(l.TokenFile)
	if err != nil {
		return agentPlan{}, err
	}
	return agentPlan{gateway.DoorConfig{Name: l.Name, Network: l.Listen.Network, Address: l.Listen.Address,
		UIDs: l.UIDs, Token: token, Log: s.log}, agent, l.MCP}, nil
}

// openOperator opens the operators' socket, and the console that it gives links to.
func (s *App) openOperator() error {
	link, err := s.openConsole()
	if err != nil {
		return err
	}
	api := s.operatorAPI(gateway.ByPeer(s.roster.Identify))
	api.Glass, api.Link = s.breaker(), link
	handler, err := gateway.NewOperator(api)
	if err != nil {
		return err
	}
	o := s.cfg.Operator
	s.operator, err = openDoor(gateway.DoorConfig{Name: bailiff.ChannelOperator, Network: o.Listen.Network, Address: o.Listen.Address,
		UIDs: o.UIDs, Log: s.log}, handler)
	return err
}

// operatorAPI is what operators can do at every door of theirs.
func (s *App) operatorAPI(who func(*http.Request) (bailiff.Approver, bool)) gateway.OperatorConfig {
	return gateway.OperatorConfig{Statuser: s, Sandboxes: operated{s.enforcer}, Approvals: s.book, Grants: s.book, Freezer: freezer{s.core},
		Decisions: s.decisions, Lawbook: policyHistory{s.core}, Who: who}
}

func openDoor(c gateway.DoorConfig, handler http.Handler) (*door, error) {
	opened, err := gateway.Open(c, handler)
	if err != nil {
		return nil, err
	}
	return &door{opened, make(chan struct{})}, nil
}

func (s *App) serve() {
	for _, d := range s.doors() {
		s.serveDoor(d)
	}
	if s.metered != nil {
		s.serving.Go(func() { s.broke(s.serveMetrics()) })
	}
	close(s.up)
}

func (s *App) doors() []*door {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.agents)
	for _, d := range []*door{s.operator, s.console} {
		if d != nil {
			all = append(all, d)
		}
	}
	return all
}

func (s *App) serveDoor(d *door) {
	s.serving.Go(func() {
		defer close(d.left)
		s.broke(d.Serve())
	})
}

// broke ends the sidecar because a door did; the first to break says why.
func (s *App) broke(err error) {
	if err == nil {
		return
	}
	select {
	case s.failed <- err:
	default:
	}
}

func (s *App) shut(ctx context.Context, d *door) {
	if err := d.Shutdown(ctx); err != nil {
		s.log.Warn("closing a listener", "listener", d.Name(), "error", err)
	}
}
