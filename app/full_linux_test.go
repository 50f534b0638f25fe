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
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/apptest"
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

func TestNoClientIsToldThatItMayRunWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	log := filepath.Join(folder, "state", "decisions")
	backendtest.SmallDisk(t, log, "8m")
	must(t, os.Chmod(filepath.Dir(log), 0o711))
	s, err := tryStart(t, folder, "backends: {local: {}}")
	must(t, err)
	request := func(command string) string {
		return fmt.Sprintf(`{"tool": "terminal", "args": {"command": %q}, "session": {"id": "s1", "platform": "cli"}}`, command)
	}
	input := func(command string) string { return `{"input": ` + request(command) + `}` }
	doors := []struct{ path, allowed, asked string }{
		{"/v1/decide", request("git status"), request("rm -rf ./nothing")},
		{"/v1/data/bailiff/decision", input("git status"), input("rm -rf ./nothing")},
		{"/v0/data/bailiff/decision", request("git status"), request("rm -rf ./nothing")},
		{"/v1/data/agent/call/decision", input("git status"), input("rm -rf ./nothing")},
		{"/v0/data/agent/call/decision", request("git status"), request("rm -rf ./nothing")},
	}
	bailiffHook := func() string {
		cmd := exec.Command(filepath.Join(apptest.Programs(t), "bailiff-hook"), "claude-code", "--platform", "cli", "--listen",
			s.cfg.Agent.Listeners[0].Listen.String())
		cmd.Stdin = strings.NewReader(`{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/tmp", "tool_name": "Bash",
			"tool_input": {"command": "git status"}}`)
		told, _ := cmd.CombinedOutput()
		return string(told)
	}
	for _, door := range doors {
		if told := posted(t, s, door.path, door.allowed); !strings.Contains(told, `"allow"`) {
			t.Errorf("%s answers %s", door.path, told)
		}
		if told := posted(t, s, door.path, door.asked); !strings.Contains(told, `"ask"`) && !strings.Contains(told, `"requires-approval"`) {
			t.Errorf("%s answers %s", door.path, told)
		}
	}
	if told := bailiffHook(); !strings.Contains(told, `"allow"`) {
		t.Errorf("the hook says %s", told)
	}
	mustRun(t, "sh", "-c", "cat /dev/zero >'"+log+"/other' || true")
	for strings.Contains(posted(t, s, "/v1/decide", request("git status")), `"allow"`) { // what is left of the last block
	}
	for _, door := range doors {
		for _, body := range []string{door.allowed, door.asked} {
			if told := posted(t, s, door.path, body); !strings.Contains(told, "log.unwritable") || !strings.Contains(told, `"deny"`) ||
				!strings.Contains(told, "no space left on device") {
				t.Errorf("%s answers %s to %s", door.path, told, body)
			}
		}
	}
	if told := bailiffHook(); strings.Contains(told, `"allow"`) || !strings.Contains(told, "decision log cannot be written") {
		t.Errorf("the hook says %s", told)
	}
	if page := get(t, s, "/metrics"); !strings.Contains(page,
		`bailiff_denials_total{platform="cli",rule="log.unwritable",tool="terminal"} 1`) {
		t.Errorf("the metrics are %s", page)
	}
	must(t, os.Remove(filepath.Join(log, "other")))
	if told := posted(t, s, "/v1/decide", request("git status")); !strings.Contains(told, `"allow"`) {
		t.Errorf("with room again it answers %s", told)
	}
}
