package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// shells and readers are the tools by which each client runs a command and reads a
// file, and what they call what they take.
var (
	shells = map[string][2]string{"claude-code": {"Bash", "command"}, "codex": {"Bash", "command"}, "hermes": {"terminal", "command"},
		"gemini-cli": {"run_shell_command", "command"}, "qwen-code": {"run_shell_command", "command"},
		"copilot-cli": {"bash", "command"}, "cursor": {"Shell", "command"}, "vs-code": {"run_in_terminal", "command"}}
	readers = map[string][2]string{"claude-code": {"Read", "file_path"}, "codex": {"view_image", "path"}, "hermes": {"read_file", "path"},
		"gemini-cli": {"read_file", "file_path"}, "qwen-code": {"read_file", "file_path"},
		"copilot-cli": {"view", "path"}, "cursor": {"Read", "file_path"}, "vs-code": {"read_file", "filePath"}}
)

func with(tool [2]string, value string) (name, input string) {
	return tool[0], `{"` + tool[1] + `": ` + hook.JSON(value) + `}`
}

// hookProgram runs the program as it is shipped.
func hookProgram(tb testing.TB, stdin string, args ...string) told {
	tb.Helper()
	cmd := exec.Command(filepath.Join(apptest.Programs(tb), "bailiff-hook"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		tb.Fatal(err)
	}
	return told{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// carryOut does what the clients do with an answer about a command, at their
// laxest: what is not refused in so many words runs.
func carryOut(tb testing.TB, got told, command string) (printed string, status int) {
	tb.Helper()
	var a struct {
		Output struct {
			Decision string         `json:"permissionDecision"`
			Input    map[string]any `json:"updatedInput"`
			Merged   map[string]any `json:"tool_input"`
		} `json:"hookSpecificOutput"`
		Action   string         `json:"action"`
		Decision string         `json:"decision"`
		Args     map[string]any `json:"args"`
		Copilots string         `json:"permissionDecision"`
		Cursors  string         `json:"permission"`
		Modified map[string]any `json:"modifiedArgs"`
	}
	unread := json.Unmarshal([]byte(got.stdout), &a)
	if got.status == hook.Refused || unread == nil && (a.Output.Decision == "deny" || a.Action == "block" || a.Decision == "deny" ||
		a.Copilots == "deny" || a.Cursors == "deny") {
		return "", -1
	}
	for _, changed := range []map[string]any{a.Output.Input, a.Output.Merged, a.Args, a.Modified} {
		if text, ok := changed["command"].(string); ok {
			command = text
		}
	}
	cmd := exec.Command("bash", "-c", command)
	output, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		tb.Fatal(err)
	}
	return string(output), cmd.ProcessState.ExitCode()
}

func TestNothingRunsInFrontOfABrokenSidecar(t *testing.T) {
	for _, broken := range apptest.BrokenSidecars() {
		t.Run(broken.Name, func(t *testing.T) {
			t.Parallel()
			for client := range events {
				marker := filepath.Join(t.TempDir(), "ran")
				for _, c := range []struct {
					network, value string
					tool           [2]string
					flags          []string
				}{
					{"unix", "touch " + marker, shells[client], nil},
					{"tcp", "touch " + marker, shells[client], []string{"--on-host"}},
					{"unix", "touch " + marker, shells[client], []string{"--headless"}},
					{"tcp", "/no/x", readers[client], nil},
				} {
					tool, input := with(c.tool, c.value)
					args := append([]string{client, "--timeout", "500ms", "--listen", broken.Open(t, c.network)}, c.flags...)
					got := hookProgram(t, question(client, tool, input), args...)
					refuses(t, strings.Join(args, " "), got, "")
					carryOut(t, got, "touch "+marker)
				}
				if _, err := os.Stat(marker); err == nil {
					t.Errorf("the command of %s ran", client)
				}
			}
		})
	}
}

func TestASignalDoesNotEndItWithoutAnAnswer(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "a.sock"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(apptest.Programs(t), "bailiff-hook"), "claude-code", "--timeout", "1s", "--listen",
			"unix://"+l.Addr().String())
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = strings.NewReader(question("claude-code", "Bash", `{"command": "x"}`)), &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait(); _ = l.Close() }()
		c, err := l.Accept() // now it waits
		if err != nil {
			<-ended
			t.Fatalf("it ended, before it asked: %s", stderr.String())
		}
		_ = cmd.Process.Signal(signal)
		<-ended
		_ = c.Close()
		if cmd.ProcessState.ExitCode() != hook.Refused || !strings.Contains(stderr.String(), "giving up after 1s") {
			t.Errorf("by %v it ends with %v and says %q", signal, cmd.ProcessState, stderr.String())
		}
	}
}

// showing is a sidecar that shows a project to sandboxes, and asks people about deployments.
func showing(tb testing.TB, project string) *apptest.Sidecar {
	tb.Helper()
	const mine = "cli: {isolation: optional, "
	house := apptest.WithRules(tb, `require_approval contains {"rule": "house.deploys", "message": "It deploys.", "match": "deploy"} if {
	contains(input.args.command, "deploy")
}
`, mine, mine+`mounts: {bubblewrap: [{source: "`+project+`", target: /project, read_only: false}]}, `)
	return apptest.Serve(tb, house, "backends: {local: {}, bubblewrap: {mounts_allowed: ["+project+"]}}")
}

func TestACommandRunsInItsSandboxAndNowhereElse(t *testing.T) {
	project := apptest.OpenDir(t)
	sidecar := showing(t, project)
	for client := range events {
		ask := func(command string, flags ...string) (told, string) {
			tool, input := with(shells[client], command)
			stdin := strings.Replace(question(client, tool, input), "/home/ana/p", project, 1)
			return hookProgram(t, stdin, append([]string{client, "--listen", sidecar.Agent, "--timeout", "45s"}, flags...)...), command
		}
		ordered := func(command string) (told, string) {
			got, asked := ask(command)
			if _, order, has := strings.Cut(strings.TrimSpace(got.stderr), "run exactly this: "); has {
				return ask(order)
			}
			return got, asked
		}
		t.Run(client, func(t *testing.T) {
			marker := "/tmp/bailiff-hook-marker"
			got, command := ordered("touch " + marker + " && pwd && echo $HOME")
			if printed, status := carryOut(t, got, command); status != 0 || strings.Contains(printed, os.Getenv("HOME")+"\n") {
				t.Errorf("it ends with %d and prints %q", status, printed)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Error("it ran on this machine")
			}
			got, command = ask("rm -rf /")
			refuses(t, "what destroys", got, "command.destroys_system")
			carryOut(t, got, command)
			// What is asked runs when whoever may approve it has done so.
			got, command = ordered("echo deploy; pwd")
			if _, again, told := strings.Cut(strings.TrimSpace(got.stderr), "run exactly this, which waits for them: "); told {
				got, command = ask(again)
			}
			sidecar.ApproveNext(t, 0)
			if printed, status := carryOut(t, got, command); status != 0 || !strings.Contains(printed, "/") {
				t.Errorf("an approved command ends with %d and prints %q", status, printed)
			}
			tool, input := with(readers[client], "/etc/shadow")
			refuses(t, "a secret", hookProgram(t, question(client, tool, input), client, "--listen", sidecar.Agent, "--timeout", "45s"),
				"command.reads_credentials")
			tool, input = with(readers[client], filepath.Join(project, "x"))
			got = hookProgram(t, question(client, tool, input), client, "--listen", sidecar.Agent, "--timeout", "45s")
			if got.status != 0 {
				t.Errorf("a plain file is refused: %+v", got)
			}
		})
	}
	//nolint:gosec // sandboxes of another user read it
	if err := os.WriteFile(filepath.Join(project, "here"), []byte("here\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	got := hookProgram(t, strings.Replace(question("claude-code", "Bash", `{"command": "pwd; cat here"}`), "/home/ana/p", project, 1),
		"claude-code", "--listen", sidecar.Agent, "--timeout", "45s")
	if printed, status := carryOut(t, got, "false"); status != 0 || printed != "/project\nhere\n" {
		t.Errorf("in the project's folder it ends with %d and prints %q", status, printed)
	}
}

func TestAFaultOfTheRequestIsSaidOnce(t *testing.T) {
	sidecar := apptest.Serve(t)
	got := hookProgram(t, question("claude-code", "Bash", `{"command": "x"}`), "claude-code", "--listen", sidecar.Agent, "--timeout", "45s",
		"--env", "BAD NAME")
	if refuses(t, "a name that is none", got, "/env/0"); strings.Count(got.stderr, "/env/0") != 1 {
		t.Errorf("it says %s", got.stderr)
	}
}

// What starts once for every tool call must start fast: no engine of policies, no
// parser of configurations, nothing of anybody else's.
func TestTheProgramIsMadeOfLittle(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/bailiff-dev/bailiff"
	want := []string{module, module + "/api", module + "/internal/host/defaultpath", module + "/internal/text/shellquote",
		module + "/internal/text/spelling", module + "/internal/host/trust", module + "/cmd/bailiff-hook", module + "/internal/agents/hook",
		module + "/internal/agents/dialects"}
	for name, d := range dialects.All {
		folder := module + "/internal/agents/" + strings.ReplaceAll(name, "-", "")
		if _, ofTables := d.(hook.Agent); !ofTables {
			folder += "/hook"
		}
		want = append(want, folder)
	}
	if got := strings.Fields(string(out)); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("it is made of %q, want %q", got, want)
	}
}

// The hook beside a Python script that does the same and a program that only starts
// and connects, in turns; the ratios are of the medians. What the sidecar has to judge
// anew takes it a while, which is no part of any of them.
func BenchmarkHook(b *testing.B) {
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable, end='')").Output() // and no wrapper around it
	backendtest.Needs(b, "python3", err)
	sidecar := apptest.Serve(b)
	socket := strings.TrimPrefix(sidecar.Agent, "unix://")
	programs := [][]string{{filepath.Join(apptest.Programs(b), "bailiff-hook"), "claude-code", "--listen", sidecar.Agent},
		{connecting(b), socket}, {string(python), "testdata/hook.py", socket}}
	for name, command := range map[string]func(n int) string{
		"judged before": func(int) string { return "git status" },
		"new":           func(n int) string { return fmt.Sprintf("git log -n %d", n) },
	} {
		b.Run(name, func(b *testing.B) {
			took := make([][]time.Duration, len(programs))
			for n := 0; b.Loop(); n++ {
				for i, program := range programs {
					asked := command(n*len(programs) + i)
					took[i] = append(took[i], startToEnd(b, question("claude-code", "Bash", `{"command": "`+asked+`"}`), program))
				}
			}
			hook, least, script := median(took[0]), median(took[1]), median(took[2])
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(hook.Seconds()*1000, "ms/hook")
			b.ReportMetric(hook.Seconds()/least.Seconds(), "hook/connecting")
			b.ReportMetric(script.Seconds()/hook.Seconds(), "python/hook")
		})
	}
}

// What people are asked about in a project is judged a second time, in its folder: the hook beside one that asks the same
// elsewhere, in turns; the ratio is of the medians.
func BenchmarkHookInProject(b *testing.B) {
	project := apptest.OpenDir(b)
	sidecar := showing(b, project)
	hook := []string{filepath.Join(apptest.Programs(b), "bailiff-hook"), "claude-code", "--listen", sidecar.Agent}
	var once, twice []time.Duration
	for n := 0; b.Loop(); n++ {
		asked := func(i int) string {
			return question("claude-code", "Bash", fmt.Sprintf(`{"command": "echo deploy %d"}`, 2*n+i))
		}
		once = append(once, startToEnd(b, asked(0), hook))
		twice = append(twice, startToEnd(b, strings.Replace(asked(1), "/home/ana/p", project, 1), hook))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(twice).Seconds()*1000, "ms/hook")
	b.ReportMetric(median(twice).Seconds()/median(once).Seconds(), "twice/once")
	whole := slices.Sorted(slices.Values(twice))
	b.ReportMetric(whole[len(whole)*95/100].Seconds()*1000, "ms/hook-p95")
}

// Of which parts the hook's time is made, in turns; each part is the difference of two medians. A command
// of the shell is on disk when it runs, so that its hook waits for no sync of the log; a file tool's does.
func BenchmarkHookParts(b *testing.B) {
	sidecar := apptest.Serve(b)
	hook := filepath.Join(apptest.Programs(b), "bailiff-hook")
	at := func(address string) []string { return []string{hook, "claude-code", "--listen", address} }
	body := func(n int) string {
		return fmt.Sprintf(`{"tool": "terminal", "args": {"command": "git log -n %d"}, "session": {"id": "s1", "platform": "cli"}}`, n)
	}
	echoing := answering(b, asked(b, sidecar.Agent, "/v1/decide?then=execute", body(0)))
	var n int
	fresh := func() string { n++; return fmt.Sprintf(`{"command": "git log -n %d"}`, n) }
	steps := map[string]func() time.Duration{
		"start": func() time.Duration { return startToEnd(b, "", []string{hook, "--help"}) },
		"read": func() time.Duration {
			return startToEnd(b, question("claude-code", "TodoWrite", `{}`), at(sidecar.Agent))
		},
		"connect": func() time.Duration { return startToEnd(b, question("claude-code", "Bash", fresh()), at(echoing)) },
		"judge": func() time.Duration {
			return startToEnd(b, question("claude-code", "Bash", fresh()), at(sidecar.Agent))
		},
		"ahead": func() time.Duration {
			return timed(func() { n++; asked(b, sidecar.Agent, "/v1/decide?then=execute", body(n)) })
		},
		"logged": func() time.Duration { return timed(func() { n++; asked(b, sidecar.Agent, "/v1/decide", body(n)) }) },
	}
	took := map[string][]time.Duration{}
	for b.Loop() {
		for name, step := range steps {
			took[name] = append(took[name], step())
		}
	}
	ms := func(name string) float64 { return median(took[name]).Seconds() * 1000 }
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms("start"), "ms/start")
	b.ReportMetric(ms("read")-ms("start"), "ms/reading")
	b.ReportMetric(ms("connect")-ms("read"), "ms/connection")
	b.ReportMetric(ms("judge")-ms("connect"), "ms/judgement")
	b.ReportMetric(ms("logged")-ms("ahead"), "ms/log")
	b.ReportMetric(ms("judge"), "ms/hook")
	whole := slices.Sorted(slices.Values(took["judge"]))
	b.ReportMetric(whole[len(whole)*95/100].Seconds()*1000, "ms/hook-p95")
}

func timed(do func()) time.Duration {
	begun := time.Now()
	do()
	return time.Since(begun)
}

// asked has a sidecar answer one question, as the hook does without a program of its own.
func asked(b *testing.B, address, path, body string) (answer []byte) {
	b.Helper()
	h := program{listen: address}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	status, answer, err := h.post(ctx, path, []byte(body))
	if err != nil || status != "200" {
		b.Fatalf("asking %s: %s, %v\n%s", path, status, err, answer)
	}
	return answer
}

// answering is a sidecar that says the same of everything, at once.
func answering(b *testing.B, answer []byte) (address string) {
	b.Helper()
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(answer)
	})}
	go func() { _ = server.Serve(l) }()
	b.Cleanup(func() { _ = server.Close() })
	return "unix://" + l.Addr().String()
}

// connecting is the program that only starts and connects, made as the hook is.
func connecting(b *testing.B) string {
	program := filepath.Join(b.TempDir(), "connect")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./testdata/connect")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if printed, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, printed)
	}
	return program
}

func startToEnd(b *testing.B, stdin string, program []string) time.Duration {
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdin = strings.NewReader(stdin)
	begun := time.Now()
	output, err := cmd.Output()
	took := time.Since(begun)
	if err != nil {
		b.Fatalf("%q: %v\n%s", program, err, output)
	}
	return took
}

func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}
