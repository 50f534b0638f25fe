// Package prometheus_test holds the alerts to promtool, to the page that says what to do
// about each, and to a real Prometheus in front of a real sidecar to which it happens.
package prometheus_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// rule is an alert.
type rule struct {
	Alert       string
	Expr        string
	For         string
	Labels      struct{ Severity string }
	Annotations struct{ Summary, Description, Runbook string }
}

func rules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	must(t, yaml.UnmarshalWithOptions([]byte(read(t, "alerts.yaml")), &file, yaml.Strict()))
	if len(file.Groups) != 1 || len(file.Groups[0].Rules) == 0 {
		t.Fatalf("there are %d groups, want one with alerts", len(file.Groups))
	}
	return file.Groups[0].Rules
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// The page on monitoring has promtool check prometheus.yml and run alerts_test.yaml, which its test types.
func TestPromtoolFindsNoFaultsAndEachAlertFiresWhenItShould(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	backendtest.Needs(t, "PROMTOOL (run scripts/install-deps)", err)
	if printed, err := exec.Command(promtool, "check", "rules", "alerts.yaml").CombinedOutput(); err != nil {
		t.Errorf("promtool: %v\n%s", err, printed)
	}
	page := read(t, filepath.Join(apptest.Root(t), "docs", "monitoring.md"))
	for _, typed := range []string{"check config examples/prometheus/prometheus.yml", "test rules examples/prometheus/alerts_test.yaml"} {
		if !strings.Contains(page, "\npromtool "+typed+"\n") {
			t.Errorf("docs/monitoring.md does not type promtool %s", typed)
		}
	}
	tried := read(t, "alerts_test.yaml")
	for _, r := range rules(t) {
		if !strings.Contains(tried, "- alertname: "+r.Alert+"\n") || !strings.Contains(tried, "{alertname: "+r.Alert+", ") {
			t.Errorf("alerts_test.yaml does not say when %s fires and when it does not", r.Alert)
		}
	}
}

func TestThePageOnMonitoringHasASectionForEachAlert(t *testing.T) {
	page := read(t, filepath.Join(apptest.Root(t), "docs", "monitoring.md"))
	var told []string
	for _, m := range regexp.MustCompile("(?m)^### (Bailiff[A-Za-z]+)$").FindAllStringSubmatch(page, -1) {
		told = append(told, m[1])
	}
	var raised []string
	for _, r := range rules(t) {
		raised = append(raised, r.Alert)
		if want := "docs/monitoring.md#" + strings.ToLower(r.Alert); r.Annotations.Runbook != want {
			t.Errorf("%s has the runbook %s, want %s", r.Alert, r.Annotations.Runbook, want)
		}
		if !slices.Contains([]string{"critical", "warning", "info"}, r.Labels.Severity) || r.Annotations.Summary == "" ||
			r.Annotations.Description == "" {
			t.Errorf("%s does not say how bad it is, or what", r.Alert)
		}
	}
	if !slices.Equal(told, raised) {
		t.Errorf("the page tells of %v, the alerts are %v", told, raised)
	}
}
