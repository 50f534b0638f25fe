package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer"
	"github.com/bailiff-dev/bailiff/internal/fleet/postgres"
	"github.com/bailiff-dev/bailiff/internal/judging/bundle"
	"github.com/bailiff-dev/bailiff/internal/judging/observed"
	"github.com/bailiff-dev/bailiff/internal/judging/offline"
)

// Status tells operators what the sidecar is and what is wrong with it.
func (a *App) Status(ctx context.Context) api.Status {
	platforms, chats := a.platforms(ctx), a.chats(ctx)
	replicas, rules := a.replicas(ctx), a.observed(ctx)
	return api.Status{
		Version: a.version, Started: a.started, Listeners: a.listeners(), Console: a.consoleURL(), Policies: a.policyStatus(),
		Backends: a.backendStatus(), Platforms: platforms, Chats: chats, Chat: a.services.status(), Egress: a.egressStatus(),
		Observed: rules, Replicas: replicas,
		Warnings: slices.Concat(observed.Warnings(rules), a.warnings(ctx, platforms, chats), replicaWarnings(replicas)),
	}
}

func (a *App) egressStatus() api.EgressStatus {
	s := a.egress.status()
	s.Direct = a.proxy.Names()
	return s
}

func (a *App) listeners() []api.ListenerStatus {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]api.ListenerStatus, 0, len(a.agents))
	for i, d := range a.agents {
		platforms := a.cfg.Agent.Listeners[i].Platforms
		if len(platforms) == 0 {
			platforms = []string{"messaging"}
		}
		list = append(list, api.ListenerStatus{Name: d.Name(), Listen: d.Address(), Platforms: platforms})
	}
	return list
}

// consoleURL is that by which browsers are to call the page, as in its links: cookies and security keys hold for one name
// only. It is empty if there is no console.
func (a *App) consoleURL() string {
	if a.console == nil {
		return ""
	}
	return a.consolePage.URL()
}

func (a *App) policyStatus() api.PolicyStatus {
	p := a.policies.Status()
	faults := make([]string, len(p.Faults))
	for i, fault := range p.Faults {
		faults[i] = fault.String()
	}
	bundles := make(map[string]api.Bundle, len(p.Bundles))
	for archive, revision := range p.Bundles {
		bundles[archive] = api.Bundle{Revision: revision}
	}
	return api.PolicyStatus{Revision: p.Revision, Loaded: p.Loaded, Files: p.Files, Bundles: bundles, Reloaded: p.Reloaded,
		OK: p.OK, Faults: faults,
		RolledBack: p.RolledBack, Waiting: p.Waiting}
}

func (a *App) backendStatus() []api.BackendStatus {
	var list []api.BackendStatus
	readiness := a.enforcer.Readiness()
	for _, name := range names(a.backends) {
		state := api.BackendStatus{Name: name, Isolated: a.backends[name].Isolated(), Ready: readiness[name] == nil}
		if !state.Ready {
			state.Message = readiness[name].Error()
		}
		list = append(list, state)
	}
	return list
}

// platforms says where an ordinary request of each platform would run.
func (a *App) platforms(ctx context.Context) []api.PlatformStatus {
	var list []api.PlatformStatus
	for _, platform := range tableNames(ctx, a.policies, "platforms") {
		list = append(list, a.ordinary(ctx, platform, ""))
	}
	return list
}

// shownChats bounds how many chats a status judges.
const shownChats = 1000

// chats says the same of each chat that the tables name.
func (a *App) chats(ctx context.Context) []api.ChatStatus {
	all := tableNames(ctx, a.policies, "chats")
	list := []api.ChatStatus{}
	for _, name := range all[:min(len(all), shownChats)] {
		platform, chat, _ := strings.Cut(name, "/")
		list = append(list, api.ChatStatus{PlatformStatus: a.ordinary(ctx, platform, chat), Chat: chat})
	}
	return list
}

// ordinary says where a harmless request would run.
func (a *App) ordinary(ctx context.Context, platform, chat string) api.PlatformStatus {
	req := bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: "true"},
		Session: bailiff.Session{ID: "status", Platform: platform, ChatType: "dm", ChatID: chat}}
	d := a.policies.Decide(ctx, req, a.enforcer.Circumstances(req)).Decision
	state := api.PlatformStatus{Platform: platform, Backend: d.Backend.Name, Image: a.image(d.Backend),
		IdleSeconds: d.Backend.IdleSeconds, MaxSeconds: d.Backend.MaxSeconds, Persistent: d.Backend.Persistent}
	if backend := a.backends[d.Backend.Name]; backend != nil && backend.Isolated() {
		state.Isolated = true
		state.Expose(d.Backend)
	}
	runtime, fault := a.runtime(d.Backend)
	switch state.Runtime = runtime; {
	case d.Outcome != bailiff.Allow:
		state.Message = messages(d.Reasons())
	case a.enforcer.Readiness()[d.Backend.Name] != nil:
		state.Message = "Backend " + d.Backend.Name + " is not ready."
	case fault != nil:
		state.Message = fault.Error()
	}
	return state
}

// runtime is the one by which a decision's sandbox would be made, and why it could not be.
func (a *App) runtime(b bailiff.BackendTerms) (string, error) {
	chooser, ok := a.backends[b.Name].(backends.Chooser)
	if !ok {
		return b.Runtime, nil
	}
	runtime, err := chooser.Runtime(b.Runtime)
	if err != nil {
		return b.Runtime, err
	}
	return runtime, chooser.Unusable()[runtime]
}

// image is the one that a decision's backend would use.
func (a *App) image(b bailiff.BackendTerms) string {
	if section := a.cfg.Backends[b.Name]; b.Image == "" && section != nil {
		return section.DefaultImage()
	}
	return b.Image
}

func messages(list []bailiff.Reason) string {
	texts := make([]string, len(list))
	for i, r := range list {
		texts[i] = r.Message
	}
	return strings.Join(texts, " ")
}

func (a *App) warnings(ctx context.Context, platforms []api.PlatformStatus, chats []api.ChatStatus) []string {
	all := slices.Concat(a.configWarnings(), a.variables.Warnings(), a.personal.Warnings(), a.decisions.Warnings(),
		a.exporters.service.Warnings(), a.exporters.syslog.Warnings())
	if err := errors.Join(a.variables.Err(), a.personal.Err()); err != nil {
		all = append(all, "variables are held back: "+err.Error())
	}
	if err := a.decisions.Err(); err != nil {
		all = append(all, "nothing runs while the decision log cannot be written: "+err.Error())
	}
	if err := a.approvals.Err(); err != nil {
		all = append(all, "nothing is asked while the book of approvals cannot be written: "+err.Error())
	}
	all = append(all, a.approvals.Warnings()...)
	unremoved := a.enforcer.Leftovers()
	for _, backend := range slices.Sorted(maps.Keys(unremoved)) {
		all = append(all, fmt.Sprintf("files of sessions that have ended could not be removed from backend %s yet: %v", backend,
			unremoved[backend]))
	}
	all = append(all, a.keptAside()...)
	all = append(all, a.runtimeWarnings()...)
	all = append(all, a.policyWarnings()...)
	all = append(all, a.mcpWarnings()...)
	for _, said := range offline.StrangersInRoles(ctx, a.policies, a.cfg) {
		all = append(all, "in the tables, "+said)
	}
	all = append(all, a.services.warnings()...)
	if a.shadow != nil {
		all = append(all, a.shadow.warnings()...)
	}
	for _, p := range platforms {
		if p.Platform != "cli" && p.Backend != "" && !p.Isolated {
			all = append(all, fmt.Sprintf("messaging platform %s runs on backend %s, which is not isolated", p.Platform, p.Backend))
		}
	}
	for _, c := range chats {
		if c.Platform != "cli" && c.Backend != "" && !c.Isolated {
			all = append(all, fmt.Sprintf("chat %s of messaging platform %s runs on backend %s, which is not isolated", c.Chat,
				c.Platform, c.Backend))
		}
	}
	return all
}

// runtimeWarnings say which runtimes that the configuration names run nothing, though their backend is ready.
func (a *App) runtimeWarnings() (all []string) {
	readiness := a.enforcer.Readiness()
	for _, name := range names(a.backends) {
		chooser, ok := a.backends[name].(backends.Chooser)
		if !ok || readiness[name] != nil {
			continue
		}
		unusable := chooser.Unusable()
		for _, runtime := range slices.Sorted(maps.Keys(unusable)) {
			all = append(all, fmt.Sprintf("backend %s runs nothing by runtime %s: %v", name, runtime, unusable[runtime]))
		}
	}
	return all
}

// stale says whether the policies in force may be others than the configuration's.
func (a *App) stale() bool {
	p := a.policies.Status()
	return !p.OK || p.RolledBack != nil || a.unwatched.Err() != nil || a.source != nil && a.source.Status().Fault != nil
}

// policyWarnings say that the policies in force are not the configuration's, or may
// not be, or could not be in force again.
func (a *App) policyWarnings() (all []string) {
	p := a.policies.Status()
	if back := p.RolledBack; back != nil {
		says, reason := "cannot be read", "none"
		if back.Reason != "" {
			reason = fmt.Sprintf("%q", back.Reason)
		}
		if p.Waiting != "" {
			says = fmt.Sprintf("say %.12s", p.Waiting)
		}
		all = append(all, fmt.Sprintf("rolled back to the policies %.12s by %s since %s (reason: %s), those of the "+
			"configuration %s; \"bailiff policies resume\" has these in force",
			back.Revision, back.By, back.At.Format(time.RFC3339), reason, says))
	}
	if p.Replaced != "" {
		all = append(all, fmt.Sprintf("the bundle server went back: the policies %.12s are in force again in the place of the "+
			"later ones %.12s", p.Revision, p.Replaced))
	}
	if a.source != nil {
		all = append(all, sourceWarnings(a.source.Status())...)
	}
	if p.Unkept != nil {
		all = append(all, "the policies in force cannot be rolled back to later: "+p.Unkept.Error())
	}
	return all
}

func sourceWarnings(b bundle.Status) (all []string) {
	if b.Fault != nil {
		since := "since the start"
		if !b.Confirmed.IsZero() {
			since = "since " + b.Confirmed.Format(time.RFC3339)
		}
		all = append(all, fmt.Sprintf("the bundle server has not vouched for the policies in force %s: %v", since, b.Fault))
	}
	if b.Unkept != nil {
		all = append(all, "a start without the bundle server would lack the last good bundle, which cannot be kept: "+b.Unkept.Error())
	}
	return all
}

// configWarnings are those of the configuration, and of questions that no person can
// answer.
func (a *App) configWarnings() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append(a.cfg.Warnings(), a.roster.now.Load().Warnings()...)
}

// faults are why the sidecar is not ready: policies that are not those in the
// files, a decision log that cannot be written, no backend that could run anything.
func (a *App) faults() []string {
	var all []string
	for _, fault := range a.policyStatus().Faults {
		all = append(all, "policies: "+fault)
	}
	if err := a.unwatched.Err(); err != nil {
		all = append(all, "policies: "+err.Error())
	}
	if err := a.decisions.Err(); err != nil {
		all = append(all, "decision log: "+err.Error())
	}
	if err := a.approvals.Err(); err != nil {
		all = append(all, "approvals: "+postgres.Detail(err))
	}
	backends := a.backendStatus()
	if !slices.ContainsFunc(backends, func(b api.BackendStatus) bool { return b.Ready }) {
		for _, b := range backends {
			all = append(all, "backend "+b.Name+": "+b.Message)
		}
	}
	return all
}

// operatorSandboxes shows the enforcer's sandboxes to operators.
type operatorSandboxes struct{ *enforcer.Enforcer }

// List returns the live sandboxes.
func (o operatorSandboxes) List(context.Context) []api.Sandbox {
	list := []api.Sandbox{}
	for _, b := range o.Sandboxes() {
		list = append(list, api.Sandbox(b))
	}
	return list
}

// Remove stops and removes one.
func (o operatorSandboxes) Remove(_ context.Context, id string) (bool, error) {
	return o.RemoveSandbox(id), nil
}

// withoutCLI leaves the messaging platforms.
func withoutCLI(platforms []string) []string {
	return slices.DeleteFunc(slices.Clone(platforms), func(p string) bool { return p == "cli" })
}
