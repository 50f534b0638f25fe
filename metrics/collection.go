package metrics

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// collection are the collectors by the names that dashboards rely on.
type collection struct {
	decisions        *prometheus.CounterVec
	denials          *prometheus.CounterVec
	decisionDuration prometheus.Observer

	executions        *prometheus.CounterVec
	executionDuration *prometheus.HistogramVec

	approvals        *prometheus.CounterVec
	approvalsPending *prometheus.GaugeVec
	approvalWait     prometheus.Observer
	grantsActive     prometheus.Gauge

	envForwarded, envWithheld *prometheus.CounterVec

	backendReady         *prometheus.GaugeVec
	sandboxes            *prometheus.GaugeVec
	sandboxStarts        *prometheus.CounterVec
	sandboxStartDuration *prometheus.HistogramVec
	sandboxesReaped      *prometheus.CounterVec

	policyReloads     *prometheus.CounterVec
	policyLastSuccess prometheus.Gauge
	policyRevision    *prometheus.GaugeVec

	auditEvents, auditErrors prometheus.Counter

	limited     *prometheus.CounterVec
	glassBroken prometheus.Counter

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
		decisions:            r.counters("decisions_total", "Decisions of the policies.", "tool", "platform", "outcome", "backend"),
		denials:              r.counters("denials_total", "Rules that denied a request.", "tool", "platform", "rule"),
		decisionDuration:     r.histograms("decision_duration_seconds", "Time from a request to its decision.", decisionBuckets).WithLabelValues(),
		executions:           r.counters("executions_total", "Ends of allowed requests.", "tool", "backend", "status"),
		executionDuration:    r.histograms("execution_duration_seconds", "Time that allowed requests took to run.", executionBuckets, "tool", "backend"),
		approvals:            r.counters("approvals_total", "Approvals that are no longer pending, and questions that were refused.", "platform", "resolution", "scope"),
		approvalsPending:     r.gauges("approvals_pending", "Approvals that wait for a human.", "platform"),
		approvalWait:         r.histograms("approval_wait_seconds", "Time from a question to humans to its end.", waitBuckets).WithLabelValues(),
		grantsActive:         r.gauges("grants_active", "Grants that may let requests run.").WithLabelValues(),
		envForwarded:         r.counters("env_forwarded_total", "Variables that requests got in their sandboxes.", "name"),
		envWithheld:          r.counters("env_withheld_total", "Variables that were asked for and kept out.", "name", "rule"),
		backendReady:         r.gauges("backend_ready", "Whether a backend could make a sandbox when it was last asked.", "backend"),
		sandboxes:            r.gauges("sandboxes", "Sandboxes that exist.", "backend"),
		sandboxStarts:        r.counters("sandbox_starts_total", "Attempts to make a sandbox.", "backend", "result"),
		sandboxStartDuration: r.histograms("sandbox_start_duration_seconds", "Time that making a sandbox took.", startBuckets, "backend"),
		sandboxesReaped:      r.counters("sandboxes_reaped_total", "Sandboxes removed.", "backend", "reason"),
		policyReloads:        r.counters("policy_reloads_total", "Attempts to put policies into force.", "result"),
		policyLastSuccess:    r.gauges("policy_last_reload_success_timestamp_seconds", "When policies were last put into force.").WithLabelValues(),
		policyRevision:       r.gauges("policy_info", "The revision of the policies in force.", "revision"),
		auditEvents:          r.counters("audit_events_total", "Events written to the decision log.").WithLabelValues(),
		auditErrors:          r.counters("audit_errors_total", "Events that could not be written to the decision log.").WithLabelValues(),
		limited:              r.counters("requests_limited_total", "Requests kept out by a limit on how many may come.", "by"),
		glassBroken:          r.counters("break_glass_total", "Requests that ran on an operator's word against the policies.").WithLabelValues(),
		buildInfo:            r.gauges("build_info", "The version of bailiff and of Go.", "version", "goversion"),
	}
}

func (c *collection) announce(version string) {
	c.buildInfo.WithLabelValues(version, runtime.Version()).Set(1)
	for _, ok := range []bool{true, false} {
		c.policyReloads.WithLabelValues(result(ok))
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
