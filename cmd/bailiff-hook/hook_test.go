package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// fakeSidecar is a sidecar that gives one decision, and remembers what it was asked.
type fakeSidecar struct {
	address string
	// id and status are the decision's and the answer's.
	id     string
	status int
	asked  bailiff.Request
	// folders are those that it was asked about, in their order.
	folders []string
	token   string
	parent  []string // of its trace
	// old says that it knows nothing of connections.
	old bool
}

func openListener(tb testing.TB, d bailiff.Decision) *fakeSidecar {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "a.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	answers := &fakeSidecar{address: "unix://" + path, id: "d1", status: http.StatusOK}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.asked, answers.token, answers.parent = bailiff.Request{}, r.Header.Get("Authorization"), r.Header.Values("traceparent")
		if err := json.NewDecoder(r.Body).Decode(&answers.asked); err != nil || r.URL.Path != "/v1/decide" {
			http.Error(w, "odd", http.StatusBadRequest)
			return
		}
		answers.folders = append(answers.folders, answers.asked.Args.Workdir)
		w.WriteHeader(answers.status)
		_ = json.NewEncoder(w).Encode(map[string]any{"decision_id": answers.id, "decision": d,
			"connects": r.URL.Query().Has("connects") && !answers.old})
	})}
	go func() { _ = server.Serve(l) }()
	tb.Cleanup(func() { _ = server.Close() })
	return answers
}

func allowing(backend string, mounts ...bailiff.Mount) bailiff.Decision {
	d := bailiff.Decision{Outcome: bailiff.Allow, Denials: []bailiff.Reason{}, Revision: "r"}
	d.Backend.Name, d.Backend.Mounts = backend, mounts
	return d
}

func asking(backend string) bailiff.Decision {
	d := allowing(backend)
	d.Outcome, d.Limits.TimeoutSeconds = bailiff.Ask, 60
	d.Approval = &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "house.deploys", Message: "It deploys.", Match: "now"}},
		TimeoutSeconds: 300}
	return d
}

var denying = bailiff.Denial("house.closed", "Closed for today.")

// events are how the clients name the hook before a tool runs.
var events = map[string]string{"claude-code": "PreToolUse", "codex": "PreToolUse", "cursor": "preToolUse", "gemini-cli": "BeforeTool",
	"hermes": "pre_tool_call", "qwen-code": "PreToolUse", "vs-code": "PreToolUse"}

// question is what a client writes.
func question(client, tool, input string) string {
	if client == "copilot-cli" {
		return `{"sessionId": "s1", "timestamp": 1, "cwd": "/home/ana/p", "toolName": "` + tool + `", "toolArgs": ` + input + `}`
	}
	session := "session_id"
	if client == "cursor" {
		session = "conversation_id"
	}
	return `{"hook_event_name": "` + events[client] + `", "` + session + `": "s1", "cwd": "/home/ana/p", "more": [1], "tool_name": "` +
		tool + `", "tool_input": ` + input + `}`
}

// asAgent has an agent ask that another one started.
func asAgent(id, question string) string {
	return strings.Replace(question, `"session_id"`, `"agent_id": `+hook.JSON(id)+`, "agent_type": "Explore", "session_id"`, 1)
}

// told is how one run ended.
type told struct {
	stdout, stderr string
	status         int
}

func start(stdin io.Reader, args ...string) told {
	var stdout, stderr bytes.Buffer
	status := run(args, stdin, &stdout, &stderr)
	return told{stdout.String(), stderr.String(), status}
}

func (d *fakeSidecar) ask(client, tool, input string, flags ...string) told {
	args := append([]string{client, "--listen", d.address, "--bailiff", "/bin/sh", "--user", "7"}, flags...)
	return start(strings.NewReader(question(client, tool, input)), args...)
}

func TestAToolIsJudgedAsWhatItDoes(t *testing.T) {
	for _, c := range []struct{ client, tool, input, command, backend string }{
		{"claude-code", "Bash", `{"command": "ls | wc"}`, "ls | wc", ""},
		{"claude-code", "Read", `{"file_path": "/no/a b"}`, "cat -- '/no/a b'", "local"},
		{"claude-code", "Read", `{"file_path": "x"}`, "cat -- /home/ana/p/x", "local"},
		{"claude-code", "Read", `{"file_path": "-x"}`, "cat -- /home/ana/p/-x", "local"},
		{"claude-code", "Write", `{"file_path": "/no/x", "content": "c"}`, "tee -- /no/x", "local"},
		{"claude-code", "Edit", `{"file_path": "/no/x"}`, "cat -- /no/x && tee -- /no/x", "local"},
		{"claude-code", "MultiEdit", `{"file_path": "/no/x"}`, "cat -- /no/x && tee -- /no/x", "local"},
		{"claude-code", "NotebookEdit", `{"notebook_path": "/no/x"}`, "cat -- /no/x && tee -- /no/x", "local"},
		{"claude-code", "NotebookRead", `{"notebook_path": "/no/x"}`, "cat -- /no/x", "local"},
		{"claude-code", "LS", `{"path": "/no/x"}`, "ls -- /no/x", "local"},
		{"claude-code", "Glob", `{"pattern": "**/*.go"}`, "find /home/ana/p -path '**/*.go'", "local"},
		{"claude-code", "Glob", `{"pattern": "{a,b}/k..*"}`, "find /home/ana/p -path '{a,b}/k..*'", "local"},
		{"claude-code", "Glob", `{"pattern": "/no/k*/**"}`, "find /no -path '/no/k*/**'", "local"},
		{"claude-code", "Grep", `{"pattern": "-k", "path": "/no"}`, "grep -r -e -k -- /no", "local"},
		{"claude-code", "Grep", `{"pattern": "k"}`, "grep -r -e k -- /home/ana/p", "local"},
		{"claude-code", "WebFetch", `{"url": "http://x.test/?a=1"}`, "curl -- 'http://x.test/?a=1'", "local"},
		{"codex", "Bash", `{"command": "ls"}`, "ls", ""},
		{"codex", "view_image", `{"path": "x.png"}`, "cat -- /home/ana/p/x.png", "local"},
		{"codex", "apply_patch", `{"command": "*** Begin Patch\n*** Add File: x\n+k\n*** End Patch"}`,
			"cat -- /home/ana/p/x && tee -- /home/ana/p/x", "local"},
		{"gemini-cli", "run_shell_command", `{"command": "ls"}`, "ls", ""},
		{"gemini-cli", "list_directory", `{"dir_path": "/no"}`, "ls -- /no", "local"},
		{"gemini-cli", "grep_search", `{"pattern": "k", "dir_path": "/no"}`, "grep -r -e k -- /no", "local"},
		{"gemini-cli", "web_fetch", `{"prompt": "Compare https://a.test/x with http://b.test/"}`,
			"curl -- https://a.test/x http://b.test/", "local"},
		{"gemini-cli", "google_web_search", `{"query": "q"}`, "curl -- https://www.google.com/search", "local"},
		{"qwen-code", "run_shell_command", `{"command": "ls"}`, "ls", ""},
		{"qwen-code", "edit", `{"file_path": "/no/x"}`, "cat -- /no/x && tee -- /no/x", "local"},
		{"qwen-code", "web_fetch", `{"url": "https://a.test/"}`, "curl -- https://a.test/", "local"},
		{"copilot-cli", "bash", `{"command": "ls"}`, "ls", ""},
		{"copilot-cli", "create", `{"path": "/no/x", "file_text": "k"}`, "tee -- /no/x", "local"},
		{"copilot-cli", "apply_patch", `"*** Begin Patch\n*** Add File: x\n+k\n*** End Patch"`,
			"cat -- /home/ana/p/x && tee -- /home/ana/p/x", "local"},
		{"copilot-cli", "web_fetch", `{"url": "https://a.test/"}`, "curl -- https://a.test/", "local"},
		{"cursor", "Shell", `{"command": "ls"}`, "ls", ""},
		{"cursor", "Write", `{"file_path": "/no/x"}`, "cat -- /no/x && tee -- /no/x", "local"},
		{"vs-code", "run_in_terminal", `{"command": "ls"}`, "ls", ""},
		{"vs-code", "create_file", `{"filePath": "/no/x"}`, "tee -- /no/x", "local"},
		{"vs-code", "apply_patch", `{"input": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch"}`,
			"cat -- /no/x && tee -- /no/x", "local"},
		{"vs-code", "fetch_webpage", `{"urls": ["https://a.test/x", "http://b.test/"]}`, "curl -- https://a.test/x http://b.test/",
			"local"},
		{"hermes", "terminal", `{"command": "ls"}`, "ls", ""},
		{"hermes", "read_file", `{"path": "/no/x"}`, "cat -- /no/x", "local"},
		{"hermes", "write_file", `{"path": "/no/x"}`, "tee -- /no/x", "local"},
		{"hermes", "patch", `{"path": "/no/x"}`, "cat -- /no/x && tee -- /no/x", "local"},
		{"hermes", "patch", `{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: /no/x\n*** Move to: /no/y\n+k\n*** Delete ` +
			`File: /no/z\n*** End Patch"}`,
			"cat -- /no/x /no/y && tee -- /no/x /no/y && rm -- /no/z", "local"},
		{"hermes", "search_files", `{"pattern": "k", "path": "/no"}`, "grep -r -e k -- /no", "local"},
		{"hermes", "search_files", `{"pattern": "*.go", "target": "files", "path": "/no"}`, "find /no -path '*.go'", "local"},
	} {
		d := openListener(t, denying)
		d.ask(c.client, c.tool, c.input)
		if got := d.asked; got.Args.Command != c.command || got.Backend != c.backend || got.Tool != bailiff.Terminal {
			t.Errorf("%s of %s is judged as %q on %q, want %q on %q", c.tool, c.client, got.Args.Command, got.Backend, c.command, c.backend)
		}
		want := bailiff.Session{ID: c.client + ":s1", Platform: "cli", ChatType: "dm", UserID: "7"}
		if d.asked.Session != want {
			t.Errorf("%s of %s comes from %+v, want %+v", c.tool, c.client, d.asked.Session, want)
		}
	}
}

// ordered is what "bailiff exec" gets in these tests.
const ordered = "/bin/sh exec --end-with-parent --listen ADDRESS --platform cli --user 7 --session CLIENT:s1"

func (d *fakeSidecar) order(client, rest string) string {
	return strings.NewReplacer("ADDRESS", d.address, "CLIENT", client).Replace(ordered) + rest
}

func TestAVerdictIsToldInTheClientsOwnWords(t *testing.T) {
	const (
		claudeSays = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"%","permissionDecisionReason":"bailiff: `
		ran        = `allowed by the policies; bailiff runs it in docker`
		due        = `bailiff asks its approvers: It deploys (house.deploys: now)`
		first      = `the person at Claude Code must allow it first, and then bailiff asks its approvers: It deploys ` +
			`(house.deploys: now); where there is none, bailiff-hook wants --headless`
		closed = `the policies deny it: Closed for today (house.closed)`
	)
	claude := func(word, reason, rest string) string {
		return strings.Replace(claudeSays, "%", word, 1) + reason + `"` + rest + "}}"
	}
	bash := `{"command": "x 'y'", "timeout": 2500, "description": "d", "run_in_background": false, "dangerouslyDisableSandbox": true, ` +
		`"_more": {}}`
	for name, c := range map[string]struct {
		client string
		tool   string
		input  string
		d      bailiff.Decision
		flags  []string
		stdout string
		status int
	}{
		"Claude Code, allowed": {"claude-code", "Bash", bash, allowing("docker"), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --timeout 3 -- 'x '\\''y'\\'''","description":"d",`+
				`"run_in_background":false,"timeout":2500}`), 0},
		"Claude Code, in the background": {"claude-code", "Bash", `{"command": "x", "run_in_background": true}`, allowing("docker"), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --timeout 1800 -- 'x'","run_in_background":true}`), 0},
		"Claude Code, asked": {"claude-code", "Bash", `{"command": "x"}`, asking("docker"), nil,
			claude("ask", first, `,"updatedInput":{"command":"ORDER --wait 300 -- 'x'","timeout":360000}`), 0},
		"Claude Code, asked with nobody in front": {"claude-code", "Bash", `{"command": "x"}`, asking("docker"), []string{"--headless"},
			claude("allow", due, `,"updatedInput":{"command":"ORDER --wait 300 -- 'x'","timeout":360000}`), 0},
		"Claude Code, denied": {"claude-code", "Bash", bash, denying, nil, claude("deny", closed, ""), 2},
		"Claude Code, in its folder": {"claude-code", "Bash", `{"command": "x"}`,
			allowing("docker", bailiff.Mount{Source: "/home/ana/p/", Target: "/p"}, bailiff.Mount{Source: "/home/ana", Target: "/ana"},
				bailiff.Mount{Source: "/home/an", Target: "/an"}), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --workdir /p -- 'x'"}`), 0},
		"Claude Code, beside a folder": {"claude-code", "Bash", `{"command": "x"}`,
			allowing("docker", bailiff.Mount{Source: "/home/an", Target: "/an"}), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --workdir /workspace -- 'x'"}`), 0},
		"Claude Code, beside a folder to read": {"claude-code", "Bash", `{"command": "x"}`,
			allowing("docker", bailiff.Mount{Source: "/home/an", Target: "/an", ReadOnly: true}), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER -- 'x'"}`), 0},
		"Claude Code, with variables": {"claude-code", "Bash", `{"command": "x"}`, allowing("docker"), []string{"--env", "A", "--env", "B"},
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --env A --env B -- 'x'"}`), 0},
		"Claude Code, on the host": {"claude-code", "Bash", bash, allowing("local"), []string{"--on-host"},
			claude("allow", "allowed on this machine by the policies",
				`,"updatedInput":{"command":"x 'y'","description":"d","run_in_background":false,"timeout":2500}`), 0},
		"Claude Code, a file": {"claude-code", "Read", `{"file_path": "/no/x"}`, allowing("local"), nil,
			claude("allow", "allowed on this machine by the policies", ""), 0},
		"Claude Code, a list":     {"claude-code", "TodoWrite", `{}`, denying, nil, "", 0},
		"Claude Code, own server": {"claude-code", "mcp__bailiff__terminal", `{}`, denying, []string{"--pass-bailiff-mcp"}, "", 0},
		"Claude Code, passed":     {"claude-code", "mcp__github__list", `{}`, denying, []string{"--pass", "mcp__git*__*"}, "", 0},
		"Codex, in another folder than its own": {"codex", "Bash", `{"command": "x", "workdir": "/srv/q"}`,
			allowing("docker", bailiff.Mount{Source: "/srv", Target: "/s"}, bailiff.Mount{Source: "/home/ana/p", Target: "/p"}), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --workdir /s/q -- 'x'"}`), 0},
		"Codex, in a folder below its own": {"codex", "Bash", `{"command": "x", "workdir": "./q/r/"}`,
			allowing("docker", bailiff.Mount{Source: "/home/ana/p", Target: "/p"}), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --workdir /p/q/r -- 'x'"}`), 0},
		"Codex, in a folder that is not shown": {"codex", "Bash", `{"command": "x", "workdir": "/etc"}`,
			allowing("docker", bailiff.Mount{Source: "/home/ana/p", Target: "/p"}), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --workdir /workspace -- 'x'"}`), 0},
		"Codex, in its own folder": {"codex", "Bash", `{"command": "x"}`,
			allowing("docker", bailiff.Mount{Source: "/home/ana/p", Target: "/p"}), nil,
			claude("allow", ran, `,"updatedInput":{"command":"ORDER --workdir /p -- 'x'"}`), 0},
		"Copilot CLI, allowed": {"copilot-cli", "bash", `{"command": "x", "mode": "async", "detach": true}`, allowing("docker"), nil,
			`{"modifiedArgs":{"command":"ORDER -- 'x'","mode":"async"},"permissionDecision":"allow","permissionDecisionReason":"bailiff: ` +
				ran + `"}`, 0},
		"Copilot CLI, denied": {"copilot-cli", "bash", `{"command": "x"}`, denying, nil,
			`{"permissionDecision":"deny","permissionDecisionReason":"bailiff: ` + closed + `"}`, 2},
		"Cursor, passed": {"cursor", "MCP:list", `{}`, denying, []string{"--pass", "MCP:list"}, "{}", 0},
		"Cursor, denied": {"cursor", "Shell", `{"command": "x"}`, denying, nil, `{"agent_message":"bailiff: ` + closed +
			`","permission":"deny"}`, 2},
		"Cursor, a file": {"cursor", "Read", `{"file_path": "/no/x"}`, allowing("local"), nil,
			`{"agent_message":"bailiff: allowed on this machine by the policies","permission":"allow"}`, 0},
		"VS Code, denied": {"vs-code", "run_in_terminal", `{"command": "x"}`, denying, nil, claude("deny", closed, ""), 2},
		"Hermes, allowed": {"hermes", "terminal", `{"command": "x", "timeout": 3, "force": true, "background": true}`,
			allowing("docker"), nil, `{"action":"modify","args":{"background":true,"command":"ORDER --timeout 3 -- 'x'","timeout":3}}`, 0},
		"Hermes, asked": {"hermes", "terminal", `{"command": "x"}`, asking("docker"), nil,
			`{"action":"modify","args":{"command":"ORDER --wait 300 -- 'x'","timeout":360}}`, 0},
		"Hermes, denied": {"hermes", "terminal", `{"command": "x"}`, denying, nil, `{"action":"block","message":"bailiff: ` +
			closed + `"}`, 2},
		"Hermes, in a folder": {"hermes", "terminal", `{"command": "x", "workdir": "/srv/q"}`,
			allowing("docker", bailiff.Mount{Source: "/srv", Target: "/s"}), nil,
			`{"action":"modify","args":{"command":"ORDER --workdir /s/q -- 'x'","workdir":"/"}}`, 0},
		"Hermes, a sandbox's folder": {"hermes", "terminal", `{"command": "x", "workdir": "/w"}`, allowing("docker"), nil,
			`{"action":"modify","args":{"command":"ORDER --workdir /w -- 'x'","workdir":"/"}}`, 0},
		"Hermes, a file": {"hermes", "read_file", `{"path": "/no/x"}`, allowing("local"), nil, "", 0},
		"Hermes, a look": {"hermes", "process", `{"action": "poll"}`, denying, nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := openListener(t, c.d)
			got := d.ask(c.client, c.tool, c.input, c.flags...)
			want := strings.ReplaceAll(c.stdout, "ORDER", d.order(c.client, ""))
			if strings.TrimSpace(got.stdout) != want || got.status != c.status {
				t.Errorf("it says, by %d:\n%s\nwant %d and\n%s", got.status, got.stdout, c.status, want)
			}
			if told := strings.Contains(got.stderr, "Closed for today"); told != (c.status == hook.Refused) {
				t.Errorf("standard error says %q", got.stderr)
			}
		})
	}
}

func TestOnlyWhatIsAskedAboutIsJudgedAgainInItsFolder(t *testing.T) {
	mount := bailiff.Mount{Source: "/home/ana", Target: "/a"}
	asked, denied := asking("docker"), denying
	asked.Backend.Mounts, denied.Backend.Mounts = []bailiff.Mount{mount}, []bailiff.Mount{mount}
	for name, c := range map[string]struct {
		d    bailiff.Decision
		want []string
	}{
		"allowed":                    {allowing("docker", mount), []string{""}},
		"denied":                     {denied, []string{""}},
		"asked about":                {asked, []string{"", "/a/p"}},
		"asked about and shown none": {asking("docker"), []string{""}},
	} {
		d := openListener(t, c.d)
		d.ask("claude-code", "Bash", `{"command": "x"}`)
		if !slices.Equal(d.folders, c.want) {
			t.Errorf("what is %s is judged in %q, want %q", name, d.folders, c.want)
		}
	}
}

// refuses checks that a client runs nothing, whichever part of the answer it heeds.
func refuses(t *testing.T, name string, got told, says string) {
	t.Helper()
	if got.status != hook.Refused || strings.TrimSpace(got.stderr) == "" || permits(got.stdout) || !strings.Contains(got.stderr, says) {
		t.Errorf("%s: it says, by %d: %s%s, want a refusal that says %q", name, got.status, got.stdout, got.stderr, says)
	}
}

// permits says whether a client would take this for a yes, or for nothing said.
func permits(stdout string) bool {
	var a struct {
		Output struct {
			Decision string `json:"permissionDecision"`
		} `json:"hookSpecificOutput"`
		Action   string `json:"action"`
		Decision string `json:"decision"`
		Copilots string `json:"permissionDecision"`
		Cursors  string `json:"permission"`
	}
	err := json.Unmarshal([]byte(stdout), &a)
	return err != nil || !slices.Contains([]string{a.Output.Decision, a.Decision, a.Copilots, a.Cursors}, "deny") && a.Action != "block"
}

func TestWhatCannotBeReadOrIsNotKnownIsRefused(t *testing.T) {
	d := openListener(t, allowing("local"))
	big := `{"command": "` + strings.Repeat("x", longest) + `"}`
	for _, c := range []struct{ name, client, stdin, says string }{
		{"nothing", "claude-code", "", "standard input is empty"},
		{"no JSON", "claude-code", "ls", "want a JSON object"},
		{"half of it", "hermes", `{"hook_event_name": "pre_tool_call"`, "want a JSON object"},
		{"two of them", "claude-code", question("claude-code", "TodoWrite", `{}`) + `{}`, "want a JSON object"},
		{"null", "hermes", "null", "want a JSON object"},
		{"a list", "claude-code", "[]", "want a JSON object"},
		{"too much", "claude-code", question("claude-code", "Bash", big), "longer than 64 MiB"},
		{"another event", "claude-code", strings.Replace(question("claude-code", "Bash", `{"command": "x"}`), "PreToolUse", "SessionStart",
			1), "answers PreToolUse and PostToolUse only"},
		{"another client", "hermes", question("claude-code", "Bash", `{"command": "x"}`), "answers pre_tool_call only"},
		{"no tool", "claude-code", question("claude-code", "", `{}`), "tool_name is missing"},
		{"a tool that is no word", "claude-code", strings.Replace(question("claude-code", "X", `{}`), `"X"`, `7`, 1),
			"tool_name is no string"},
		{"no session", "claude-code", strings.Replace(question("claude-code", "Bash", `{"command": "x"}`), `"s1"`, `""`, 1),
			"session_id is missing"},
		{"no input", "claude-code", question("claude-code", "Bash", `null`), "tool_input is no object"},
		{"an input that is a text", "claude-code", question("claude-code", "Bash", `"ls"`), "tool_input is no object"},
		{"a name in capitals", "claude-code", question("claude-code", "Bash", `{"Command": "x"}`), "command is missing"},
		{"a command that is a list", "claude-code", question("claude-code", "Bash", `{"command": ["x"]}`), "command is no string"},
		{"no command", "hermes", question("hermes", "terminal", `{}`), "command is missing"},
		{"a time that is none", "claude-code", question("claude-code", "Bash", `{"command": "x", "timeout": "5"}`), "timeout is no number"},
		{"a time before now", "claude-code", question("claude-code", "Bash", `{"command": "x", "timeout": -5}`),
			"timeout is no length of time"},
		{"a folder beside Codex' own", "codex", question("codex", "Bash", `{"command": "x", "workdir": "../q"}`),
			"want a path that does not lead upward"},
		{"a folder that is a number", "codex", question("codex", "Bash", `{"command": "x", "workdir": 7}`), "workdir is no string"},
		{"a folder from somewhere", "hermes", question("hermes", "terminal", `{"command": "x", "workdir": "q"}`), "want an absolute path"},
		{"no file", "claude-code", question("claude-code", "Read", `{"path": "/no/x"}`), "file_path is missing"},
		{"a step back", "claude-code", question("claude-code", "Read", `{"file_path": "/no/../etc/shadow"}`), "without a step back"},
		{"another's home", "claude-code", question("claude-code", "Read", `{"file_path": "~root/x"}`), "write the home folder out"},
		{"a NUL byte", "claude-code", question("claude-code", "Read", `{"file_path": "/no/x\u0000y"}`), "that nobody sees"},
		{"the own home, which is a folder to some", "codex", question("codex", "apply_patch", `{"command": "*** Add File: ~/x"}`),
			"write the home folder out"},
		{"the own home", "claude-code", question("claude-code", "NotebookEdit", `{"notebook_path": "~/x.ipynb"}`),
			"write the home folder out"},
		{"a home to look in", "claude-code", question("claude-code", "Glob", `{"pattern": "~/*"}`), "without a home folder"},
		{"a pattern after a blank", "claude-code", question("claude-code", "Glob", `{"pattern": " /etc/*"}`), "blanks around it"},
		{"a folder after a blank", "claude-code", question("claude-code", "Glob", `{"pattern": "*", "path": " /etc"}`), "blanks around it"},
		{"a folder before a blank", "claude-code", question("claude-code", "Grep", `{"pattern": "x", "path": "/etc "}`),
			"blanks around it"},
		{"a file after a tab", "claude-code", question("claude-code", "Read", `{"file_path": "\t/etc/shadow"}`), "blanks around it"},
		{"a file after a wide blank", "claude-code", question("claude-code", "Write", `{"file_path": "\u00a0/etc/x"}`), "blanks around it"},
		{"a file after a mark of byte order", "claude-code", question("claude-code", "Read", `{"file_path": "\ufeff/etc/shadow"}`),
			"that nobody sees"},
		{"a file of two lines", "hermes", question("hermes", "read_file", `{"path": "/no/x\ny"}`), "that nobody sees"},
		{"a file of a patch after a blank", "codex", question("codex", "apply_patch", `{"command": "*** Add File:  x"}`),
			"blanks around it"},
		{"a file from somewhere", "hermes", question("hermes", "read_file", `{"path": "x"}`), "want an absolute path"},
		{"a folder that is not named", "hermes", question("hermes", "search_files", `{"pattern": "x"}`), "want an absolute path"},
		{"a pattern that steps back", "claude-code", question("claude-code", "Glob", `{"pattern": "../../**"}`), "without a step back"},
		{"one that steps back in an alternative", "claude-code", question("claude-code", "Glob", `{"pattern": "src/{ok,../../.ssh/*}"}`),
			"without a step back"},
		{"one that begins anew in an alternative", "claude-code", question("claude-code", "Glob", `{"pattern": "{a,/etc/*}"}`),
			"that begins at /"},
		{"one of another agent's", "hermes",
			question("hermes", "search_files", `{"pattern": "{a,../b}", "target": "files", "path": "/no"}`), "without a step back"},
		{"a choice of files that steps back", "claude-code", question("claude-code", "Grep", `{"pattern": "x", "glob": "../.ssh/*"}`),
			"without a step back"},
		{"a place that is each process's own", "claude-code", question("claude-code", "Write", `{"file_path": "/proc/self/cwd/x"}`),
			"leads each program elsewhere"},
		{"the same by another name", "claude-code", question("claude-code", "Read", `{"file_path": "/dev/fd/3"}`),
			"leads each program elsewhere"},
		{"a patch of nothing", "hermes", question("hermes", "patch", `{"mode": "patch", "patch": "hello"}`), "names no file"},
		{"a patch that does more", "hermes", question("hermes", "patch", `{"mode": "patch", "patch": "*** Link File: /no/x"}`),
			"nothing that a patch is known to do"},
		{"a script", "hermes", question("hermes", "execute_code", `{"code": "1"}`), "in the terminal"},
		{"what is typed", "hermes", question("hermes", "process", `{"action": "submit", "data": "x"}`), "command of its own"},
		{"no action", "hermes", question("hermes", "process", `{}`), "action is missing"},
		{"a watch", "claude-code", question("claude-code", "Monitor", `{"command": "x"}`), "use Bash"},
		{"an agent elsewhere", "claude-code", question("claude-code", "Agent", `{"isolation": "worktree"}`), "leave isolation out"},
		{"an address of a file", "vs-code", question("vs-code", "read_file", `{"filePath": "file:///etc/shadow"}`), "without a scheme"},
		{"addresses that are none", "vs-code", question("vs-code", "fetch_webpage", `{"urls": "https://a.test/"}`), "no list of"},
		{"no folder of several", "cursor", strings.Replace(question("cursor", "Shell", `{"command": "x"}`), `"cwd": "/home/ana/p"`,
			`"workspace_roots": ["/a", "/b"]`, 1), "names 2 folders, want one"},
		{"a server's tool of Cursor", "cursor", question("cursor", "MCP:terminal", `{}`), "--pass 'MCP:terminal'"},
		{"an unknown tool", "claude-code", question("claude-code", "Zap", `{}`), "--pass 'Zap'"},
		{"a server's tool", "claude-code", question("claude-code", "mcp__other__terminal", `{}`), "--pass"},
		{"a server's tool, called like bailiff's", "claude-code", question("claude-code", "mcp__bailiff__terminal", `{}`),
			"--pass-bailiff-mcp"},
		{"the same of Codex", "codex", question("codex", "mcp__bailiff__terminal", `{}`), "--pass-bailiff-mcp"},
		{"a command that is too long", "claude-code", question("claude-code", "Bash", `{"command": "`+strings.Repeat("x", mostAsked)+`"}`),
			"longer than the 1 MiB"},
		{"one called almost like bailiff's", "claude-code", question("claude-code", "mcp__bailiff2__terminal", `{}`), "--pass"},
		{"an unknown tool of Hermes", "hermes", question("hermes", "browser", `{}`), "--pass"},
	} {
		d.asked = bailiff.Request{}
		refuses(t, c.name, start(strings.NewReader(c.stdin), c.client, "--listen", d.address), c.says)
		if d.asked.Tool != "" {
			t.Errorf("%s: the sidecar is asked about it", c.name)
		}
	}
}

func TestWrongFlagsRefuse(t *testing.T) {
	d := openListener(t, allowing("local"))
	for _, flags := range [][]string{
		{"--zap"}, {"--listen"}, {"more"}, {"--timeout", "0"}, {"--timeout", "soon"}, {"--timeout", "50s"}, {"--pass", "[x"},
		{"--bailiff", "bin/bailiff"},
		{"--help"},
		{"--listen", "/run/a.sock"}, {"--listen", "http://x"}, {"--listen", "unix://"}, {"--token-file", "/no/token"},
		{"--token-file", "/dev/null", "--listen", "tcp://127.0.0.1:1"},
	} {
		for client := range events {
			tool, input := with(shells[client], "x")
			refuses(t, strings.Join(flags, " "), start(strings.NewReader(question(client, tool, input)),
				append([]string{client, "--listen", d.address}, flags...)...), "")
		}
	}
	for _, args := range [][]string{{}, {"claude"}, {""}, {"--listen", "x"}, {"claude --help"}} {
		if got := start(strings.NewReader("{}"), args...); got.status != hook.Refused || got.stdout != "" || got.stderr == "" {
			t.Errorf("%q: it says, by %d: %s%s", args, got.status, got.stdout, got.stderr)
		}
	}
	if got := start(nil, "--help"); got.status != 0 || !strings.Contains(got.stdout, "Exit status") {
		t.Errorf("the help is %+v", got)
	}
}

func TestWhatIsWrongWithAFlagSaysWhatToWrite(t *testing.T) {
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"claude"}, "there are " + strings.Join(slices.Sorted(maps.Keys(dialects.All)), ", ")},
		{[]string{"codex", "--timeout", "5"}, "want a time such as 5s"},
		{[]string{"codex", "--timeout", "-5s"}, "want a time such as 5s"},
		{[]string{"codex", "--timeout", "90s"}, "want less than 50s: a client runs the tool"},
		{[]string{"codex", "--timout", "5s"}, `nearest valid flag is "--timeout"`},
		{[]string{"hermes", "--listen"}, "flag needs an argument"},
	} {
		if got := start(strings.NewReader("{}"), c.args...); got.status != hook.Refused || !strings.Contains(got.stderr, c.says) {
			t.Errorf("%q: it says, by %d: %s, want %q", c.args, got.status, got.stderr, c.says)
		}
	}
}

func TestTheHelpHoldsTheGuardedLinesOfTheExamples(t *testing.T) {
	line := regexp.MustCompile(`command"?(:| =) ("(?:sh -c ')?/usr/bin/timeout -s KILL 55 /usr/local/bin/bailiff-hook [^"]*")`)
	for client, file := range map[string]string{"claude-code": "examples/claude-code/managed-settings.json",
		"codex": "examples/codex/requirements.toml", "hermes": "docs/clients/hermes.md"} {
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		got, want := start(nil, client, "--help"), line.FindStringSubmatch(string(text))
		if want == nil || got.status != 0 || !strings.Contains(got.stdout, want[2]) {
			t.Errorf("the help of %s ends with %d and lacks %q:\n%s", client, got.status, want, got.stdout)
		}
	}
	if lines := line.FindAllString(help(), -1); len(lines) != len(events) {
		t.Errorf("the help holds %q", lines)
	}
}

func TestNothingIsOrderedOfAProgramThatIsNotThere(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "bailiff")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for client := range events {
		for _, program := range []string{"/nowhere/bailiff", t.TempDir(), plain} {
			for _, d := range []bailiff.Decision{allowing("docker"), asking("docker")} {
				opened := openListener(t, d)
				order := strings.Replace(opened.order(client, " -- 'x'"), "/bin/sh", program, 1)
				for _, command := range []string{"x", order} {
					tool, input := with(shells[client], command)
					refuses(t, client, opened.ask(client, tool, input, "--bailiff", program), "there is no program "+program+" (--bailiff)")
				}
			}
		}
	}
}

// silent never says anything, like a client that forgot to close its end.
type silent struct{}

func (silent) Read([]byte) (int, error) { select {} }

func TestTheDeadlineHoldsForReadingToo(t *testing.T) {
	for client := range events {
		refuses(t, client, start(silent{}, client, "--timeout", "20ms"), "giving up after 20ms (--timeout)")
	}
	synctest.Test(t, func(t *testing.T) {
		stdin, end := io.Pipe()
		defer func() { _ = end.Close() }()
		begun := time.Now()
		got := program{client: dialects.All["claude-code"], timeout: 10 * time.Second}.answer(t.Context(), stdin)
		if took := time.Since(begun); got.Status != hook.Refused || took != 10*time.Second {
			t.Errorf("after %v it answers %+v", took, got)
		}
	})
}

// broken is a pipe that nobody reads.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func TestAnAnswerThatCannotBeWrittenIsARefusal(t *testing.T) {
	d := openListener(t, allowing("docker"))
	var stderr bytes.Buffer
	args := []string{"claude-code", "--listen", d.address, "--bailiff", "/bin/sh"}
	status := run(args, strings.NewReader(question("claude-code", "Bash", `{"command": "x"}`)), broken{}, &stderr)
	if status != hook.Refused || !strings.Contains(stderr.String(), "nobody reads") {
		t.Errorf("it ends with %d and %q", status, stderr.String())
	}
}

// clumsy is a dialect that fails as no code here should.
type clumsy struct{ dialects.Dialect }

func (clumsy) Meaning(hook.Call) (hook.Meaning, error) { panic("a slip") }

func TestAPanicRefuses(t *testing.T) {
	dialects.All["clumsy"] = clumsy{dialects.All["claude-code"]}
	t.Cleanup(func() { delete(dialects.All, "clumsy") })
	refuses(t, "a panic", start(strings.NewReader(question("claude-code", "Bash", `{"command": "x"}`)), "clumsy"), "a slip")
	for client, d := range dialects.All {
		if got := d.Answer(hook.Call{}, hook.Verdict{}); got.Status != hook.Refused || permits(got.Stdout) {
			t.Errorf("a verdict of %s that nobody gave is %+v", client, got)
		}
	}
}

func FuzzNothingIsPermittedWithoutASidecar(f *testing.F) {
	for client, event := range events {
		for _, tool := range []string{"Bash", "Read", "apply_patch", "Glob", "terminal", "patch", "process", "Zap"} {
			f.Add(client, `{"hook_event_name": "`+event+`", "session_id": "s", "cwd": "/", "tool_name": "`+tool+
				`", "tool_input": {"command": "x", "file_path": "/x", "path": "/x", "pattern": "x", "mode": "patch", "patch": "*** Add `+
				`File: /x", "action": "write"}}`)
		}
	}
	f.Fuzz(func(t *testing.T, client, text string) {
		if _, known := dialects.All[client]; !known {
			return
		}
		got := start(strings.NewReader(text), client, "--listen", "unix:///nowhere/a.sock")
		if got.status == hook.Refused && got.stderr != "" && !permits(got.stdout) {
			return
		}
		c, err := dialects.All[client].Read([]byte(text))
		if m, wrong := dialects.All[client].Meaning(c); err != nil || wrong != nil || got.stdout != "" || m.Kind != hook.Harmless &&
			!(program{}).passes(c.Tool) {
			t.Errorf("%s is told %+v", text, got)
		}
	})
}
