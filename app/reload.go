package app

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/internal/approval/people"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
	"github.com/bailiff-dev/bailiff/internal/network/throttle"
)

// part is one part of the sidecar that follows the configuration while it runs.
type part struct {
	// fields are those of [config.Config] that the part takes over.
	fields []string
	// rights says that the part gives people and programs their rights, and takes them away.
	rights bool
	// prepare reads what another configuration says, and changes nothing. The function that it returns puts that into force.
	prepare func(next *config.Config) (func(context.Context) error, error)
}

// parts are all of them, in the order in which they change.
func (a *App) parts() []part {
	return []part{
		{[]string{"Chat.AllowedUsers"}, true, a.prepareChats},
		{[]string{"People", "Approvals"}, true, a.preparePeople},
		{[]string{"Egress"}, false, a.prepareEgress},
		{nil, true, a.certificate.prepare},
		{[]string{"Operator.Tokens"}, true, a.prepareTokens},
		{[]string{"Limits.RequestsPerMinute", "Limits.Sandboxes", "Limits.Warm"}, false, a.prepareLimits},
		{[]string{"DecisionLog.Rotate", "DecisionLog.Retain"}, false, a.prepareDecisionLog},
		{[]string{"Backends.MountsAllowed"}, false, a.prepareMounts},
		{[]string{"Agent.Listeners"}, false, a.prepareListeners},
	}
}

// reload puts a new configuration into force as far as a running sidecar can: first all parts prepare what they take over, and where
// one of them cannot, nothing is changed but rights, so that no fault elsewhere keeps them. It returns the names of the sections that
// wait for a restart.
func (a *App) reload(ctx context.Context, next *config.Config) (waiting []string, err error) {
	select {
	case <-a.up:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var changes, rights []func(context.Context) error
	var faults, wrongRights []error
	for _, p := range a.parts() {
		change, err := p.prepare(next)
		changes, faults = append(changes, change), append(faults, err)
		if p.rights {
			rights, wrongRights = append(rights, change), append(wrongRights, err)
		}
	}
	switch wrong := errors.Join(faults...); {
	case errors.Join(wrongRights...) != nil:
		return nil, fmt.Errorf("nothing is changed: %w", wrong)
	case wrong != nil:
		return nil, errors.Join(fmt.Errorf("nothing but rights is changed: %w", wrong), inTurn(ctx, rights))
	}
	err = inTurn(ctx, changes)
	return a.waiting(next), err
}

// inTurn makes changes one after the other. A change that fails keeps none of the later ones.
func inTurn(ctx context.Context, changes []func(context.Context) error) error {
	var faults []error
	for _, change := range changes {
		faults = append(faults, change(ctx))
	}
	return errors.Join(faults...)
}

// waiting are the sections that differ from another configuration once all parts follow it: they wait for a restart.
func (a *App) waiting(next *config.Config) []string {
	var followed []string
	for _, p := range a.parts() {
		followed = append(followed, p.fields...)
	}
	all := differing(reflect.ValueOf(*a.cfg), reflect.ValueOf(*next), followed)
	if backends.NeedRestart(a.cfg.Backends, next.Backends) {
		all = append(all, "backends")
	}
	slices.Sort(all)
	return all
}

// differing are the keys of sections that are not alike in two configurations, but for fields that are followed.
func differing(now, next reflect.Value, followed []string) (keys []string) {
	for n := range now.NumField() {
		field, ofSection := now.Type().Field(n).Name, followedBelow(now.Type().Field(n).Name, followed)
		switch {
		case field == "Path", field == "Backends", slices.Contains(followed, field):
		case field == "Chat":
			if !reflect.DeepEqual(now.Field(n).Interface(), next.Field(n).Interface()) {
				keys = append(keys, "chat services")
			}
		case len(ofSection) > 0:
			for _, below := range differing(now.Field(n), next.Field(n), ofSection) {
				keys = append(keys, keyOf(field)+"."+below)
			}
		case !reflect.DeepEqual(now.Field(n).Interface(), next.Field(n).Interface()):
			keys = append(keys, keyOf(field))
		}
	}
	return keys
}

// followedBelow are the fields of a section that are followed.
func followedBelow(section string, followed []string) (fields []string) {
	for _, path := range followed {
		if field, below := strings.CutPrefix(path, section+"."); below {
			fields = append(fields, field)
		}
	}
	return fields
}

// keyOf is the key of bailiff.yaml of which a field holds the value.
func keyOf(field string) string {
	return strings.ToLower(wordsOfAField.ReplaceAllString(field, "${1}_${2}"))
}

var wordsOfAField = regexp.MustCompile(`([a-z])([A-Z])`)

func (a *App) prepareChats(next *config.Config) (func(context.Context) error, error) {
	return func(context.Context) error {
		a.services.allow(&a.cfg.Chat, &next.Chat)
		return nil
	}, nil
}

// preparePeople has people and routes follow, and what is pending planned anew.
func (a *App) preparePeople(next *config.Config) (func(context.Context) error, error) {
	inForce := *a.cfg
	inForce.Agent.Listeners, inForce.People, inForce.Approvals = next.Agent.Listeners, next.People, next.Approvals
	roster, err := people.New(&inForce, a.roster.logins)
	personal, wrong := offline.OpenPersonal(next)
	return func(ctx context.Context) error {
		a.personal.Replace(personal)
		a.roster.now.Store(roster)
		a.signal() // what is live may be someone's who has other rights now
		a.cfg.People, a.cfg.Approvals = next.People, next.Approvals
		var forgotten error
		if a.consolePage != nil {
			a.consolePage.Review()
			forgotten = a.keys.Retain(personNames(next.People))
		}
		return errors.Join(forgotten, a.approvals.Replan(ctx))
	}, errors.Join(err, wrong)
}

func (a *App) prepareLimits(next *config.Config) (func(context.Context) error, error) {
	return func(context.Context) error {
		now, limits := &a.cfg.Limits, next.Limits
		if limits.RequestsPerMinute != now.RequestsPerMinute {
			now.RequestsPerMinute = limits.RequestsPerMinute
			a.throttle.Set(throttle.Shares(limits.RequestsPerMinute))
		}
		now.Sandboxes, now.Warm = limits.Sandboxes, limits.Warm
		a.enforcer.Limit(lease.Bounds(limits.Sandboxes))
		a.enforcer.Warm(lease.Warm(limits.Warm))
		return nil
	}, nil
}

func (a *App) prepareDecisionLog(next *config.Config) (func(context.Context) error, error) {
	return func(context.Context) error {
		a.decisions.Limit(bounds(next.DecisionLog))
		a.cfg.DecisionLog.Rotate, a.cfg.DecisionLog.Retain = next.DecisionLog.Rotate, next.DecisionLog.Retain
		return nil
	}, nil
}

func (a *App) prepareMounts(next *config.Config) (func(context.Context) error, error) {
	return func(context.Context) error {
		a.followMounts(next.Backends)
		return nil
	}, nil
}

// prepareListeners reads everything about the agents' listeners.
func (a *App) prepareListeners(next *config.Config) (func(context.Context) error, error) {
	if a.stopping {
		return nil, errors.New("the sidecar is stopping")
	}
	var faults []error
	plans := make([]agentPlan, len(next.Agent.Listeners))
	for i, listener := range next.Agent.Listeners {
		var err error
		plans[i], err = a.planAgent(listener)
		faults = append(faults, err)
	}
	return func(ctx context.Context) error { return a.replaceListeners(ctx, next.Agent.Listeners, plans) }, errors.Join(faults...)
}

// replaceListeners closes the agents' listeners that are not as before and opens the new ones. Requests that run go on until they end,
// and clients of a listener that stays notice nothing. If the address of a listener is taken, its agents have none, and the error
// says so.
func (a *App) replaceListeners(ctx context.Context, listeners []config.Listener, plans []agentPlan) (err error) {
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
