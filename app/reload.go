package app

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/network/throttle"
)

// reload puts a new configuration into force as far as a running sidecar can:
// the agents' listeners with their users, platforms and tokens, how many sandboxes
// there may be and which folders they may show, the console's certificate and the tokens of programs, who may give
// commands by chat, how long the decision log stays, the
// people and the routes of approvals, how sandboxes leave. It returns the names of the sections that wait for a restart.
func (a *App) reload(ctx context.Context, next *config.Config) (waiting []string, err error) {
	select {
	case <-a.up:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.services.allow(&a.cfg.Chat, &next.Chat)
	waiting = a.changedUntilRestart(next)
	inForce := *a.cfg
	inForce.Agent.Listeners, inForce.People, inForce.Approvals = next.Agent.Listeners, next.People, next.Approvals
	if err := a.roster.follow(&inForce); err != nil {
		return waiting, err
	}
	a.cfg.People, a.cfg.Approvals = next.People, next.Approvals
	var forgotten error
	if a.consolePage != nil {
		a.consolePage.Review()
		forgotten = a.keys.Retain(personNames(next.People))
	}
	replanned := errors.Join(forgotten, a.approvals.Replan(ctx), a.followEgress(next.Egress), a.certificate.read(),
		a.followTokens(next.Operator.Tokens))
	if next.Limits.RequestsPerMinute != a.cfg.Limits.RequestsPerMinute {
		a.cfg.Limits.RequestsPerMinute = next.Limits.RequestsPerMinute
		a.throttle.Set(throttle.Shares(next.Limits.RequestsPerMinute))
	}
	a.decisions.Bound(bounds(next.DecisionLog))
	a.cfg.Limits.Sandboxes = next.Limits.Sandboxes
	a.enforcer.Bound(lease.Bounds(next.Limits.Sandboxes))
	a.enforcer.Warm(lease.Warm(next.Limits.Warm))
	a.followMounts(next.Backends)
	return waiting, errors.Join(replanned, a.replaceListeners(ctx, next.Agent.Listeners))
}

// changedUntilRestart are the sections that differ and that a running sidecar cannot change.
func (a *App) changedUntilRestart(next *config.Config) (waiting []string) {
	now := a.cfg
	for name, changed := range map[string]bool{
		"state_dir": next.StateDir != now.StateDir, "operator": !reflect.DeepEqual(untilRestart(next.Operator), untilRestart(now.Operator)),
		"metrics": next.Metrics != now.Metrics, "policies": !reflect.DeepEqual(next.Policies, now.Policies),
		"env":                      !reflect.DeepEqual(next.Env, now.Env),
		"backends":                 backends.NeedRestart(now.Backends, next.Backends),
		"limits.pending_approvals": next.Limits.PendingApprovals != now.Limits.PendingApprovals,
		"guards":                   !slices.Equal(next.Guards, now.Guards),
		"runner":                   next.Runner != now.Runner, "log": next.Log != now.Log,
		"decision_log.export": next.DecisionLog.Export != now.DecisionLog.Export,
		"store":               next.Store != now.Store,
		"decision_log.syslog": next.DecisionLog.Syslog != now.DecisionLog.Syslog,
		"traces":              next.Traces != now.Traces,
		"chat services":       !reflect.DeepEqual(next.Chat, now.Chat),
		"agent.data_paths":    !slices.Equal(next.Agent.DataPaths, now.Agent.DataPaths),
	} {
		if changed {
			waiting = append(waiting, name)
		}
	}
	slices.Sort(waiting)
	return waiting
}

// untilRestart is what a running sidecar cannot change of a section.
func untilRestart(o config.Operator) config.Operator {
	o.Tokens = nil
	return o
}

// replaceListeners closes the agents' listeners that are not as before and opens the new ones, after everything about these has
// been read. Requests that run go on until they end, and clients of a listener that stays notice nothing. If the address of a
// listener is taken, its agents have none, and the error says so.
func (a *App) replaceListeners(ctx context.Context, listeners []config.Listener) (err error) {
	if a.stopping {
		return errors.New("the sidecar is stopping")
	}
	plans := make([]agentPlan, len(listeners))
	for i, listener := range listeners {
		if plans[i], err = a.planAgent(listener); err != nil {
			return err
		}
	}
	staying, leaving := whichStay(a.agents, plans)
	a.closeAgents(context.WithoutCancel(ctx), leaving, a.mcpServers.retire(listeners))
	a.agents, a.cfg.Agent.Listeners = nil, nil
	defer a.updateListenerLabels()
	for i, plan := range plans {
		d := staying[i]
		if d == nil {
			opened, fault := a.openPlan(plan)
			if fault != nil {
				err = errors.Join(err, fmt.Errorf("opening listener %s anew: %w", listeners[i].Name, fault))
				continue
			}
			d = opened
			a.serveListener(d)
		}
		a.agents, a.cfg.Agent.Listeners = append(a.agents, d), append(a.cfg.Agent.Listeners, listeners[i])
	}
	return err
}

// whichStay are, for each plan, the open listener that is as planned, or nil, and the listeners that none plans any more.
func whichStay(open []*listener, plans []agentPlan) (staying, leaving []*listener) {
	staying, leaving = make([]*listener, len(plans)), slices.Clone(open)
	for i, plan := range plans {
		if at := slices.IndexFunc(leaving, plan.isOf); at >= 0 {
			staying[i] = leaving[at]
			leaving = slices.Delete(leaving, at, at+1)
		}
	}
	return staying, leaving
}

// isOf says whether an open listener is what is planned. One whose socket was removed or replaced is not.
func (p agentPlan) isOf(open *listener) bool {
	return open.HasAddress() && reflect.DeepEqual(p.terms, open.openedBy)
}

// closeAgents has agents' listeners take no more requests. Requests that run go on
// until they end, and sessions that no listener has any more end after them.
func (a *App) closeAgents(ctx context.Context, leaving []*listener, retired []*mcpServer) {
	var shutting sync.WaitGroup
	for _, d := range leaving {
		shutting.Go(func() { a.shut(ctx, d) })
		<-d.left
	}
	a.serving.Go(func() {
		shutting.Wait()
		closeMCP(retired)
	})
}

// Reread reads the configuration again and puts it into force as far as a running
// sidecar can. The log says how that ended; a faulty configuration changes nothing.
func (a *App) Reread(ctx context.Context) {
	next, err := offline.LoadConfig(a.file)
	if err != nil {
		a.log.Error("re-reading the configuration: it is faulty, nothing is changed", "error", err)
		return
	}
	waiting, err := a.reload(ctx, next)
	if err != nil {
		a.log.Error("re-reading the configuration", "error", err)
		return
	}
	a.log.Info("configuration re-read")
	if len(waiting) > 0 {
		a.log.Warn("restart the sidecar for the rest to take effect", "sections", strings.Join(waiting, ", "))
	}
}
