package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/bailiff-dev/bailiff"
)

func TestNoLabelCarriesWhatACallerChose(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	const free = "rm -rf / # chosen by a caller"
	m.Decided(context.Background(), bailiff.Request{Tool: free, Session: bailiff.Session{Platform: free, UserID: free, ChatID: free,
		Agent: bailiff.Agent{ID: free, Parent: free, Depth: 9}}},
		bailiff.Decision{
			Denials: []bailiff.Reason{{Rule: free, Message: free, Match: free}},
			Obligations: bailiff.Obligations{
				Backend: bailiff.BackendTerms{Name: free},
				Env:     bailiff.EnvTerms{Forward: []string{free}, Withheld: []bailiff.Withheld{{Name: free, Rule: free}}},
			},
		}, 0)
	m.Decided(context.Background(), bailiff.Request{},
		bailiff.Decision{Outcome: bailiff.Allow, Obligations: bailiff.Obligations{Env: bailiff.EnvTerms{Forward: []string{free}}}}, 0)
	m.Executed(context.Background(), free, free, free, 0)
	m.SandboxStarted(context.Background(), free, errors.New(free), 0)
	m.SandboxReaped(free, free)
	m.Audited(errors.New(free))
	m.EgressOpened(free)
	m.EgressRefused(free, free)
	m.EgressUnrecorded(free)
	m.EgressServed(free)()
	if text := exposition(t, registry); strings.Contains(text, "chosen") {
		t.Errorf("free text in a label:\n%s", text)
	}
}

func TestTheNumberOfRulesIsBounded(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	for i := range 3 * maxRules {
		m.Decided(context.Background(), bailiff.Request{}, bailiff.Denial(fmt.Sprintf("made.up_%d", i), ""), 0)
	}
	n, err := testutil.GatherAndCount(registry, "bailiff_denials_total")
	if err != nil || n != maxRules+1 {
		t.Errorf("%d series, %v; want %d", n, err, maxRules+1)
	}
}

func TestPrometheusFindsNothingToComplainAbout(t *testing.T) {
	t.Parallel()
	registry := NewRegistry()
	everything(collect(registry))
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Fatalf("%v %v", problems, err)
	}
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Logf("promtool is not installed; its library found nothing")
		return
	}
	check := exec.Command(promtool, "check", "metrics")
	check.Stdin = strings.NewReader(exposition(t, registry))
	if out, err := check.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// everything sets every collector.
func everything(m *Metrics) {
	d := bailiff.Denial("a.b", "")
	d.Env.Withheld = []bailiff.Withheld{{Name: "A", Rule: "a.b"}}
	m.Decided(context.Background(), bailiff.Request{}, d, time.Millisecond)
	m.Decided(context.Background(), bailiff.Request{}, bailiff.Decision{Outcome: bailiff.Allow, Observed: []string{"a.b"},
		WithoutObserve: "ask"}, 0)
	m.Forwarded([]string{"A"})
	m.ApprovalOpened("telegram")
	m.ApprovalResolved("telegram", "expired", "", time.Second, "")
	m.GrantsActive(1)
	m.PatternApproved("telegram")
	m.PatternUsed("telegram")
	m.Limited("user")
	m.Crowded("hermes")()
	m.ConsoleLogin(bailiff.LoginLink, true)
	m.KeyAnswered(true)
	m.BreakGlassUsed()
	m.PutBack(1)
	m.HistoryDamaged()
	m.BudgetDamaged()
	m.Executed(context.Background(), bailiff.Terminal, "docker", bailiff.Completed, time.Second)
	m.SandboxStarted(context.Background(), "docker", nil, time.Second)
	m.SandboxReaped("docker", "idle")
	m.SweepFailed("docker")
	m.LimitsWaived("docker", []string{"pids"})
	m.Listeners([]string{"hermes"})
	m.Decided(context.Background(), bailiff.Request{Caller: "hermes",
		Session: bailiff.Session{Agent: bailiff.Agent{ID: "a", Depth: 1}}}, d, 0)
	m.Reloaded(true, "abc")
	m.OutOfTime()
	m.BundleConfirmed()
	m.Audited(nil)
	m.Kept(1, 1, 1)
	m.EgressOpened("docker")
	m.EgressRefused("docker", "floor.address")
	m.EgressPassed(1, 1)
	m.EgressServed("docker")()
	m.EgressJudged(time.Millisecond)
}

func TestEveryNameOfTheContractIsServed(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	everything(collect(registry))
	text := exposition(t, registry)
	for name, labels := range map[string]string{
		"decisions_total": "backend,outcome,platform,tool", "agent_decisions_total": "depth,outcome", "denials_total": "platform,rule,tool",
		"observed_total":                  "outcome,platform,rule,tool",
		"decision_duration_seconds_count": "", "executions_total": "backend,status,tool",
		"execution_duration_seconds_count": "backend,tool", "env_forwarded_total": "name", "env_withheld_total": "name,rule",
		"backend_ready": "backend", "backend_limits_waived": "backend,limit",
		"sandboxes": "backend", "sandbox_starts_total": "backend,result",
		"sandbox_start_duration_seconds_count": "backend",
		"sandboxes_reaped_total":               "backend,reason", "policy_reloads_total": "result", "policy_timeouts_total": "",
		"policy_last_reload_success_timestamp_seconds": "", "policy_info": "revision",
		"approvals_oldest_pending_seconds": "", "policy_stale": "", "policy_bundle_last_success_timestamp_seconds": "", "audit_failing": "",
		"listener_last_decision_timestamp_seconds": "listener", "sandbox_sweep_failures_total": "backend",
		"approvals_total": "platform,resolution,scope", "approvals_pending": "platform", "approval_wait_seconds_count": "",
		"grants_active": "", "patterns_approved_total": "platform", "patterns_used_total": "platform",
		"requests_limited_total": "by", "connections_refused_total": "listener", "break_glass_total": "",
		"requests_forwarded_total": "outcome", "audit_events_total": "", "audit_errors_total": "", "audit_bytes": "",
		"audit_held_files": "", "audit_retired_files_total": "",
		"audit_exported_total": "", "audit_export_refused_total": "", "audit_export_errors_total": "", "audit_export_lag_seconds": "",
		"syslog_sent_total": "", "syslog_refused_total": "", "syslog_errors_total": "", "syslog_lag_seconds": "",
		"egress_connections_total": "backend,outcome", "egress_refusals_total": "rule", "egress_sent_bytes_total": "",
		"egress_received_bytes_total": "", "egress_open": "backend", "egress_judgement_duration_seconds_count": "",
		"build_info": "goversion,version",
	} {
		series := regexp.MustCompile(`(?m)^bailiff_` + name + `(?:\{(.*)\})? `).FindStringSubmatch(text)
		if series == nil {
			t.Errorf("bailiff_%s is not served", name)
			continue
		}
		if got := regexp.MustCompile(`="[^"]*"`).ReplaceAllString(series[1], ""); got != labels {
			t.Errorf("bailiff_%s has the labels %q, want %q", name, got, labels)
		}
	}
}

// compare looks for whole series, whatever else is served.
func compare(t *testing.T, registry *prometheus.Registry, want string) {
	t.Helper()
	text := "\n" + exposition(t, registry)
	for line := range strings.Lines(strings.TrimLeft(want, "\n")) {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("not served: %s", line)
		}
	}
}

func exposition(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(registry).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func BenchmarkDecided(b *testing.B) {
	m := collect(prometheus.NewRegistry())
	req := bailiff.Request{Tool: bailiff.Terminal, Session: bailiff.Session{Platform: "telegram"}}
	d := bailiff.Denial("command.destroys_system", "No.")
	for b.Loop() {
		m.Decided(context.Background(), req, d, time.Millisecond)
	}
}
