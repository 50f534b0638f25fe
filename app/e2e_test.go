package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// dockerBackend is the section for tests that need a real engine and image.
const dockerBackend = `backends: {docker: {image: "` + sandboxImage + `"}, local: {}}`

// isolated are sections with one backend each that keeps commands from the host.
var isolated = map[string]string{"bubblewrap": "backends: {bubblewrap: {}}", "docker": dockerBackend}

func inChat(session, command string) bailiff.Request {
	return bailiff.Request{Tool: bailiff.Terminal, Args: bailiff.Args{Command: command},
		Session: bailiff.Session{ID: session, Platform: "telegram", ChatType: "dm", UserID: "42"}}
}

func ask(t *testing.T, agent *client.Client, req bailiff.Request) api.Answer {
	t.Helper()
	a, err := agent.Execute(t.Context(), req, client.News{})
	must(t, err)
	return a
}

// A forwarded value may be seen by the command it is for, and nowhere else.
func TestAForwardedValueIsSeenNowhereButInItsCommand(t *testing.T) {
	t.Parallel()
	const value = "canary-7f3a91c2e85b"
	folder := t.TempDir()
	variables := filepath.Join(folder, "variables.env")
	must(t, os.WriteFile(variables, []byte("GITHUB_TOKEN="+value+"\n"), 0o600))
	s, err := tryStart(t, folder, dockerBackend, "env: {sources: [\"file:"+variables+"\"]}", "log: {level: debug}")
	must(t, err)
	agent := s.client(t)
	plain := inChat("s1", "git --version")
	plain.Env = []string{"GITHUB_TOKEN"}
	first := ask(t, agent, plain)
	if len(first.Decision.Env.Forward) != 1 {
		t.Fatalf("the variable was not forwarded: %+v", first.Decision.Env)
	}

	watching, stop := context.WithCancel(t.Context())
	var argvs sync.WaitGroup
	var leaked atomic.Value
	argvs.Go(func() { watchArgv(watching, value, &leaked) })
	answer := ask(t, agent, plain)
	stop()
	argvs.Wait()
	if where := leaked.Load(); where != nil {
		t.Errorf("the value stood in %v", where)
	}

	inspected, err := exec.Command("docker", "inspect", answer.SandboxID).CombinedOutput()
	if err != nil {
		t.Fatalf("docker inspect: %v: %s", err, inspected)
	}
	texts := map[string]string{"docker inspect": string(inspected), "the sidecar's log": s.log.String(),
		"the metrics": get(t, s, "/metrics")}
	texts["the decision log"] = decisionLog(t, s)
	for name, text := range texts {
		if strings.Contains(text, value) {
			t.Errorf("the value stands in %s", name)
		}
	}
}

// decisionLog stops a sidecar and returns what it wrote down.
func decisionLog(t *testing.T, s *running) string {
	t.Helper()
	s.stop()
	files, err := filepath.Glob(filepath.Join(s.folder, "state", "decisions", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no decision log: %v", err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		all.Write(text)
	}
	return all.String()
}

// watchArgv looks at every process's arguments until ctx ends.
func watchArgv(ctx context.Context, value string, leaked *atomic.Value) {
	for ctx.Err() == nil {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), value) {
				leaked.Store(file + ": " + string(text))
			}
		}
	}
}

func get(t testing.TB, s *running, path string) string {
	t.Helper()
	resp, err := http.Get("http://" + s.probes.listener.Addr().String() + path)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(t, err)
	return fmt.Sprintf("%d\n%s", resp.StatusCode, text)
}

func TestWhenTheEngineIsDownNothingRunsElsewhere(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, `backends: {docker: {host: "unix:///nowhere/docker.sock", image: "x"}, bubblewrap: {}, local: {}}`)
	a := ask(t, s.client(t), inChat("s1", "true"))
	if a.Status != bailiff.Unavailable || a.Backend != "docker" || !strings.Contains(a.Message, "/nowhere/docker.sock") {
		t.Errorf("answer is %+v", a)
	}
	if n := len(s.enforcer.Sandboxes()); n != 0 {
		t.Errorf("%d sandboxes were made", n)
	}
}

func TestARestartLeavesNoContainerBehind(t *testing.T) {
	t.Parallel()
	folder := openDir(t)
	s, err := tryStart(t, folder, dockerBackend)
	must(t, err)
	a := ask(t, s.client(t), inChat("s1", "sleep 300 & echo started"))
	if a.Status != bailiff.Completed {
		t.Fatalf("answer is %+v", a)
	}
	s.stop()
	if out, err := exec.Command("docker", "inspect", a.SandboxID).CombinedOutput(); err == nil {
		t.Errorf("the container is still there: %.200s", out)
	}
}

func TestFilesOfAKilledSidecarAreSweptAtTheStart(t *testing.T) {
	t.Parallel()
	for name, section := range map[string]string{"docker": dockerBackend, "bubblewrap": "backends: {bubblewrap: {}}"} {
		t.Run(name, func(t *testing.T) {
			folder := openDir(t)
			before, err := tryStart(t, folder, section)
			must(t, err)
			before.stop()
			backend := before.backends[name]
			spec := backends.Spec{Owner: owner(before.cfg), Session: "s", Workspace: "left", Network: "none", ReadOnly: true}
			left, err := backend.Open(t.Context(), spec)
			must(t, err)
			must(t, left.Close(t.Context()))
			kept := func() int {
				list, err := backend.(backends.Keeper).Workspaces(t.Context(), spec.Owner)
				must(t, err)
				return len(list)
			}
			if n := kept(); n != 1 {
				t.Fatalf("%d workspaces are left, want one to be swept", n)
			}
			if _, err := tryStart(t, folder, section); err != nil {
				t.Fatal(err)
			}
			awaittest.Until(t, "the workspace is swept", func() bool { return kept() == 0 })
		})
	}
}

func TestASidecarThatCannotWriteItsLogRunsNothing(t *testing.T) {
	t.Parallel()
	s := startSidecar(t, dockerBackend)
	if a := ask(t, s.client(t), inChat("s1", "true")); a.Status != bailiff.Completed {
		t.Fatalf("answer is %+v", a)
	}
	decisions := filepath.Join(s.folder, "state", "decisions")
	must(t, os.RemoveAll(decisions))
	must(t, os.WriteFile(decisions, nil, 0o600))
	a := ask(t, s.client(t), inChat("s1", "touch /workspace/ran"))
	if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeRecord {
		t.Errorf("answer is %+v", a)
	}
	text := get(t, s, "/metrics") // the end of the first request may have come too late as well
	if !strings.Contains(text, "bailiff_audit_errors_total ") || strings.Contains(text, "bailiff_audit_errors_total 0") {
		t.Error("no metric counts the failure")
	}
}

// houseRules let everything run, on the host for the command line and in
// namespaces for the rest.
const houseRules = `package bailiff

isolated := input.session.platform != "cli"

decision := {
	"outcome": "allow",
	"denials": [],
	"backend": {
		"name": {true: "bubblewrap", false: "local"}[isolated], "network": {true: "none", false: "full"}[isolated],
		"image": "", "scope": "session", "idle_seconds": 60, "egress": [],
		"cpus": 0, "memory_mb": 0, "disk_mb": 0, "pids": 0, "read_only": isolated, "mounts": [],
	},
	"env": {"forward": [], "withheld": [], "set": {}},
	"limits": {"timeout_seconds": 20, "output_bytes": 1000},
}
`

func TestACommandThatBreaksItsSandboxHarmsNoLaterRequest(t *testing.T) {
	t.Parallel()
	house := t.TempDir()
	save(t, filepath.Join(house, "house.rego"), houseRules)
	s := startSidecar(t, "backends: {local: {workdir: "+openDir(t)+"}, bubblewrap: {}}",
		"policies: {require_tests: false, paths: ["+house+"]}")
	for platform, message := range map[string]string{"cli": "was replaced", "telegram": ""} {
		req := inChat(platform, "prlimit --pid $PPID --nofile=0:0")
		req.Session.Platform = platform
		ask(t, s.client(t), req)
		req.Args.Command = "echo fine | cat"
		a := ask(t, s.client(t), req)
		if a.Status != bailiff.Completed || a.Output != "fine\n" || !strings.Contains(a.Message, message) || message == "" &&
			a.Message != "" {
			t.Errorf("on %s the next request was answered %+v", platform, a)
		}
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
