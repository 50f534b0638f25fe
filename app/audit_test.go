package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
	"github.com/bailiff-dev/bailiff/internal/tests/policytest"
)

// logOf writes a decision log of events that happened so many days ago, each in a
// file of its own.
func logOf(t *testing.T, stateDir string, daysAgo ...int) {
	t.Helper()
	log, err := audit.Open(audit.Config{StateDir: stateDir, Bounds: audit.Bounds{SegmentBytes: 1}})
	must(t, err)
	for _, days := range daysAgo {
		e := api.Event{DecisionID: audit.NewID(), Timestamp: time.Now().AddDate(0, 0, -days), Custom: api.Custom{Event: api.SandboxEvent}}
		must(t, log.Record(t.Context(), e))
	}
	must(t, log.Close())
}

// It can be set while the sidecar runs, too.
func TestOldFilesOfTheDecisionLogAreRetiredAsConfigured(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	state := filepath.Join(folder, "state")
	logOf(t, state, 100, 99, 20, 3)
	s, err := tryStart(t, folder, "backends: {bubblewrap: {}}", "decision_log: {retain: {days: 90}}")
	must(t, err)
	retired := func() int64 {
		report, err := audit.Verify(state)
		must(t, err)
		return report.Retired
	}
	awaittest.Until(t, "what is older than 90 days to go", func() bool { return retired() == 2 })
	next := *s.cfg
	next.DecisionLog.Retain.Days = 10
	if waiting, err := s.reload(t.Context(), &next); err != nil || len(waiting) > 0 {
		t.Errorf("waiting for a restart are %v, %v", waiting, err)
	}
	awaittest.Until(t, "what is older than 10 days to go", func() bool { return retired() == 3 })
}

// masking starts a sidecar with the shipped policies and a mask of its log.
func masking(t *testing.T, rule string) *running {
	t.Helper()
	folder := t.TempDir()
	policytest.Copy(t, folder)
	save(t, filepath.Join(folder, "mask.rego"), maskOf(rule))
	return startSidecar(t, "backends: {bubblewrap: {}}", "policies: {require_tests: false, paths: ["+folder+"]}")
}

func maskOf(rule string) string {
	return "# METADATA\n# scope: package\n# schemas:\n#   - input: {}\npackage system.log\n\nmask contains " + rule + "\n"
}

func TestWhatThePoliciesMaskIsNotInTheDecisionLog(t *testing.T) {
	t.Parallel()
	s := masking(t, `path if some path in ["/input/args", "/input/command"]`)
	if a := ask(t, s.client(t), inChat("s1", "echo not-for-the-log")); a.Status != bailiff.Completed || a.Output != "not-for-the-log\n" {
		t.Fatalf("answered %+v", a)
	}
	s.stop()
	state := filepath.Join(s.folder, "state")
	files, _ := filepath.Glob(filepath.Join(state, "decisions", "*.jsonl"))
	text, err := os.ReadFile(files[0])
	if err != nil || bytes.Contains(text, []byte("not-for-the-log")) ||
		!bytes.Contains(text, []byte(`"erased":["/input/args","/input/command"]`)) {
		t.Errorf("the log holds %s, %v", text, err)
	}
	if _, err := audit.Verify(state); err != nil {
		t.Error(err)
	}
}

func TestNothingRunsWhileTheMaskOfTheDecisionLogFails(t *testing.T) {
	t.Parallel()
	s := masking(t, `concat("/", ["", "custom", "message"])`)
	a := ask(t, s.client(t), inChat("s1", "echo ran"))
	if a.Status != bailiff.Unavailable || a.Output != "" ||
		!strings.Contains(a.Message, `data.system.log.mask: a path is "/custom/message"`) {
		t.Errorf("answered %+v", a)
	}
	const why = `masking the event by data.system.log.mask: a path is "/custom/message"`
	for where, told := range map[string]string{
		"/readyz": get(t, s, "/readyz"), "the log": s.log.String(), "status": strings.Join(s.Status(t.Context()).Warnings, "\n"),
	} {
		if !strings.Contains(strings.ReplaceAll(told, `\`, ""), why) {
			t.Errorf("%s says %s", where, told)
		}
	}
	if page := get(t, s, "/metrics"); !strings.Contains(page, "\nbailiff_audit_errors_total 1\n") ||
		!strings.Contains(page, "\nbailiff_audit_failing 1\n") ||
		strings.Contains(page, `outcome="allow"`) || !strings.Contains(page, `outcome="unavailable"`) {
		t.Errorf("it is not counted in %s", page)
	}
	before := s.policies.Revision()
	save(t, filepath.Join(s.cfg.Policies.Paths[0], "mask.rego"), maskOf(`"/input/args"`))
	awaittest.Until(t, "another revision is in force", func() bool { return s.policies.Revision() != before })
	a = ask(t, s.client(t), inChat("s1", "echo ran"))
	if page := get(t, s, "/readyz"); a.Status != bailiff.Completed || !strings.HasPrefix(page, "200") {
		t.Errorf("with another mask: answered %+v, readiness is %s", a, page)
	}
}
