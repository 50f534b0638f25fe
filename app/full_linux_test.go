package app

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/audit"
)

// onASmallDisk starts a sidecar whose decision log has a disk of its own.
func onASmallDisk(t *testing.T) (s *running, log string) {
	t.Helper()
	folder := openDir(t)
	log = filepath.Join(folder, "state", "decisions")
	backendtest.SmallDisk(t, log, "256k")
	must(t, os.Chmod(filepath.Dir(log), 0o711))
	s, err := tryStart(t, folder, "backends: {bubblewrap: {}}")
	must(t, err)
	return s, log
}

func TestNothingRunsWhileTheDecisionLogsDiskIsFull(t *testing.T) {
	t.Parallel()
	s, log := onASmallDisk(t)
	agent := s.client(t)
	if a := ask(t, agent, inChat("s1", "echo ran > proof")); a.Status != bailiff.Completed {
		t.Fatalf("answered %+v", a)
	}
	mustRun(t, "sh", "-c", "cat /dev/zero >'"+log+"/other' || true")
	a := ask(t, agent, inChat("s1", "echo more >> proof"))
	lines := 1
	for ; a.Status == bailiff.Completed; lines++ { // what is left of the last block
		a = ask(t, agent, inChat("s1", "echo more >> proof"))
	}
	if a.Status != bailiff.Unavailable || !strings.Contains(a.Message, "Recording the decision: ") ||
		!strings.Contains(a.Message, "no space left on device") {
		t.Errorf("answered %+v", a)
	}
	if page := get(t, s, "/readyz"); !strings.Contains(page, "503") || !strings.Contains(page, "decision log: ") ||
		!strings.Contains(page, "no space left on device") {
		t.Errorf("readiness is %s", page)
	}
	if page := get(t, s, "/metrics"); !strings.Contains(page, "\nbailiff_audit_failing 1\n") ||
		strings.Contains(page, "\nbailiff_audit_errors_total 0\n") {
		t.Errorf("the metrics are %s", page)
	}
	if warnings := s.Status(t.Context()).Warnings; !strings.Contains(strings.Join(warnings, "\n"),
		"nothing runs while the decision log cannot be written: ") {
		t.Errorf("the warnings are %q", warnings)
	}
	before := ask(t, agent, inChat("s1", "true")).Status
	must(t, os.Remove(filepath.Join(log, "other")))
	if a := ask(t, agent, inChat("s1", "wc -l < proof")); before != bailiff.Unavailable ||
		strings.TrimSpace(a.Output) != strconv.Itoa(lines) {
		t.Errorf("with room again, after %s: %+v, want %d lines of those that ran", before, a, lines)
	}
	s.stop()
	if report, err := audit.Verify(filepath.Dir(log)); err != nil || report.Torn {
		t.Errorf("verified: %+v, %v", report, err)
	}
}
