package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// collection are the collectors by the names that dashboards rely on.
type collection struct {
	requested
	questions
	places
	law
	trail
	talk
	ways
	buildInfo *prometheus.GaugeVec
}

var (
	decisionBuckets  = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1}
	executionBuckets = []float64{.001, .005, .025, .1, .5, 1, 5, 15, 60, 180, 600}
	waitBuckets      = []float64{.1, 1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600, 14400}
	startBuckets     = []float64{.005, .025, .1, .25, .5, 1, 2.5, 5, 15, 60, 180}
)

func newCollection(registerer prometheus.Registerer) *collection {
	r := registration{promauto.With(registerer)}
	return &collection{
		requested: newRequested(r),
		questions: newQuestions(r),
		places:    newPlaces(r),
		law:       newLaw(r),
		trail:     newTrail(r),
		talk:      newTalk(r),
		ways:      newWays(r),
		buildInfo: r.gauges("build_info", "The version of bailiff and of Go.", "version", "goversion"),
	}
}

// requested are of what came of requests.
type requested struct {
	decisions         *prometheus.CounterVec
	denials           *prometheus.CounterVec
	observed          *prometheus.CounterVec
	agentDecisions    *prometheus.CounterVec
	decisionDuration  prometheus.Observer
	lastDecision      *prometheus.GaugeVec
	executions        *prometheus.CounterVec
	executionDuration *prometheus.HistogramVec
	envForwarded      *prometheus.CounterVec
	envWithheld       *prometheus.CounterVec
	limited           *prometheus.CounterVec
	forwarded         *prometheus.CounterVec
	crowded           *prometheus.CounterVec
	consoleLogins     *prometheus.CounterVec
	securityKeys      *prometheus.CounterVec
	breakGlassUsed    prometheus.Counter
	putBack           prometheus.Counter
	historyDamaged    prometheus.Counter
	budgetDamaged     prometheus.Counter
}

func newRequested(r registration) requested {
	return requested{
		decisions: r.counters("decisions_total", "Decisions of the policies.", "tool", "platform", "outcome", "backend"),
		denials:   r.counters("denials_total", "Rules that denied a request.", "tool", "platform", "rule"),
		observed: r.counters("observed_total", "Rules that would have asked about a request or denied it, and were only observed.",
			"tool", "platform", "rule", "outcome"),
		agentDecisions: r.counters("agent_decisions_total", "Decisions on requests of agents that another agent started.", "depth",
			"outcome"),
		decisionDuration: r.histograms("decision_duration_seconds", "Time from a request to its decision.",
			decisionBuckets).WithLabelValues(),
		lastDecision: r.gauges("listener_last_decision_timestamp_seconds", "When a listener last brought a request.", "listener"),
		executions:   r.counters("executions_total", "Ends of allowed requests.", "tool", "backend", "status"),
		executionDuration: r.histograms("execution_duration_seconds", "Time that allowed requests took to run.", executionBuckets, "tool",
			"backend"),
		envForwarded:  r.counters("env_forwarded_total", "Variables that requests got in their sandboxes.", "name"),
		envWithheld:   r.counters("env_withheld_total", "Variables that were asked for and kept out.", "name", "rule"),
		forwarded:     r.counters("requests_forwarded_total", "Requests sent to the sidecar that serves their session.", "outcome"),
		limited:       r.counters("requests_limited_total", "Requests kept out by a limit on how many may come.", "by"),
		consoleLogins: r.counters("console_logins_total", "Logins to the console.", "login", "result"),
		securityKeys:  r.counters("security_keys_total", "Responses of security keys, to questions and registrations.", "result"),
		crowded:       r.counters("connections_refused_total", "Connections of peers that held too many at a listener.", "listener"),
		putBack:       r.counters("protected_changes_total", "Changes of protected files that were put back.").WithLabelValues(),
		historyDamaged: r.counters("session_history_damaged_total", "Histories of sessions that could not be read or written.").
			WithLabelValues(),
		budgetDamaged:  r.counters("budget_damaged_total", "Files of counters of budgets that could not be read.").WithLabelValues(),
		breakGlassUsed: r.counters("break_glass_total", "Requests that ran on an operator's word against the policies.").WithLabelValues(),
	}
}

// questions are of questions to humans and what they left.
type questions struct {
	approvals        *prometheus.CounterVec
	approvalsPending *prometheus.GaugeVec
	approvalsOldest  prometheus.Gauge
	approvalWait     prometheus.Observer
	grantsActive     prometheus.Gauge
	patternsApproved *prometheus.CounterVec
	patternsUsed     *prometheus.CounterVec
}

func newQuestions(r registration) questions {
	return questions{
		approvals: r.counters("approvals_total", "Approvals that are no longer pending, and questions that were refused.",
			"platform", "resolution", "scope"),
		approvalsPending: r.gauges("approvals_pending", "Approvals that wait for a human.", "platform"),
		approvalsOldest: r.gauges("approvals_oldest_pending_seconds",
			"How long the question waits that waits longest; 0 if none does.").WithLabelValues(),
		approvalWait: r.histograms("approval_wait_seconds", "Time from a question to humans to its end.",
			waitBuckets).WithLabelValues(),
		grantsActive:     r.gauges("grants_active", "Grants that may let requests run.").WithLabelValues(),
		patternsApproved: r.counters("patterns_approved_total", "Yeses of people to a pattern of a request's words.", "platform"),
		patternsUsed:     r.counters("patterns_used_total", "Requests that ran by a grant of a pattern, without a question.", "platform"),
	}
}

// talk is of chat services.
type talk struct {
	chatPosts    *prometheus.CounterVec
	chatClicks   *prometheus.CounterVec
	chatCommands *prometheus.CounterVec
	chatDown     *prometheus.GaugeVec
}

func newTalk(r registration) talk {
	return talk{
		chatPosts:  r.counters("chat_posts_total", "Attempts to post or edit an approval at a chat service.", "service", "result"),
		chatClicks: r.counters("chat_answers_total", "Answers to approvals that came by a chat service.", "service", "result"),
		chatCommands: r.counters("chat_commands_total", "Commands that people gave at a chat service, and what became of them.", "service",
			"status"),
		chatDown: r.gauges("chat_down", "Whether a chat service reaches nobody.", "service"),
	}
}

// ways are of what sandboxes reach.
type ways struct {
	egressConnections *prometheus.CounterVec
	egressRefusals    *prometheus.CounterVec
	egressSent        prometheus.Counter
	egressReceived    prometheus.Counter
	egressOpen        *prometheus.GaugeVec
	egressJudgement   prometheus.Observer
}

func newWays(r registration) ways {
	return ways{
		egressConnections: r.counters("egress_connections_total",
			"Connections out of sandboxes, and requests on those whose requests are judged.", "backend", "outcome"),
		egressRefusals: r.counters("egress_refusals_total", "Rules that refused connections and requests of sandboxes.", "rule"),
		egressSent:     r.counters("egress_sent_bytes_total", "Bytes that sandboxes sent, counted as a connection ends.").WithLabelValues(),
		egressReceived: r.counters("egress_received_bytes_total",
			"Bytes that sandboxes received, counted as a connection ends.").WithLabelValues(),
		egressOpen: r.gauges("egress_open", "Connections of sandboxes that the sidecar serves.", "backend"),
		egressJudgement: r.histograms("egress_judgement_duration_seconds",
			"Time that the policies took to judge a connection or a request on it.", decisionBuckets).WithLabelValues(),
	}
}

// places are of backends and their sandboxes.
type places struct {
	backendReady         *prometheus.GaugeVec
	limitsWaived         *prometheus.GaugeVec
	sandboxes            *prometheus.GaugeVec
	sandboxStarts        *prometheus.CounterVec
	sandboxStartDuration *prometheus.HistogramVec
	sandboxesReaped      *prometheus.CounterVec
	sweepFailures        *prometheus.CounterVec
}

func newPlaces(r registration) places {
	return places{
		backendReady: r.gauges("backend_ready", "Whether a backend could make a sandbox when it was last asked.", "backend"),
		limitsWaived: r.gauges("backend_limits_waived",
			"Limits without which the configuration lets sandboxes run where the machine cannot hold them.", "backend", "limit"),
		sandboxes:            r.gauges("sandboxes", "Sandboxes that exist.", "backend"),
		sandboxStarts:        r.counters("sandbox_starts_total", "Attempts to make a sandbox.", "backend", "result"),
		sandboxStartDuration: r.histograms("sandbox_start_duration_seconds", "Time that making a sandbox took.", startBuckets, "backend"),
		sandboxesReaped:      r.counters("sandboxes_reaped_total", "Sandboxes removed.", "backend", "reason"),
		sweepFailures:        r.counters("sandbox_sweep_failures_total", "Attempts to remove what was left behind that failed.", "backend"),
	}
}

// law is of the policies, in force and in the shadow.
type law struct {
	policyReloads     *prometheus.CounterVec
	policyLastSuccess prometheus.Gauge
	bundleConfirmed   prometheus.Gauge
	policyStale       prometheus.Gauge
	policyRevision    *prometheus.GaugeVec
	policyTimeouts    prometheus.Counter
	shadowDecisions   *prometheus.CounterVec
	shadowDropped     prometheus.Counter
}

func newLaw(r registration) law {
	return law{
		policyReloads: r.counters("policy_reloads_total", "Attempts to put policies into force.", "result"),
		policyLastSuccess: r.gauges("policy_last_reload_success_timestamp_seconds",
			"When policies were last put into force.").WithLabelValues(),
		bundleConfirmed: r.gauges("policy_bundle_last_success_timestamp_seconds",
			"When the bundle server last vouched for the policies in force; 0 where they are files.").WithLabelValues(),
		policyStale: r.gauges("policy_stale",
			"Whether the policies in force may be others than the configuration's.").WithLabelValues(),
		policyRevision: r.gauges("policy_info", "The revision of the policies in force.", "revision"),
		policyTimeouts: r.counters("policy_timeouts_total",
			"Evaluations of the policies that took too long, so that what they were about was denied.").WithLabelValues(),
		shadowDecisions: r.counters("shadow_decisions_total",
			"Decisions that the shadow policies judged too: their outcome, the live one, and where the difference leads.", "tool",
			"platform", "outcome", "live", "difference"),
		shadowDropped: r.counters("shadow_dropped_total",
			"Decisions that the shadow policies were to judge and did not.").WithLabelValues(),
	}
}

// trail is of the decision log, its export and that of traces.
type trail struct {
	auditEvents    prometheus.Counter
	auditErrors    prometheus.Counter
	auditFailing   prometheus.Gauge
	auditBytes     prometheus.Gauge
	auditHeld      prometheus.Gauge
	auditRetired   prometheus.Counter
	export, syslog Receiver
	spansExported  prometheus.Counter
	spansDropped   prometheus.Counter
}

func newTrail(r registration) trail {
	return trail{
		auditEvents:  r.counters("audit_events_total", "Events written to the decision log.").WithLabelValues(),
		auditErrors:  r.counters("audit_errors_total", "Events that could not be written to the decision log.").WithLabelValues(),
		auditFailing: r.gauges("audit_failing", "Whether the last event could not be written to the decision log.").WithLabelValues(),
		auditBytes:   r.gauges("audit_bytes", "Size of the decision log, as of its last new file or the last hour.").WithLabelValues(),
		auditHeld: r.gauges("audit_held_files",
			"Files of the decision log that are past their retention and could not be removed.").WithLabelValues(),
		auditRetired: r.counters("audit_retired_files_total", "Files of the decision log that retention removed.").WithLabelValues(),
		export: Receiver{
			exported: r.counters("audit_exported_total", "Events of the decision log that its receiver took.").WithLabelValues(),
			refused: r.counters("audit_export_refused_total",
				"Events of the decision log that its receiver refuses, and that were passed over.").WithLabelValues(),
			errors: r.counters("audit_export_errors_total", "Attempts to send the decision log that failed.").WithLabelValues(),
			lag: r.gauges("audit_export_lag_seconds",
				"How old the oldest event is that the receiver of the decision log has not; 0 if it has all.").WithLabelValues(),
		},
		syslog: Receiver{
			exported: r.counters("syslog_sent_total", "Events of the decision log that were sent by syslog.").WithLabelValues(),
			refused: r.counters("syslog_refused_total",
				"Events of the decision log that the receiver of syslog refuses, and that were passed over.").WithLabelValues(),
			errors: r.counters("syslog_errors_total", "Attempts to send the decision log by syslog that failed.").WithLabelValues(),
			lag: r.gauges("syslog_lag_seconds",
				"How old the oldest event is that was not sent by syslog; 0 if all were.").WithLabelValues(),
		},
		spansExported: r.counters("trace_spans_exported_total", "Parts of traces that their receiver took.").WithLabelValues(),
		spansDropped: r.counters("trace_spans_dropped_total",
			"Parts of traces that are lost, since the receiver failed or was too slow.").WithLabelValues(),
	}
}

func (c *collection) announce(version string) {
	c.buildInfo.WithLabelValues(version, runtime.Version()).Set(1)
	for _, ok := range []bool{true, false} {
		c.policyReloads.WithLabelValues(result(ok))
	}
	for _, share := range shares {
		c.limited.WithLabelValues(share)
	}
	for _, outcome := range forwardings {
		c.forwarded.WithLabelValues(outcome)
	}
}

type registration struct{ promauto.Factory }

func (r registration) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return r.NewCounterVec(prometheus.CounterOpts{Namespace: "bailiff", Name: name, Help: help}, labels)
}

func (r registration) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return r.NewGaugeVec(prometheus.GaugeOpts{Namespace: "bailiff", Name: name, Help: help}, labels)
}

func (r registration) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return r.NewHistogramVec(prometheus.HistogramOpts{Namespace: "bailiff", Name: name, Help: help, Buckets: buckets}, labels)
}
