package metrics

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// collect registers collectors that know a platform and a variable.
func collect(registry *prometheus.Registry) *Metrics {
	m := New(registry, Config{Version: "1.2.3", Backends: []string{"docker", "local"}})
	m.Known([]string{"telegram"}, []string{"GITHUB_TOKEN"})
	return m
}

func TestADecisionIsCountedWithWhatItDeniedAndKeptOut(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	telegram := bailiff.Request{Tool: bailiff.Terminal, Session: bailiff.Session{Platform: "telegram"}}
	m.Decided(context.Background(), telegram, bailiff.Decision{
		Outcome: bailiff.Allow,
		Obligations: bailiff.Obligations{
			Backend: bailiff.BackendTerms{Name: "docker"},
			Env: bailiff.EnvTerms{
				Forward:  []string{"GITHUB_TOKEN"},
				Withheld: []bailiff.Withheld{{Name: "AWS_SECRET", Rule: "env.not_in_table"}},
			},
		},
	}, time.Millisecond)
	m.Decided(context.Background(), telegram, bailiff.Denial("command.destroys_system", "No."), time.Millisecond)
	m.Unrecorded(context.Background(), telegram, bailiff.Denial("command.destroys_system", "No."), time.Millisecond)
	compare(t, registry, `
bailiff_decisions_total{backend="docker",outcome="allow",platform="telegram",tool="terminal"} 1
bailiff_decisions_total{backend="none",outcome="deny",platform="telegram",tool="terminal"} 1
bailiff_decisions_total{backend="none",outcome="unavailable",platform="telegram",tool="terminal"} 1
bailiff_denials_total{platform="telegram",rule="command.destroys_system",tool="terminal"} 1
bailiff_env_withheld_total{name="other",rule="env.not_in_table"} 1
bailiff_decision_duration_seconds_count 3
`)
}

func TestAForwardedVariableCountsUnderItsNameInTheTables(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	collect(registry).Forwarded([]string{"GITHUB_TOKEN", "CHOSEN_BY_A_CALLER"})
	compare(t, registry, `
bailiff_env_forwarded_total{name="GITHUB_TOKEN"} 1
bailiff_env_forwarded_total{name="other"} 1
`)
}

func TestAnApprovalIsPendingUntilItsEndAndCountedByIt(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	for _, platform := range []string{"telegram", "telegram", "telegram", "carrier pigeon"} {
		m.ApprovalOpened(platform)
	}
	m.ApprovalResolved("telegram", "approved", "session", 7*time.Second, "")
	m.ApprovalResolved("telegram", "void", "session", 7*time.Second, "") // of the one that was approved
	m.ApprovalResolved("telegram", "unanswerable", "", 0, "")
	m.ApprovalResolved("carrier pigeon", "whatever", "moon", time.Hour, "")
	m.ApprovalRefused("telegram", "refused")
	m.ApprovalRefused("telegram", "unreachable")
	m.ApprovalRefused("carrier pigeon", "refused")
	m.GrantsActive(3)
	compare(t, registry, `
bailiff_approvals_pending{platform="telegram"} 1
bailiff_approvals_pending{platform="other"} 0
bailiff_approvals_total{platform="telegram",resolution="approved",scope="session"} 1
bailiff_approvals_total{platform="telegram",resolution="void",scope="session"} 1
bailiff_approvals_total{platform="telegram",resolution="unanswerable",scope="none"} 1
bailiff_approvals_total{platform="other",resolution="other",scope="other"} 1
bailiff_approvals_total{platform="telegram",resolution="refused",scope="none"} 1
bailiff_approvals_total{platform="telegram",resolution="unreachable",scope="none"} 1
bailiff_approvals_total{platform="other",resolution="refused",scope="none"} 1
bailiff_approval_wait_seconds_count 3
bailiff_grants_active 3
`)
}

func TestSandboxesAreThoseStartedOrAdoptedAndNotReaped(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.SandboxStarted(context.Background(), "docker", nil, time.Second)
	m.SandboxStarted(context.Background(), "docker", nil, time.Second)
	m.SandboxStarted(context.Background(), "docker", errors.New("no image"), time.Second)
	m.SandboxAdopted("docker")
	m.SandboxHandedOver("docker")
	m.SandboxReaped("docker", "idle")
	m.SandboxReaped("docker", "orphan")
	compare(t, registry, `
bailiff_sandboxes{backend="docker"} 2
bailiff_sandboxes{backend="local"} 0
bailiff_sandbox_starts_total{backend="docker",result="success"} 2
bailiff_sandbox_starts_total{backend="docker",result="failure"} 1
bailiff_sandbox_starts_total{backend="docker",result="warm"} 1
bailiff_sandboxes_reaped_total{backend="docker",reason="idle"} 1
bailiff_sandboxes_reaped_total{backend="docker",reason="orphan"} 1
bailiff_sandbox_start_duration_seconds_count{backend="docker"} 3
`)
}

func TestWhetherABackendIsReadyIsShownFromTheStart(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.BackendReady("docker", true)
	compare(t, registry, `
bailiff_backend_ready{backend="docker"} 1
bailiff_backend_ready{backend="local"} 0
`)
	m.BackendReady("docker", false)
	compare(t, registry, `
bailiff_backend_ready{backend="docker"} 0
`)
}

func TestAListenerShowsWhenItLastBroughtARequestWhileItIsConfigured(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.Listeners([]string{"hermes", "hooks"})
	for _, caller := range []string{"hermes", "made up"} {
		m.Decided(context.Background(), bailiff.Request{Caller: caller}, bailiff.Decision{}, 0)
	}
	const series = "bailiff_listener_last_decision_timestamp_seconds{listener="
	if text := exposition(t, registry); !strings.Contains(text, series+`"hermes"}`) || strings.Count(text, series) != 1 {
		t.Errorf("listeners: %v", regexp.MustCompile(series+".*").FindAllString(text, -1))
	}
	m.Listeners([]string{"hooks"})
	if strings.Contains(exposition(t, registry), series) {
		t.Error("a listener that is gone is shown")
	}
}

func TestWhatHoldsAtTheMomentIsShown(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	compare(t, registry, "bailiff_approvals_oldest_pending_seconds 0\nbailiff_policy_stale 0\nbailiff_audit_failing 0\n")
	m.Show(State{OldestPending: time.Now().Add(-time.Hour), PoliciesStale: true, LogFailing: true})
	compare(t, registry, "bailiff_policy_stale 1\nbailiff_audit_failing 1\n")
	if text := exposition(t, registry); !regexp.MustCompile(`bailiff_approvals_oldest_pending_seconds 36\d\d`).MatchString(text) {
		t.Errorf("an hour is shown as %v", regexp.MustCompile(`bailiff_approvals_oldest.*`).FindAllString(text, -1))
	}
	m.Show(State{})
	compare(t, registry, "bailiff_approvals_oldest_pending_seconds 0\nbailiff_policy_stale 0\nbailiff_audit_failing 0\n")
}

func TestOnlyTheRevisionInForceIsShown(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.Reloaded(true, "aaaa")
	m.Reloaded(true, "bbbb")
	m.Reloaded(false, "bbbb")
	text := exposition(t, registry)
	compare(t, registry, `
bailiff_policy_reloads_total{result="success"} 2
bailiff_policy_reloads_total{result="failure"} 1
bailiff_policy_info{revision="bbbb"} 1
`)
	if strings.Contains(text, "aaaa") {
		t.Error("a revision that is not in force is shown")
	}
}

func TestEventsAndErrorsOfTheDecisionLogAreCounted(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.Audited(nil)
	m.Audited(nil)
	m.Audited(errors.New("disk full"))
	compare(t, registry, "bailiff_audit_events_total 2\nbailiff_audit_errors_total 1\n")
}

func TestTheFilesOfTheDecisionLogAreCounted(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.Kept(3000, 0, 2)
	m.Kept(2000, 4, 1)
	compare(t, registry, "bailiff_audit_bytes 2000\nbailiff_audit_held_files 4\nbailiff_audit_retired_files_total 3\n")
}

func TestWhatTheShadowWouldDecideIsCountedBesideWhatWasDecided(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.Shadowed(bailiff.Terminal, "telegram", bailiff.Allow, bailiff.Deny, api.Stricter)
	m.Shadowed(bailiff.Terminal, "carrier pigeon", bailiff.Allow, bailiff.Allow, "")
	m.ShadowDropped()
	compare(t, registry, `
bailiff_shadow_decisions_total{difference="stricter",live="allow",outcome="deny",platform="telegram",tool="terminal"} 1
bailiff_shadow_decisions_total{difference="none",live="allow",outcome="allow",platform="other",tool="terminal"} 1
bailiff_shadow_dropped_total 1
`)
}

func TestTheExportOfTheDecisionLogIsCounted(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.Export().Exported(20)
	m.Export().Exported(3)
	m.Export().ExportRefused(2)
	m.Export().ExportFailed()
	m.Syslog().Exported(7)
	m.Syslog().ExportRefused(4)
	m.Syslog().ExportFailed()
	m.Syslog().ExportFailed()
	m.Show(State{ExportLag: 90 * time.Second, SyslogLag: time.Minute})
	compare(t, registry,
		"bailiff_audit_exported_total 23\nbailiff_audit_export_refused_total 2\nbailiff_audit_export_errors_total "+
			"1\nbailiff_audit_export_lag_seconds 90\n")
	compare(t, registry,
		"bailiff_syslog_sent_total 7\nbailiff_syslog_refused_total 4\nbailiff_syslog_errors_total 2\nbailiff_syslog_lag_seconds 60\n")
}

func TestTablesAreReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := collect(registry)
	m.Known([]string{"matrix"}, nil)
	for _, platform := range []string{"matrix", "telegram", "cli"} {
		m.Decided(context.Background(), bailiff.Request{Tool: bailiff.Process, Session: bailiff.Session{Platform: platform}},
			bailiff.Decision{}, 0)
	}
	compare(t, registry, `
bailiff_decisions_total{backend="none",outcome="deny",platform="matrix",tool="process"} 1
bailiff_decisions_total{backend="none",outcome="deny",platform="other",tool="process"} 1
bailiff_decisions_total{backend="none",outcome="deny",platform="cli",tool="process"} 1
`)
}
