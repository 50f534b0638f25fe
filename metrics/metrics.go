// Package metrics holds the Prometheus collectors and the rules for their
// labels, and nothing else: a package that counts declares an interface, and [Metrics] fits
// it.
//
// Promised: no label carries a value that a caller can choose. Platforms and
// variables count under their names only when the policies' tables name them,
// backends when they are configured, tools, outcomes, statuses and reasons when
// the contract does, rules when they look like rules and are among the first
// [maxRules]; any other value is "other". So the number of series is bounded
// by the configuration.
//
// A new metric gets its line in docs/metrics.md and a panel in examples/grafana,
// whose tests miss it otherwise.
package metrics

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Config names what labels may say.
type Config struct {
	// Version is the program's own.
	Version string
	// Backends are the configured ones.
	Backends []string
	// TraceOf is the id of the trace that what happens in a context is exported in, empty
	// if there is none; nil if nothing is. It is an exemplar, never a label.
	TraceOf func(context.Context) string
}

// Metrics counts what happens. It may be used concurrently.
type Metrics struct {
	*collection
	labels  *labels
	traceOf func(context.Context) string
}

// NewRegistry returns a registry that holds the collectors of the Go runtime
// and of the process.
func NewRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// Handler serves a registry to Prometheus, with exemplars for clients that take OpenMetrics.
func Handler(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry, CoalesceGather: true, EnableOpenMetrics: true})
}

// New registers all collectors. It panics if they are registered already. No
// platform but "cli" and no variable counts under its own name until
// [Metrics.Known] names them.
func New(registerer prometheus.Registerer, c Config) *Metrics {
	m := &Metrics{collection: newCollection(registerer), labels: newLabels(c.Backends), traceOf: c.TraceOf}
	if m.traceOf == nil {
		m.traceOf = func(context.Context) string { return "" }
	}
	m.Known(nil, nil)
	m.announce(c.Version)
	m.egressRefusals.WithLabelValues("floor.address")
	for _, login := range logins {
		m.consoleLogins.WithLabelValues(login, loginIn)
		m.consoleLogins.WithLabelValues(login, loginRefused)
	}
	for _, result := range []string{keyCounted, loginRefused} {
		m.securityKeys.WithLabelValues(result)
	}
	for backend := range m.labels.backends {
		m.sandboxes.WithLabelValues(backend)
		m.backendReady.WithLabelValues(backend)
		m.sweepFailures.WithLabelValues(backend)
		m.egressOpen.WithLabelValues(backend)
		for _, outcome := range []string{wayOpened, wayRefused, wayUnrecorded} {
			m.egressConnections.WithLabelValues(backend, outcome)
		}
	}
	return m
}

// Known replaces the platforms and variables that count under their own names.
func (m *Metrics) Known(platforms, variables []string) { m.labels.know(platforms, variables) }

// Listeners replaces the listeners of which it is shown when they last brought a request.
func (m *Metrics) Listeners(names []string) {
	now := set(names)
	for name := range *m.labels.listeners.Swap(&now) {
		if !now[name] {
			m.lastDecision.DeleteLabelValues(name)
		}
	}
}

// Crowded counts, at each call of what it returns, a connection of a peer that held too many at
// a listener. A listener is shown from then on, with none.
func (m *Metrics) Crowded(listener string) func() { return m.crowded.WithLabelValues(listener).Inc }

// logins are the ways to log in.
var logins = []string{bailiff.LoginLink, bailiff.LoginOIDC, bailiff.LoginDevice, bailiff.LoginToken}

// What became of a login, or of the response of a security key.
const (
	loginIn      = "in"
	loginRefused = "refused"
	keyCounted   = "counted"
)

// ConsoleLogin counts a login to the console: by a link, by the OpenID provider or on a command line.
func (m *Metrics) ConsoleLogin(login string, in bool) {
	result := loginRefused
	if in {
		result = loginIn
	}
	if !slices.Contains(logins, login) {
		login = other
	}
	m.consoleLogins.WithLabelValues(login, result).Inc()
}

// KeyAnswered counts a response of a security key at the console.
func (m *Metrics) KeyAnswered(counted bool) {
	result := loginRefused
	if counted {
		result = keyCounted
	}
	m.securityKeys.WithLabelValues(result).Inc()
}

// Decided counts a decision, what it denied, what was observed of it and which variables it kept out.
func (m *Metrics) Decided(ctx context.Context, req bailiff.Request, d bailiff.Decision, took time.Duration) {
	m.judged(ctx, req, d.Outcome.String(), d.Backend.Name, took)
	tool, platform := toolLabel(req.Tool), m.labels.platform(req.Session.Platform)
	for _, denial := range d.Denials {
		m.denials.WithLabelValues(tool, platform, m.labels.rule(denial.Rule)).Inc()
	}
	for _, rule := range d.Observed {
		m.observed.WithLabelValues(tool, platform, m.labels.rule(rule), d.WithoutObserve).Inc()
	}
	for _, w := range d.Env.Withheld {
		m.envWithheld.WithLabelValues(m.labels.variable(w.Name), m.labels.rule(w.Rule)).Inc()
	}
}

// Unrecorded counts a decision that could not be written down, so that nothing of it
// came about.
func (m *Metrics) Unrecorded(ctx context.Context, req bailiff.Request, d bailiff.Decision, took time.Duration) {
	m.judged(ctx, req, string(bailiff.Unavailable), d.Backend.Name, took)
}

func (m *Metrics) judged(ctx context.Context, req bailiff.Request, outcome, backend string, took time.Duration) {
	m.decisions.WithLabelValues(toolLabel(req.Tool), m.labels.platform(req.Session.Platform), outcome, m.labels.backend(backend)).Inc()
	if req.Session.Agent.IsSub() {
		m.agentDecisions.WithLabelValues(depthLabel(req.Session.Agent.Depth), outcome).Inc()
	}
	observe(m.decisionDuration, took, m.traceOf(ctx))
	if (*m.labels.listeners.Load())[req.Caller] {
		m.lastDecision.WithLabelValues(req.Caller).SetToCurrentTime()
	}
}

// Shadowed counts what policies in the shadow would have decided: their outcome, the
// one that was decided, and where what differs leads, if anything does.
func (m *Metrics) Shadowed(tool bailiff.Tool, platform string, was, now bailiff.Outcome, leads api.Direction) {
	difference := none
	if leads != "" {
		difference = oneOf(directions, leads)
	}
	m.shadowDecisions.WithLabelValues(oneOf(shadowed, tool), m.labels.platform(platform), now.String(), was.String(), difference).Inc()
}

// ShadowDropped counts a decision that these policies were to judge and did not.
func (m *Metrics) ShadowDropped() { m.shadowDropped.Inc() }

// Forwarded counts the variables that a request gets in its sandbox.
func (m *Metrics) Forwarded(names []string) {
	for _, name := range names {
		m.envForwarded.WithLabelValues(m.labels.variable(name)).Inc()
	}
}

// Executed counts the end of an allowed request.
func (m *Metrics) Executed(ctx context.Context, tool bailiff.Tool, backend string, status bailiff.Status, took time.Duration) {
	backend = m.labels.backend(backend)
	m.executions.WithLabelValues(toolLabel(tool), backend, statusLabel(status)).Inc()
	observe(m.executionDuration.WithLabelValues(toolLabel(tool), backend), took, m.traceOf(ctx))
}

// SandboxStarted counts an attempt to make a sandbox.
func (m *Metrics) SandboxStarted(ctx context.Context, backend string, err error, took time.Duration) {
	backend = m.labels.backend(backend)
	m.sandboxStarts.WithLabelValues(backend, result(err == nil)).Inc()
	observe(m.sandboxStartDuration.WithLabelValues(backend), took, m.traceOf(ctx))
	if err == nil {
		m.sandboxes.WithLabelValues(backend).Inc()
	}
}

// SandboxAdopted counts in a sandbox of an earlier run that this one goes on with.
func (m *Metrics) SandboxAdopted(backend string) {
	m.sandboxes.WithLabelValues(m.labels.backend(backend)).Inc()
}

// SandboxHandedOver counts a ready sandbox that a session took over. It was counted in when
// it was made.
func (m *Metrics) SandboxHandedOver(backend string) {
	m.sandboxStarts.WithLabelValues(m.labels.backend(backend), warm).Inc()
}

// SandboxReaped counts the removal of a sandbox. An orphan is another run's, so
// it was not among the sandboxes of this one.
func (m *Metrics) SandboxReaped(backend, reason string) {
	backend = m.labels.backend(backend)
	m.sandboxesReaped.WithLabelValues(backend, reasonLabel(reason)).Inc()
	if reason != orphan {
		m.sandboxes.WithLabelValues(backend).Dec()
	}
}

// BackendReady says whether a backend could make a sandbox when it was last asked.
func (m *Metrics) BackendReady(backend string, ready bool) {
	m.backendReady.WithLabelValues(m.labels.backend(backend)).Set(truth(ready))
}

// LimitsWaived says without which limits sandboxes of a backend may run where the machine cannot hold them.
func (m *Metrics) LimitsWaived(backend string, limits []string) {
	for _, limit := range limits {
		m.limitsWaived.WithLabelValues(m.labels.backend(backend), limit).Set(1)
	}
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

// SweepFailed counts an attempt to remove what was left behind at a backend.
func (m *Metrics) SweepFailed(backend string) {
	m.sweepFailures.WithLabelValues(m.labels.backend(backend)).Inc()
}

// ApprovalOpened counts a question to humans in.
func (m *Metrics) ApprovalOpened(platform string) {
	m.approvalsPending.WithLabelValues(m.labels.platform(platform)).Inc()
}

// ApprovalResolved counts its end. One that was approved and became void is
// counted a second time, as void; it was not pending any more.
func (m *Metrics) ApprovalResolved(platform, resolution, scope string, waited time.Duration, trace string) {
	platform = m.labels.platform(platform)
	m.approvals.WithLabelValues(platform, resolutionLabel(resolution), scopeLabel(scope)).Inc()
	if resolution != string(bailiff.ApprovalVoid) {
		m.approvalsPending.WithLabelValues(platform).Dec()
		observe(m.approvalWait, waited, trace)
	}
}

// ApprovalEndedElsewhere takes out a question that another sidecar has counted by its end.
func (m *Metrics) ApprovalEndedElsewhere(platform string) {
	m.approvalsPending.WithLabelValues(m.labels.platform(platform)).Dec()
}

// ApprovalRefused counts a question that never became an approval: "refused", since too
// much was pending already, or "unreachable".
func (m *Metrics) ApprovalRefused(platform, resolution string) {
	m.approvals.WithLabelValues(m.labels.platform(platform), resolutionLabel(resolution), none).Inc()
}

// GrantsActive sets how many grants may let requests run.
func (m *Metrics) GrantsActive(n int) { m.grantsActive.Set(float64(n)) }

// PatternApproved counts a yes to a pattern of a request's words.
func (m *Metrics) PatternApproved(platform string) {
	m.patternsApproved.WithLabelValues(m.labels.platform(platform)).Inc()
}

// PatternUsed counts a request that ran by a grant of a pattern.
func (m *Metrics) PatternUsed(platform string) {
	m.patternsUsed.WithLabelValues(m.labels.platform(platform)).Inc()
}

// BreakGlassUsed counts a request that ran on an operator's word against the policies.
func (m *Metrics) BreakGlassUsed() { m.breakGlassUsed.Inc() }

// PutBack counts changes of protected files that were put back.
func (m *Metrics) PutBack(changes int) { m.putBack.Add(float64(changes)) }

// HistoryDamaged counts a history of a session that could not be read or written.
func (m *Metrics) HistoryDamaged() { m.historyDamaged.Inc() }

// BudgetDamaged counts a file of counters of budgets that could not be read.
func (m *Metrics) BudgetDamaged() { m.budgetDamaged.Inc() }

// Limited counts a request that was kept out by the share of a "caller",
// "session" or "user".
func (m *Metrics) Limited(by string) { m.limited.WithLabelValues(oneOf(shares, by)).Inc() }

// ToPeer counts a request that another sidecar was to run, by what became of that.
func (m *Metrics) ToPeer(outcome string) {
	m.forwarded.WithLabelValues(oneOf(forwardings, outcome)).Inc()
}

// BundleConfirmed says that the bundle server vouches for the policies in force now. It
// does not where something is rolled back.
func (m *Metrics) BundleConfirmed() { m.bundleConfirmed.SetToCurrentTime() }

// Reloaded counts an attempt to put policies into force. The revision is the
// one in force afterwards.
func (m *Metrics) Reloaded(ok bool, revision string) {
	m.policyReloads.WithLabelValues(result(ok)).Inc()
	if !ok {
		return
	}
	m.policyLastSuccess.SetToCurrentTime()
	m.policyRevision.Reset()
	m.policyRevision.WithLabelValues(revision).Set(1)
}

// OutOfTime counts an evaluation of the policies that took too long, so that what it was about was denied.
func (m *Metrics) OutOfTime() { m.policyTimeouts.Inc() }

// State are figures that are read at each scrape, and not counted as they change.
type State struct {
	// OldestPending is when the question was asked that waits longest; zero if none does.
	OldestPending time.Time
	// PoliciesStale says that the policies in force may be others than the
	// configuration's, LogFailing that the decision log cannot be written.
	PoliciesStale, LogFailing bool
	// ExportLag is how old the oldest event is that is still to be exported, SyslogLag that
	// is still to be sent by syslog.
	ExportLag, SyslogLag time.Duration
}

// Show sets what is shown next.
func (m *Metrics) Show(s State) {
	waits := 0.0
	if !s.OldestPending.IsZero() {
		waits = max(0, time.Since(s.OldestPending).Seconds())
	}
	m.approvalsOldest.Set(waits)
	m.policyStale.Set(truth(s.PoliciesStale))
	m.auditFailing.Set(truth(s.LogFailing))
	m.export.lag.Set(s.ExportLag.Seconds())
	m.syslog.lag.Set(s.SyslogLag.Seconds())
}

// Audited counts an event of the decision log, or the failure to write one.
func (m *Metrics) Audited(err error) {
	if err != nil {
		m.auditErrors.Inc()
		return
	}
	m.auditEvents.Inc()
}

// Kept says how large the decision log is, how many of its files could not be
// removed although they should, and how many more were.
func (m *Metrics) Kept(bytes int64, held, retired int) {
	m.auditBytes.Set(float64(bytes))
	m.auditHeld.Set(float64(held))
	m.auditRetired.Add(float64(retired))
}

// SpansExported counts parts of traces that their receiver took.
func (m *Metrics) SpansExported(n int) { m.spansExported.Add(float64(n)) }

// SpansDropped counts those that it never got.
func (m *Metrics) SpansDropped(n int) { m.spansDropped.Add(float64(n)) }

// Export counts what the receiver of decision_log.export takes.
func (m *Metrics) Export() Receiver { return m.export }

// Syslog counts what that of decision_log.syslog takes.
func (m *Metrics) Syslog() Receiver { return m.syslog }

// Receiver counts what one receiver of the decision log takes.
type Receiver struct {
	exported, refused, errors prometheus.Counter
	lag                       prometheus.Gauge
}

// Exported counts events that it took.
func (r Receiver) Exported(events int) { r.exported.Add(float64(events)) }

// ExportRefused counts events that it refuses, and that were passed over.
func (r Receiver) ExportRefused(events int) { r.refused.Add(float64(events)) }

// ExportFailed counts an attempt to send it what there is.
func (r Receiver) ExportFailed() { r.errors.Inc() }

// observe notes how long something took, and in which trace that can be looked at.
func observe(histogram prometheus.Observer, took time.Duration, trace string) {
	if trace == "" {
		histogram.Observe(took.Seconds())
		return
	}
	histogram.(prometheus.ExemplarObserver).ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": trace})
}

func result(ok bool) string {
	if ok {
		return "success"
	}
	return "failure"
}
