package app

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/offline"
	"github.com/bailiff-dev/bailiff/internal/throttle"
)

// reload puts a new configuration into force as far as a running sidecar can:
// the agents' listeners with their users, platforms and tokens, how many
// sandboxes there may be, who may give commands by chat, how long the decision log stays, the people and the routes
// of approvals. It returns the names of the sections that wait for a restart.
func (s *App) reload(ctx context.Context, next *config.Config) (waiting []string, err error) {
	select {
	case <-s.up:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.services.allow(&s.cfg.Chat, &next.Chat)
	for name, changed := range map[string]bool{
		"state_dir": next.StateDir != s.cfg.StateDir, "operator": !reflect.DeepEqual(next.Operator, s.cfg.Operator),
		"metrics": next.Metrics != s.cfg.Metrics, "policies": !reflect.DeepEqual(next.Policies, s.cfg.Policies),
		"env": !reflect.DeepEqual(next.Env, s.cfg.Env), "backends": !reflect.DeepEqual(next.Backends, s.cfg.Backends),
		"limits.pending_approvals": next.Limits.PendingApprovals != s.cfg.Limits.PendingApprovals,
		"guards":                   !slices.Equal(next.Guards, s.cfg.Guards),
		"runner":                   next.Runner != s.cfg.Runner, "log": next.Log != s.cfg.Log,
		"decision_log.export": next.DecisionLog.Export != s.cfg.DecisionLog.Export,
		"traces":              next.Traces != s.cfg.Traces,
		"chat services":       !reflect.DeepEqual(next.Chat, s.cfg.Chat),
		"agent.data_paths":    !slices.Equal(next.Agent.DataPaths, s.cfg.Agent.DataPaths),
	} {
		if changed {
			waiting = append(waiting, name)
		}
	}
	slices.Sort(waiting)
	inForce := *s.cfg
	inForce.Agent.Listeners, inForce.People, inForce.Approvals = next.Agent.Listeners, next.People, next.Approvals
	if err := s.roster.follow(&inForce); err != nil {
		return waiting, err
	}
	s.cfg.People, s.cfg.Approvals = next.People, next.Approvals
	replanned := s.book.Replan(ctx)
	if next.Limits.RequestsPerMinute != s.cfg.Limits.RequestsPerMinute {
		s.cfg.Limits.RequestsPerMinute = next.Limits.RequestsPerMinute
		s.throttle.Set(throttle.Shares(next.Limits.RequestsPerMinute))
	}
	s.decisions.Bound(bounds(next.DecisionLog))
	s.cfg.Limits.Sandboxes = next.Limits.Sandboxes
	s.enforcer.Bound(enforcer.Bounds(next.Limits.Sandboxes))
	s.enforcer.Warm(enforcer.Warm(next.Limits.Warm))
	return waiting, errors.Join(replanned, s.replaceListeners(ctx, next.Agent.Listeners))
}

// replaceListeners closes every agents' door and opens the new ones, after
// everything about these has been read. Requests that run go on until they end.
// A door whose address is taken leaves its agents without one, which is told and
// fails closed.
func (s *App) replaceListeners(ctx context.Context, listeners []config.Listener) error {
	if s.stopping {
		return errors.New("the sidecar is stopping")
	}
	plans := make([]agentPlan, len(listeners))
	for i, listener := range listeners {
		var err error
		if plans[i], err = s.planAgent(listener); err != nil {
			return err
		}
	}
	s.closeAgents(context.WithoutCancel(ctx), s.mcps.retire(listeners))
	s.agents, s.cfg.Agent.Listeners = nil, nil
	defer s.learnListeners()
	for i, plan := range plans {
		d, err := s.openPlan(plan)
		if err != nil {
			return fmt.Errorf("opening listener %s anew: %w", listeners[i].Name, err)
		}
		s.agents, s.cfg.Agent.Listeners = append(s.agents, d), append(s.cfg.Agent.Listeners, listeners[i])
		s.serveDoor(d)
	}
	return nil
}

// closeAgents has every agents' door take no more requests. Requests that run go on
// until they end, and sessions that no listener has any more end after them.
func (s *App) closeAgents(ctx context.Context, retired []*mcpServer) {
	var shutting sync.WaitGroup
	for _, d := range s.agents {
		shutting.Go(func() { s.shut(ctx, d) })
		<-d.left
	}
	s.serving.Go(func() {
		shutting.Wait()
		closeMCP(retired)
	})
}

// Reread reads the configuration again and puts it into force as far as a running
// sidecar can. The log says how that ended; a faulty configuration changes nothing.
func (s *App) Reread(ctx context.Context) {
	next, err := offline.LoadConfig(s.file)
	if err != nil {
		s.log.Error("re-reading the configuration: it is faulty, nothing is changed", "error", err)
		return
	}
	waiting, err := s.reload(ctx, next)
	if err != nil {
		s.log.Error("re-reading the configuration", "error", err)
		return
	}
	s.log.Info("configuration re-read")
	if len(waiting) > 0 {
		s.log.Warn("restart the sidecar for the rest to take effect", "sections", strings.Join(waiting, ", "))
	}
}
