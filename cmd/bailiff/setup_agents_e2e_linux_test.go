package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

func TestCodexIsSetUpBesideAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	w.serves(t)
	said := w.must(t, "bailiff setup codex --project src/shop")
	if !strings.Contains(said, "codex runs everything unjudged until you trust the hook") {
		t.Errorf("without a Codex that could be asked it says %s", said)
	}
	if strings.Contains(said, "Start the sidecar") || !strings.Contains(said, "project at agent") {
		t.Errorf("beside a sidecar that has read all that it needs it says %s", said)
	}
	hook := "hook in " + filepath.Join(w.Home, ".codex", "hooks.json")
	found, status := w.finds(t, "codex")
	if status != 2 || !strings.HasPrefix(found[hook], "warning: Whether Codex calls it is not known") ||
		!strings.HasPrefix(found["project at agent"], "ok: ") {
		t.Errorf("it finds %v, status %d", found, status)
	}
	w.must(t, "bailiff setup codex --project src/shop --remove")
	if left, err := w.says(t, "ls -d .codex"); err == nil {
		t.Errorf("of what was made for it %s is left", left)
	}
}

func TestARealCodexCallsTheHookOnceItIsSetUp(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.has(t, "codex", "@openai/codex-linux-*/vendor/*/bin/codex")
	const own = "# mine\nmodel = \"m\"\n"
	w.must(t, "mkdir .codex && printf '"+strings.ReplaceAll(own, "\n", `\n`)+"' >.codex/config.toml")
	for range 2 { // as it was before, also what Codex itself wrote of the hooks that it trusts
		w.must(t, "bailiff setup codex --project src/shop"+accepted)
		if with := w.must(t, "cat .codex/config.toml"); !strings.Contains(with, "trusted_hash") {
			t.Errorf("with the hook Codex' settings are\n%s", with)
		}
		w.must(t, "bailiff setup codex --project src/shop --remove")
		if left := w.must(t, "cat .codex/config.toml && test ! -e .codex/hooks.json"); left != own {
			t.Errorf("after the removal its settings are\n%s", left)
		}
	}
	w.must(t, "bailiff setup codex --project src/shop"+accepted)
	w.serves(t)
	hook := "hook in " + filepath.Join(w.Home, ".codex", "hooks.json")
	if found, _ := w.finds(t, "codex"); !strings.HasPrefix(found[hook], "ok: ") {
		t.Errorf("of the hook it finds %s", found[hook])
	}
	m := apptest.ServeModel(t, apptest.Call{Tool: "exec_command", Args: map[string]any{"cmd": "echo in $(hostname)"}},
		apptest.Call{Tool: "apply_patch", Args: "*** Begin Patch\n*** Add File: a\n+mark\n*** End Patch\n"},
		apptest.Call{Tool: "apply_patch", Args: "*** Begin Patch\n*** Add File: .envrc\n+mark\n*** End Patch\n"})
	cmd := w.Shell(t, "cd src/shop && exec codex exec --skip-git-repo-check --json -s danger-full-access -c model=gpt-5.5 "+
		`-c model_provider=scripted -c 'model_providers.scripted={name="scripted",base_url="`+m.URL+`/v1",wire_api="responses"}' go`)
	told := m.Work(t, cmd)
	if !strings.Contains(told[0], "in sandbox") || !strings.Contains(told[1], "A a") ||
		!strings.Contains(told[2], "command.writes_startup") {
		t.Errorf("its model is told %q", told)
	}
	w.must(t, "sed -i s/agent.sock/other.sock/ .codex/hooks.json")
	if found, status := w.finds(t, "codex"); status != 1 || !strings.Contains(found[hook], "not trusted") {
		t.Errorf("of a hook that changed it finds %s, status %d", found[hook], status)
	}
	w.must(t, "printf '[tui]\\nanimations = false\\n' >>.codex/config.toml && bailiff setup codex --project src/shop --remove")
	if left := w.must(t, "cat .codex/config.toml && test ! -e .codex/hooks.json"); left != own+"[tui]\nanimations = false\n" {
		t.Errorf("after the removal its settings are\n%s", left)
	}
}

// has puts a program of the clients into the user's path.
func (w worker) has(t *testing.T, name, pattern string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(apptest.Clients(t), "node_modules", pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("finding %s: %v", pattern, err)
	}
	programs := filepath.Join(w.Home, ".local", "bin")
	w.must(t, "mkdir -p .local/bin")
	if os.Link(found[0], filepath.Join(programs, name)) != nil { // which costs nothing where it is the same disk
		text, err := os.ReadFile(found[0])
		backendtest.Must(t, errors.Join(err, os.WriteFile(filepath.Join(programs, name), text, 0o755))) //nolint:gosec // it is run
	}
}

func TestARealClaudeCodeCallsTheHookOnceItIsSetUp(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.has(t, "claude", "@anthropic-ai/claude-code/bin/claude.exe")
	w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	w.serves(t)
	const check = "hook as Claude Code calls it"
	if found, _ := w.finds(t, "claude-code"); !strings.HasPrefix(found[check], "ok: It called the hook") {
		t.Errorf("of the hook it finds %s", found[check])
	}
	w.must(t, "mkdir -p off/.claude && echo '{\"disableAllHooks\": true}' >off/.claude/settings.json")
	found, status := w.findsIn(t, "off", "claude-code")
	if status != 1 || !strings.HasPrefix(found[check], "failure: Claude Code did not call the hook in this folder.") {
		t.Errorf("in a folder whose settings switch hooks off it finds %s, status %d", found[check], status)
	}
	m := apptest.ServeModel(t,
		apptest.Call{Tool: "Write", Args: map[string]any{"file_path": w.project + "/a.sh", "content": "echo tested"}},
		apptest.Call{Tool: "Bash", Args: map[string]any{"command": "sh a.sh && hostname"}},
		apptest.Call{Tool: "Bash", Args: map[string]any{"command": "seq 9000"}},
		apptest.Call{Tool: "Read", Args: fileNamedIn(2, ".txt")},
		apptest.Call{Tool: "Bash", Args: map[string]any{"command": "echo $((6 * 7)) in the background", "run_in_background": true}},
		apptest.Call{Tool: "Read", Args: fileNamedIn(4, ".output")})
	told := m.Work(t, w.Shell(t, "cd src/shop && ANTHROPIC_BASE_URL="+m.URL+" ANTHROPIC_API_KEY=none DISABLE_AUTOUPDATER=1 "+
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 exec claude -p go --permission-mode acceptEdits"))
	if text := w.must(t, "cat src/shop/a.sh"); text != "echo tested" || !strings.Contains(told[1], "tested\nsandbox") {
		t.Errorf("the file holds %q, its model is told %q", text, told)
	}
	if !strings.Contains(told[3], "\t2\n") || strings.Contains(told[3], "denied") {
		t.Errorf("of what Claude Code kept of a large result its model is told %.300q after %.500q", told[3], told[2])
	}
	if strings.Contains(told[5], "not judged") || strings.Contains(told[5], "denied") {
		t.Errorf("of the background's output its model is told %.300q after %.500q", told[5], told[4])
	}
}

// The second lock of a hook: with the guard in its line gone, Claude Code still blocks what a broken hook does not judge.
func TestARealClaudeCodeBlocksWhatABrokenHookDoesNotJudge(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.has(t, "claude", "@anthropic-ai/claude-code/bin/claude.exe")
	w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	w.must(t, `sed -i 's/"command": .*"/"command": "exit 1"/' .claude/settings.json`)
	for _, locked := range []bool{true, false} {
		if !locked {
			w.must(t, `sed -i 's/"onFailure": "block"/"onFailure": "continue"/' .claude/settings.json`)
		}
		m := apptest.ServeModel(t, apptest.Call{Tool: "Write", Args: map[string]any{"file_path": w.project + "/b", "content": "x"}})
		m.Work(t, w.Shell(t, "cd src/shop && ANTHROPIC_BASE_URL="+m.URL+" ANTHROPIC_API_KEY=none DISABLE_AUTOUPDATER=1 "+
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 exec claude -p go --permission-mode acceptEdits"))
		if _, err := w.says(t, "cat src/shop/b"); (err == nil) == locked {
			t.Errorf("with the lock %v the file is there: %v", locked, err == nil)
		}
	}
}

// fileNamedIn reads the file that an earlier result names.
func fileNamedIn(result int, ext string) func([]string) any {
	named := regexp.MustCompile(`/[^\s"\\]+\` + ext + `\b`)
	return func(results []string) any {
		return map[string]any{"file_path": named.FindString(results[result]), "limit": 20}
	}
}

func TestToolsByMCPBeginInTheProjectOfTheirAgent(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	said := w.must(t, "bailiff setup mcp:zed --project src/shop"+accepted)
	if !strings.Contains(said, `"--in-project"]`) {
		t.Fatalf("it tells no entry: %s", said)
	}
	w.serves(t)
	if found, status := w.finds(t, "mcp:zed"); status != 2 || !strings.HasPrefix(found["settings"], "ok: ") ||
		!strings.HasPrefix(found["tools of zed"], "ok: ") {
		t.Errorf("it finds %v, status %d", found, status)
	}
	for folder, want := range map[string]string{"src/shop": w.project + "\n/tmp\n/tmp\n", "src": "/workspace\n/tmp\n/tmp\n"} {
		if got := w.callsByMCP(t, folder, "pwd", "cd /tmp && pwd", "pwd"); got != want {
			t.Errorf("started in %s commands print %q, want %q", folder, got, want)
		}
	}
}

// callsByMCP is what commands print that one agent has run, which starts the server in a folder.
func (w worker) callsByMCP(t *testing.T, folder string, commands ...string) (printed string) {
	t.Helper()
	cmd := w.Shell(t, "cd "+folder+" && exec bailiff mcp --in-project")
	in, err := cmd.StdinPipe()
	backendtest.Must(t, err)
	out, err := cmd.StdoutPipe()
	backendtest.Must(t, err)
	backendtest.Must(t, cmd.Start())
	answers := json.NewDecoder(out)
	send := func(message map[string]any) {
		message["jsonrpc"] = "2.0"
		backendtest.Must(t, json.NewEncoder(in).Encode(message))
	}
	answer := func() (text string) {
		var a struct {
			Result struct{ Content []struct{ Text string } }
		}
		backendtest.Must(t, answers.Decode(&a))
		for _, part := range a.Result.Content {
			text += part.Text
		}
		return text
	}
	send(map[string]any{"id": 0, "method": "initialize", "params": map[string]any{"protocolVersion": "2025-06-18",
		"capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "zed", "version": "1"}}})
	answer()
	send(map[string]any{"method": "notifications/initialized"})
	for i, command := range commands {
		send(map[string]any{"id": i + 1, "method": "tools/call", "params": map[string]any{"name": "terminal",
			"arguments": map[string]any{"command": command}}})
		printed += strings.TrimSuffix(answer(), "\n") + "\n"
	}
	backendtest.Must(t, in.Close())
	backendtest.Must(t, cmd.Wait())
	return printed
}

func TestHermesIsSetUpWithItsPluginAndProven(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	if printed, err := w.says(t, "bailiff setup hermes --project src/shop"+accepted); err == nil || !strings.Contains(printed,
		"there is no Hermes home") || w.Shell(t, "test -e .config").Run() == nil {
		t.Errorf("without a home it says %s, %v", printed, err)
	}
	const own = "# mine\nmodel: m # kept\nplugins:\n  enabled: [other]\n"
	w.must(t, "mkdir .hermes && printf '"+strings.ReplaceAll(own, "\n", `\n`)+"' > .hermes/config.yaml")
	w.must(t, "bailiff setup hermes --project src/shop"+accepted)
	if said := w.must(t, "bailiff setup hermes --project src/shop"); !strings.Contains(said, "Nothing to change") {
		t.Errorf("the second time it says %s", said)
	}
	w.serves(t)
	found, status := w.finds(t, "hermes")
	for _, name := range []string{"plug-in", "gate cli", "gate without a sidecar", "project at agent"} {
		if !strings.HasPrefix(found[name], "ok: ") {
			t.Errorf("%s is %q", name, found[name])
		}
	}
	if status != 2 {
		t.Errorf("it finds %v, status %d", found, status)
	}
	w.must(t, "bailiff setup hermes --project src/shop --remove")
	if left := w.must(t, "cat .hermes/config.yaml && ls .hermes"); left != own+"config.yaml\n" {
		t.Errorf("after the removal it is %q, want %q", left, own)
	}
}
