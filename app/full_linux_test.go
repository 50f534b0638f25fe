package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
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

// posted is the answer of an agent's socket to a body.
func posted(t *testing.T, s *running, path, body string) string {
	t.Helper()
	socket := strings.TrimPrefix(s.cfg.Agent.Listeners[0].Listen.String(), "unix://")
	agent := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}}
	resp, err := agent.Post("http://bailiff"+path, "application/json", strings.NewReader(body))
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return string(text)
}

// terminalRequest is the body of a request that is judged.
func terminalRequest(command string) string {
	return fmt.Sprintf(`{"tool": "terminal", "args": {"command": %q}, "session": {"id": "s1", "platform": "cli"}}`, command)
}

// endpoints are the paths that tell clients whether they may run a command, each with a request that
// is allowed and one that is asked about.
func endpoints() (all []struct{ path, allowed, asked string }) {
	allowed, asked := terminalRequest("git status"), terminalRequest("rm -rf ./nothing")
	for path, form := range map[string]string{
		"/v1/decide": "%s", "/v0/data/bailiff/decision": "%s", "/v0/data/agent/call/decision": "%s",
		"/v1/data/bailiff/decision": `{"input": %s}`, "/v1/data/agent/call/decision": `{"input": %s}`,
	} {
		all = append(all, struct{ path, allowed, asked string }{path, fmt.Sprintf(form, allowed), fmt.Sprintf(form, asked)})
	}
	return all
}

// hookSays is the output of bailiff-hook for a command that the policies allow.
func hookSays(t *testing.T, s *running) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(apptest.Programs(t), "bailiff-hook"), "claude-code", "--platform", "cli", "--listen",
		s.cfg.Agent.Listeners[0].Listen.String())
	cmd.Stdin = strings.NewReader(`{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/tmp", "tool_name": "Bash",
		"tool_input": {"command": "git status"}}`)
	told, _ := cmd.CombinedOutput() // its exit status is part of the answer
	return string(told)
}

func TestNoClientIsToldThatItMayRunWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	log := filepath.Join(folder, "state", "decisions")
	backendtest.SmallDisk(t, log, "8m")
	must(t, os.Chmod(filepath.Dir(log), 0o711))
	s, err := tryStart(t, folder, "backends: {local: {}}")
	must(t, err)
	says := func(told string, wants ...string) {
		t.Helper()
		if !slices.ContainsFunc(wants, func(want string) bool { return strings.Contains(told, want) }) {
			t.Errorf("the answer is %s, want %q", told, wants)
		}
	}
	for _, e := range endpoints() {
		says(posted(t, s, e.path, e.allowed), `"allow"`)
		says(posted(t, s, e.path, e.asked), `"ask"`, `"requires-approval"`)
	}
	says(hookSays(t, s), `"allow"`)
	mustRun(t, "sh", "-c", "cat /dev/zero >'"+log+"/other' || true")
	backendtest.Await(t, "the last block of the disk is full", func() bool {
		return !strings.Contains(posted(t, s, "/v1/decide", terminalRequest("git status")), `"allow"`)
	})
	for _, e := range endpoints() {
		for _, body := range []string{e.allowed, e.asked} {
			told := posted(t, s, e.path, body)
			says(told, "log.unwritable")
			says(told, `"deny"`)
			says(told, "no space left on device")
		}
	}
	says(hookSays(t, s), "decision log cannot be written")
	says(get(t, s, "/metrics"), `bailiff_denials_total{platform="cli",rule="log.unwritable",tool="terminal"} 1`)
	must(t, os.Remove(filepath.Join(log, "other")))
	says(posted(t, s, "/v1/decide", terminalRequest("git status")), `"allow"`)
}
