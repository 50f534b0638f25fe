package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/outage"
)

// patience is how long running requests may go on when the sidecar stops.
const patience = 10 * time.Second

// sidecar is the core behind its doors.
type sidecar struct {
	*core
	started time.Time
	up      chan struct{} // closed when every door is served

	// unwatched is why changes of the policies go unseen; nil while they are seen.
	unwatched outage.Outage

	mu       sync.Mutex // guards cfg.Agent.Listeners too, once doors are served
	stopping bool
	agents   []*door // as cfg.Agent.Listeners
	mcps     mcps
	operator *door
	console  *door // nil if there is none
	services chats
	metered  *http.Server // nil if there is no page
	meter    net.Listener
	serving  sync.WaitGroup
	failed   chan error // a door that broke
}

// door is one that is served until it is shut.
type door struct {
	*gateway.Door
	left chan struct{} // closed when it takes no more requests
}

// newSidecar builds everything and opens every door, but serves nothing yet.
func newSidecar(ctx context.Context, cfg *config.Config, log *slog.Logger) (*sidecar, error) {
	core, err := newCore(ctx, cfg, log)
	if err != nil {
		return nil, err
	}
	s := &sidecar{core: core, started: time.Now(), up: make(chan struct{}), failed: make(chan error, 1)}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *sidecar) open() error {
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

func (s *sidecar) openAgent(l config.Listener) (*door, error) {
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

func (s *sidecar) openPlan(p agentPlan) (*door, error) {
	if p.mcp == nil {
		return openDoor(p.config, p.agent)
	}
	handler, err := s.serveMCP(p)
	if err != nil {
		return nil, err
	}
	return openDoor(p.config, handler)
}

func (s *sidecar) planAgent(l config.Listener) (agentPlan, error) {
	messaging := tableNames(context.Background(), s.policies, "platforms")
	agent, err := gateway.NewAgent(gateway.AgentConfig{
		Name: l.Name, Platforms: l.Platforms, Messaging: withoutCLI(messaging), DataPaths: s.cfg.Agent.DataPaths, Console: s.consoleURL(),
		Enforcer: s.enforcer, Tools: s.enforcer, Evaluator: s.policies, Circumstances: s.enforcer.Circumstances, Tracer: s.continued(),
	})
	if err != nil {
		return agentPlan{}, err
	}
	token, err := readToken(l.TokenFile)
	if err != nil {
		return agentPlan{}, err
	}
	return agentPlan{gateway.DoorConfig{Name: l.Name, Network: l.Listen.Network, Address: l.Listen.Address,
		UIDs: l.UIDs, Token: token, Log: s.log}, agent, l.MCP}, nil
}

// openOperator opens the operators' socket, and the console that it gives links to.
func (s *sidecar) openOperator() error {
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
func (s *sidecar) operatorAPI(who func(*http.Request) (bailiff.Approver, bool)) gateway.OperatorConfig {
	return gateway.OperatorConfig{Statuser: s, Sandboxes: operated{s.enforcer}, Approvals: s.book, Grants: s.book, Freezer: freezer{s.core},
		Decisions: s.decisions, Lawbook: lawbook{s.core}, Who: who}
}

func openDoor(c gateway.DoorConfig, handler http.Handler) (*door, error) {
	opened, err := gateway.Open(c, handler)
	if err != nil {
		return nil, err
	}
	return &door{opened, make(chan struct{})}, nil
}

// readToken reads the bearer token of a TCP listener.
func readToken(path string) (bailiff.Secret, error) {
	if path == "" {
		return bailiff.Secret{}, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return bailiff.Secret{}, fmt.Errorf("reading the token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 16 {
		return bailiff.Secret{}, fmt.Errorf("reading the token: %s holds %d characters, want at least 16", path, len(token))
	}
	return bailiff.NewSecret(token), nil
}

// run serves until ctx ends or a door breaks, then stops everything.
func (s *sidecar) run(ctx context.Context) error {
	background, cancel := context.WithCancel(ctx)
	s.background(background)
	s.serve()
	debug.FreeOSMemory() // what compiling and testing the policies took
	s.log.Info("serving", "version", version, "revision", s.policies.Revision(), "state", s.cfg.StateDir)
	var err error
	select {
	case <-ctx.Done():
	case err = <-s.failed:
	}
	cancel()
	s.log.Info("stopping")
	return errors.Join(err, s.stop())
}

// background starts what goes on beside the requests.
func (s *sidecar) background(ctx context.Context) {
	s.enforcer.Probe(ctx)
	s.enforcer.Adopt(ctx)
	s.enforcer.Rejudge(ctx) // the policies may be others than when it was let
	s.serving.Go(func() { s.enforcer.Watch(ctx) })
	s.serving.Go(func() { s.watchPolicies(ctx) })
	if s.shadow != nil {
		s.serving.Go(func() { s.shadow.watch(ctx) })
	}
	if s.source != nil {
		s.serving.Go(func() { s.source.Follow(ctx, s.policies) })
	}
	s.serving.Go(func() { s.exporter.Run(ctx, s.decisions.Written) })
	s.serving.Go(func() { s.sweepAlways(ctx) })
	s.serving.Go(func() { s.rejudge(ctx) })
	s.runChats(ctx)
	for _, warning := range s.Status(ctx).Warnings {
		s.log.Warn(warning)
	}
}

// watchPolicies reloads them when their files change. If it cannot, /readyz says
// so: changes would go unseen.
func (s *sidecar) watchPolicies(ctx context.Context) {
	if err := s.policies.Watch(ctx); err != nil && ctx.Err() == nil {
		err = fmt.Errorf("watching the policies: %w; changes are not seen any more, restart the sidecar", err)
		s.unwatched.Set(err)
		s.log.Error(err.Error())
	}
}

// rejudge has what is live judged by new policies as they come into force.
func (s *sidecar) rejudge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.reloaded:
			s.enforcer.Rejudge(ctx)
		}
	}
}

// sweepEvery is how long at most something stays that was left behind.
const sweepEvery = 5 * time.Minute

// sweepAlways removes sandboxes that were left behind, by earlier runs and since,
// and gives back memory that nothing uses any more.
func (s *sidecar) sweepAlways(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if _, err := s.enforcer.Sweep(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("removing what earlier runs left", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			debug.FreeOSMemory() // what busy minutes took
		}
	}
}

func (s *sidecar) serve() {
	for _, d := range s.doors() {
		s.serveDoor(d)
	}
	if s.metered != nil {
		s.serving.Go(func() { s.broke(s.serveMetrics()) })
	}
	close(s.up)
}

func (s *sidecar) doors() []*door {
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

func (s *sidecar) serveDoor(d *door) {
	s.serving.Go(func() {
		defer close(d.left)
		s.broke(d.Serve())
	})
}

// broke ends the sidecar because a door did; the first to break says why.
func (s *sidecar) broke(err error) {
	if err == nil {
		return
	}
	select {
	case s.failed <- err:
	default:
	}
}

// stop closes the doors, then the core, and returns when nothing runs any more.
func (s *sidecar) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var doors sync.WaitGroup
	fault := s.services.close()
	s.mu.Lock()
	s.stopping = true // no reload opens a door from here on
	s.mu.Unlock()
	for _, d := range s.doors() {
		doors.Go(func() { s.shut(ctx, d) })
	}
	doors.Wait()
	closeMCP(s.mcps.retire(nil))
	err := errors.Join(fault, s.core.close(ctx))
	if s.metered != nil {
		err = errors.Join(err, s.metered.Close())
	}
	s.serving.Wait()
	return err
}

func (s *sidecar) shut(ctx context.Context, d *door) {
	if err := d.Shutdown(ctx); err != nil {
		s.log.Warn("closing a listener", "listener", d.Name(), "error", err)
	}
}
