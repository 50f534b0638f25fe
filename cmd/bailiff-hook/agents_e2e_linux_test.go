package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// agent is a real one, with the settings that users copy.
type agent struct {
	// settings is the file of examples/, place where its page has it put.
	settings, place string
	// pins is another such file, and where it is put, if its settings need one.
	pins, pinned string
	// shell asks for a command in the words of its tool, write for a file.
	shell func(command string) apptest.Call
	write func(path string) apptest.Call
	start func(t *testing.T, a agent, s *apptest.Machine, m *apptest.Model) *exec.Cmd
	// model is the one that it takes itself to talk to, which decides on its tools.
	model string
	// flags would have it start no hook, if the settings let them.
	flags []string
	// dialect is the agent's name here. Renamed are tools that its hook is told of by another name, and none where it calls no hook.
	dialect string
	renamed map[string]string
	// failed is what its model is told where the hook fails, if that is not what the hook's line says.
	failed string
	// late has most of its tests run by "make clients-test" only, later all of them.
	late, later bool
}

var agents = map[string]agent{
	"Claude Code": {
		dialect: "claude-code", flags: []string{"--settings", `{"disableAllHooks": true}`},
		settings: "examples/claude-code/managed-settings.json", place: "/etc/claude-code/managed-settings.json",
		shell: func(command string) apptest.Call {
			return apptest.Call{Tool: "Bash", Args: map[string]any{"command": command, "dangerouslyDisableSandbox": true}}
		},
		write: func(path string) apptest.Call {
			return apptest.Call{Tool: "Write", Args: map[string]any{"file_path": path, "content": "mark"}}
		},
		start: func(t *testing.T, a agent, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
			return s.Claude(t, m, append(a.flags, "--permission-mode", "bypassPermissions")...)
		},
	},
	"Gemini CLI": {
		dialect: "gemini-cli", late: true, settings: "examples/gemini-cli/settings.json", place: "/etc/gemini-cli/settings.json",
		pins: "examples/gemini-cli/bailiff.toml", pinned: "/etc/gemini-cli/policies/bailiff.toml",
		shell: func(command string) apptest.Call {
			return apptest.Call{Tool: "run_shell_command", Args: map[string]any{"command": command}}
		},
		write: func(path string) apptest.Call {
			return apptest.Call{Tool: "write_file", Args: map[string]any{"file_path": path, "content": "mark"}}
		},
		start: func(t *testing.T, a agent, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
			return s.Gemini(t, m, a.flags...)
		},
	},
	"Copilot CLI": {
		dialect: "copilot-cli", late: true, later: true,
		settings: "examples/copilot-cli/bailiff.json", place: "/etc/github-copilot/policy.d/bailiff.json",
		pins: "examples/copilot-cli/managed-settings.json", pinned: "/etc/github-copilot/managed-settings.json",
		failed: "hook exited with code 2",
		shell: func(command string) apptest.Call {
			return apptest.Call{Tool: "bash", Args: map[string]any{"command": command, "description": "d", "detach": true, "mode": "sync"}}
		},
		write: func(path string) apptest.Call {
			return apptest.Call{Tool: "create", Args: map[string]any{"path": path, "file_text": "mark"}}
		},
		start: func(t *testing.T, a agent, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
			return s.Copilot(t, m, a.flags...)
		},
	},
	"Codex": {
		dialect: "codex", model: "gpt-5.5", renamed: map[string]string{"exec_command": "Bash", "write_stdin": "", "": ""},
		flags:    []string{"--disable", "hooks"},
		settings: "examples/codex/requirements.toml", place: "/etc/codex/requirements.toml",
		pins: "examples/codex/managed_config.toml", pinned: "/etc/codex/managed_config.toml",
		shell: func(command string) apptest.Call {
			return apptest.Call{Tool: "exec_command", Args: map[string]any{"cmd": command}}
		},
		write: func(path string) apptest.Call {
			return apptest.Call{Tool: "apply_patch", Args: "*** Begin Patch\n*** Add File: " + path + "\n+mark\n*** End Patch\n"}
		},
		start: func(t *testing.T, a agent, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
			config := read(t, "examples/codex/config.toml")
			return s.Codex(t, m, "model = \""+a.model+"\"\n"+config, a.flags...)
		},
	},
}

// qwen runs what its model asks for or nothing, so that its model is told which order to ask for.
var qwen = agent{
	dialect: "qwen-code", settings: "examples/qwen-code/settings.json", place: "/etc/qwen-code/settings.json",
	shell: func(command string) apptest.Call {
		return apptest.Call{Tool: "run_shell_command", Args: map[string]any{"command": command, "is_background": false}}
	},
	write: func(path string) apptest.Call {
		return apptest.Call{Tool: "write_file", Args: map[string]any{"file_path": path, "content": "mark"}}
	},
	start: func(t *testing.T, a agent, s *apptest.Machine, m *apptest.Model) *exec.Cmd {
		return s.Qwen(t, m, a.flags...)
	},
}

// soon are the agents that meet a test in every run, or all of them in "make clients-test".
func soon() map[string]agent { return without(func(a agent) bool { return a.late }) }

// always are those that meet one test at least in every run.
func always() map[string]agent { return without(func(a agent) bool { return a.later }) }

func without(left func(agent) bool) map[string]agent {
	few := maps.Clone(agents)
	maps.DeleteFunc(few, func(_ string, a agent) bool { return left(a) && os.Getenv("BAILIFF_TEST_ALL") == "" })
	return few
}

// read is a file of this repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(apptest.Root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// machine is one on which the agent has its settings, but for these replacements.
func (a agent) machine(t *testing.T, address, programs string, instead ...string) *apptest.Machine {
	t.Helper()
	s := apptest.NewMachine(t, address, programs)
	s.Save(t, a.place, strings.NewReplacer(instead...).Replace(read(t, a.settings)))
	if a.pins != "" {
		s.Save(t, a.pinned, strings.NewReplacer(instead...).Replace(read(t, a.pins)))
	}
	return s
}

// works has the agent make calls, and returns what it told its model of each.
func (a agent) works(t *testing.T, s *apptest.Machine, calls ...apptest.Call) []string {
	t.Helper()
	m := apptest.ServeModel(t, calls...)
	told := m.Work(t, a.start(t, a, s, m))
	known := dialects.All[a.dialect].Names()
	for _, tool := range m.Offers() {
		name, is := a.renamed[tool]
		if !is {
			name = path.Base(tool) // behind its namespace
		}
		if name != "" && !slices.Contains(known, name) {
			t.Errorf("%s has the tool %s, which no table names", a.dialect, tool)
		}
	}
	return told
}

// houseRules ask and deny by the words of a command, wherever it runs.
const houseRules = `
require_approval contains {"rule": "house.asks", "message": "It is asked about.", "match": "asked"} if {
	contains(input.args.command, "asked-about")
}

deny contains {"rule": "house.denies", "message": "It is never done here."} if contains(input.args.command, "never-done")
`

// serve is a sidecar with these rules besides the shipped ones, for tests with sessions of their own.
func serve(t *testing.T, sections ...string) *apptest.Sidecar {
	t.Helper()
	return apptest.Share(t, houseRules, sections...)
}

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

func wantSaid(t *testing.T, told string, pieces ...string) {
	t.Helper()
	for _, piece := range pieces {
		if !strings.Contains(told, piece) {
			t.Errorf("its model is told %q, which lacks %q", told, piece)
		}
	}
}

func TestRealAgentsRunCommandsInTheSandboxOnly(t *testing.T) {
	s := serve(t)
	for name, a := range always() {
		t.Run(name, func(t *testing.T) {
			path := apptest.Mark(t)
			machine := a.machine(t, s.Agent, apptest.Programs(t))
			told := a.works(t, machine, a.shell("touch "+path+" && ls -d "+path+" && echo in $(pwd)"), a.shell("ls "+path),
				a.shell("echo never-done; touch "+path+"2"),
				a.write(filepath.Join(machine.Project, "mark")))
			wantSaid(t, told[0], path, "in /workspace")
			wantSaid(t, told[1], path) // the sandbox is the session's
			wantSaid(t, told[2], "It is never done here (house.denies)")
			wantSaid(t, told[3], "local", "the shell tool runs in the sandbox")
			for _, path := range []string{path, path + "2", filepath.Join(machine.Project, "mark")} {
				apptest.WantNoMark(t, path)
			}
		})
	}
}

func TestRealAgentsChangeFilesOfThisMachineOnlyWhereThePoliciesAllowIt(t *testing.T) {
	s := serve(t, "backends: {bubblewrap: {}, local: {}}")
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			machine := a.machine(t, s.Agent, apptest.Programs(t))
			allowed, denied := filepath.Join(machine.Project, "new"), filepath.Join(machine.Project, "never-done")
			told := a.works(t, machine, a.write(allowed), a.write(denied))
			if content, err := os.ReadFile(allowed); err != nil || strings.TrimSpace(string(content)) != "mark" {
				t.Errorf("the file that it may write holds %q, %v; its model is told %q", content, err, told[0])
			}
			wantSaid(t, told[1], "It is never done here (house.denies)")
			apptest.WantNoMark(t, denied)
		})
	}
}

func TestAgentsThatRealAgentsStartAreJudgedToo(t *testing.T) {
	wait := func(told []string) any {
		var agent struct {
			ID string `json:"agent_id"`
		}
		_ = json.Unmarshal([]byte(strings.Join(told, "")), &agent)
		return map[string]any{"targets": []string{agent.ID}}
	}
	started := map[string]struct {
		model string
		calls []apptest.Call
	}{
		"Claude Code": {"", []apptest.Call{{Tool: "Agent", Args: map[string]any{"description": "d", "prompt": "Do it.",
			"subagent_type": "general-purpose", "run_in_background": false}}}},
		"Gemini CLI": {"", []apptest.Call{{Tool: "invoke_agent", Args: map[string]any{"agent_name": "generalist", "prompt": "Do it."}}}},
		"Copilot CLI": {"", []apptest.Call{{Tool: "task", Args: map[string]any{"agent_type": "general-purpose", "name": "n",
			"description": "d", "prompt": "Do it."}}}},
		"Codex": {"scripted", []apptest.Call{{Tool: "multi_agent_v1/spawn_agent", Args: map[string]any{"message": "Do it."}},
			{Tool: "multi_agent_v1/wait_agent", Args: wait}}},
	}
	s := apptest.Serve(t, apptest.WithRules(t, houseRules))
	ran, ranOfAgents := 0, 0 // until now
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			path := apptest.Mark(t)
			a.model = started[name].model
			told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t)), append(started[name].calls, a.shell("touch "+path))...)
			n, ofAgents := runs(t, s)-ran, runsOfAgents(t, s)-ranOfAgents
			ran, ranOfAgents = ran+n, ranOfAgents+ofAgents
			if name != "Gemini CLI" && ofAgents != n-1 { // which does not say whose call it is
				t.Errorf("%d of %d commands are told as those of agents that others started, want all but one: %s", ofAgents, n,
					logOf(t, s))
			}
			if n < 2 || strings.Contains(strings.Join(told, ""), "is not known") {
				t.Errorf("it ran %d times in the sandbox, want once for each of two agents; its model is told %q", n, told)
			}
			apptest.WantNoMark(t, path)
		})
	}
}

func TestRealAgentsWorkOnAProjectThatTheirSandboxShows(t *testing.T) {
	project := apptest.OpenDir(t)
	if err := os.Chmod(project, 0o777); err != nil { //nolint:gosec // for the user of the sandbox
		t.Fatal(err)
	}
	s := apptest.Serve(t, "backends: {bubblewrap: {mounts_allowed: ["+project+"]}}",
		apptest.WithRules(t, houseRules, "cli: {isolation: optional,",
			"cli: {isolation: optional, mounts: {bubblewrap: [{source: "+project+", target: "+project+", read_only: false}]},"))
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			machine, path := a.machine(t, s.Agent, apptest.Programs(t)), apptest.Mark(t)
			machine.Project = project
			written := filepath.Join(project, strings.Fields(name)[0])
			told := a.works(t, machine, a.write(written), a.shell("cat "+filepath.Base(written)+" && touch "+path+" made-by-"+
				filepath.Base(written)))
			wantSaid(t, told[1], "mark")
			if _, err := os.Stat(filepath.Join(project, "made-by-"+filepath.Base(written))); err != nil {
				t.Errorf("what it made is not in the project: %v; its model is told %q", err, told)
			}
			apptest.WantNoMark(t, path)
		})
	}
}

func TestRealAgentsRunOnThisMachineWhatMayRunThereOnly(t *testing.T) {
	s := serve(t, "backends: {bubblewrap: {}, local: {}}")
	onHost := []string{" || {", " --on-host || {"}
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			allowed, denied := apptest.Mark(t), apptest.Mark(t)
			told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t), onHost...), a.shell("touch "+allowed),
				a.shell("echo never-done; touch "+denied))
			if _, err := os.Lstat(allowed); err != nil {
				t.Errorf("what may run there did not: %v; its model is told %q", err, told[0])
			}
			wantSaid(t, told[1], "It is never done here (house.denies)")
			apptest.WantNoMark(t, denied)
		})
	}
	t.Run("and Codex gives it nothing to read and applies no patch by it", func(t *testing.T) {
		a, path := agents["Codex"], apptest.Mark(t)
		patch := "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + path + "\n+mark\n*** End Patch\nEOF\n"
		told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t), onHost...), a.shell(patch),
			apptest.Call{Tool: "exec_command", Args: map[string]any{"cmd": "cat; bash; echo at the end", "tty": true,
				"yield_time_ms": 20_000}})
		wantSaid(t, told[0], "command.runs_unknown_program") // Codex alone knows such a program
		wantSaid(t, told[1], "at the end")
		apptest.WantNoMark(t, path)
	})
}

// CI meets another agent of the same dialect, so that Qwen Code is left to "make clients-test".
func TestQwenCodeRunsInTheSandboxWhatItIsToldToRunAndNothingElse(t *testing.T) {
	if os.Getenv("BAILIFF_TEST_ALL") == "" {
		return
	}
	s, path := serve(t), apptest.Mark(t)
	machine := qwen.machine(t, s.Agent, apptest.Programs(t))
	again := func(told []string) any {
		_, order, _ := strings.Cut(told[0], "run exactly this: ")
		return map[string]any{"command": strings.TrimSpace(strings.Split(order, "\n")[0]), "is_background": false}
	}
	told := qwen.works(t, machine, qwen.shell("touch "+path+" && ls -d "+path+" && echo in $(pwd)"),
		apptest.Call{Tool: "run_shell_command", Args: again}, qwen.shell("echo never-done; touch "+path+"2"),
		qwen.write(filepath.Join(machine.Project, "mark")))
	wantSaid(t, told[0], "/usr/local/bin/bailiff exec ")
	wantSaid(t, told[1], path, "in /workspace")
	wantSaid(t, told[2], "It is never done here (house.denies)")
	wantSaid(t, told[3], "local", "the shell tool runs in the sandbox")
	for _, path := range []string{path, path + "2", filepath.Join(machine.Project, "mark")} {
		apptest.WantNoMark(t, path)
	}
	for how, script := range map[string]string{"is killed": "kill -9 $$", "hangs": "exec sleep 1000"} {
		failing := t.TempDir()
		if err := os.WriteFile(filepath.Join(failing, "bailiff-hook"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		told := qwen.works(t, qwen.machine(t, "", failing, "KILL 55 ", "KILL 1 "), qwen.shell("touch "+path))
		if !strings.Contains(told[0], "bailiff-hook failed, so nothing runs") {
			t.Errorf("where the hook %s its model is told %q", how, told[0])
		}
		apptest.WantNoMark(t, path)
	}
}

func TestNoOtherHookChangesWhatWasJudged(t *testing.T) {
	s := serve(t)
	trusting := map[string][]string{"Codex": {"--dangerously-bypass-hook-trust"}}
	const claudes = `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", ` +
		`"updatedInput": {"command": "MINE"}}}`
	const copilots = `{"permissionDecision": "allow", "modifiedArgs": {"command": "MINE"}}`
	hooks := map[string]struct{ place, event, answer string }{
		"Copilot CLI": {".copilot/settings.json", "preToolUse", copilots},
		"Claude Code": {".claude/settings.json", "PreToolUse", claudes},
		"Codex":       {".codex/hooks.json", "PreToolUse", claudes},
		"Gemini CLI": {".gemini/settings.json", "BeforeTool",
			`{"decision": "allow", "hookSpecificOutput": {"tool_input": {"command": "MINE"}}}`},
	}
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			others, path := hooks[name], apptest.Mark(t)
			a.flags = trusting[name]
			machine := a.machine(t, s.Agent, apptest.Programs(t))
			other := "sleep 1; echo '" + strings.Replace(others.answer, "MINE", "touch "+path, 1) + "'"
			var hook any = map[string]any{"matcher": "*", "hooks": []any{map[string]any{"type": "command", "command": other}}}
			if name == "Copilot CLI" {
				hook = map[string]any{"type": "command", "bash": other}
			}
			whole, err := json.Marshal(map[string]any{"hooks": map[string]any{others.event: []any{hook}}})
			if err != nil {
				t.Fatal(err)
			}
			machine.Save(t, filepath.Join(machine.Home, others.place), string(whole))
			told := a.works(t, machine, a.shell("echo as judged"))
			wantSaid(t, told[0], "as judged")
			apptest.WantNoMark(t, path)
		})
	}
}

// runs counts how often the sidecar ran a command.
func runs(t *testing.T, s *apptest.Sidecar) int {
	t.Helper()
	return len(regexp.MustCompile(`"event":"execution"`).FindAllString(logOf(t, s), -1))
}

// runsOfAgents counts how often it ran one of an agent that another had started.
func runsOfAgents(t *testing.T, s *apptest.Sidecar) int {
	t.Helper()
	return len(regexp.MustCompile(`"event":"execution"[^}]*"agent":\{"id":"[^"]+","depth":1\}`).FindAllString(logOf(t, s), -1))
}

// logOf is the decision log.
func logOf(t *testing.T, s *apptest.Sidecar) (log string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(s.Config), "state", "decisions", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("finding the decision log: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		log += string(text)
	}
	return log
}

func TestCodexIsToldHowToAskAndTheCommandRunsOnceItIsApproved(t *testing.T) {
	s, a, path := serve(t), agents["Codex"], apptest.Mark(t)
	s.ApproveNext(t, 0)
	command := "echo asked-about; touch " + path + " && ls -d " + path
	again := func(told []string) any {
		_, order, _ := strings.Cut(told[0], "which waits for them: ")
		order, _, _ = strings.Cut(order, ". Command: ")
		return map[string]any{"cmd": order, "yield_time_ms": 20_000}
	}
	told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t)), a.shell(command), apptest.Call{Tool: "exec_command", Args: again})
	wantSaid(t, told[0], "It is asked about (house.asks", "/usr/local/bin/bailiff exec ")
	wantSaid(t, told[1], "asked-about\n"+path)
	apptest.WantNoMark(t, path)
}

func TestWhatIsTypedIntoACommandOfCodexReachesNothing(t *testing.T) {
	s, a, path := serve(t), agents["Codex"], apptest.Mark(t)
	typed := func(told []string) any {
		_, rest, _ := strings.Cut(told[0], "session ID ")
		var id int
		_ = json.NewDecoder(strings.NewReader(rest)).Decode(&id)
		return map[string]any{"session_id": id, "chars": "touch " + path + "\nexit\n"}
	}
	told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t)),
		apptest.Call{Tool: "exec_command", Args: map[string]any{"cmd": "sleep 2; bash", "tty": true, "yield_time_ms": 300}},
		apptest.Call{Tool: "write_stdin", Args: typed})
	wantSaid(t, told[0], "session ID ")
	apptest.WantNoMark(t, path)
}

// To an agent each of them is a refusal of bailiff-hook's, which its own tests want in front of all of them: an agent meets
// one of the two sorts in every run, one that gives no answer or a wrong one, and the rest in "make clients-test".
func TestInFrontOfABrokenSidecarNoRealAgentRunsAnything(t *testing.T) {
	meets := map[string]string{"Claude Code": apptest.Silent, "Codex": apptest.UnknownOutcome}
	for name, a := range soon() {
		few := slices.DeleteFunc(apptest.BrokenSidecars(), func(broken apptest.BrokenSidecar) bool {
			return os.Getenv("BAILIFF_TEST_ALL") == "" && broken.Name != meets[name]
		})
		if len(few) == 0 {
			t.Fatalf("%s meets no broken sidecar", name)
		}
		for _, broken := range few {
			t.Run(name+" in front of one that "+broken.Name, func(t *testing.T) {
				path := apptest.Mark(t)
				machine := a.machine(t, broken.Open(t, "unix"), apptest.Programs(t), " || {", " --timeout 500ms || {")
				written := filepath.Join(machine.Project, "mark")
				told := a.works(t, machine, a.shell("touch "+path), a.write(written))
				apptest.WantNoMark(t, written)
				for _, told := range told {
					wantSaid(t, told, "bailiff")
				}
				apptest.WantNoMark(t, path)
			})
		}
	}
}

func TestTheMarkOfACommandThatNobodyJudgesIsSeen(t *testing.T) {
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			path := apptest.Mark(t)
			a.works(t, apptest.NewMachine(t, "", apptest.Programs(t)), a.shell("touch "+path))
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("without settings there is no mark: %v", err)
			}
		})
	}
}

func TestWithoutBailiffHookNoRealAgentRunsAnything(t *testing.T) {
	killed := t.TempDir()
	if err := os.WriteFile(filepath.Join(killed, "bailiff-hook"), []byte("#!/bin/sh\nkill -9 $$\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, a := range soon() {
		for how, programs := range map[string]string{"where it is missing": t.TempDir(), "where it is killed": killed} {
			t.Run(name+" "+how, func(t *testing.T) {
				path := apptest.Mark(t)
				told := a.works(t, a.machine(t, "", programs), a.shell("touch "+path))
				wantSaid(t, told[0], cmp.Or(a.failed, "bailiff-hook failed, so nothing runs"))
				apptest.WantNoMark(t, path)
			})
		}
	}
}

func TestClaudeCodeThatPrintsAndEndsIsKnownToHaveNobodyInFront(t *testing.T) {
	s, a, path := serve(t), agents["Claude Code"], apptest.Mark(t)
	s.ApproveNext(t, 0)
	told := a.works(t, a.machine(t, s.Agent, apptest.Programs(t)), a.shell("echo asked-about; touch "+path+" && ls -d "+path))
	wantSaid(t, told[0], "asked-about\n"+path)
	apptest.WantNoMark(t, path)
}

func TestAHookThatHangsRunsNothing(t *testing.T) {
	hanging := t.TempDir()
	if err := os.WriteFile(filepath.Join(hanging, "bailiff-hook"), []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			path := apptest.Mark(t)
			told := a.works(t, a.machine(t, "", hanging, "KILL 55 ", "KILL 1 "), a.shell("touch "+path))
			wantSaid(t, told[0], cmp.Or(a.failed, "bailiff-hook failed, so nothing runs"))
			apptest.WantNoMark(t, path)
		})
	}
}

// Hooks that are switched off, as a user can: the rules that Gemini CLI applies itself keep commands from running.
func TestGeminiCLIRunsNoCommandThatNoHookJudged(t *testing.T) {
	a, path := agents["Gemini CLI"], apptest.Mark(t)
	told := a.works(t, a.machine(t, "", apptest.Programs(t), `"enabled": true`, `"enabled": false`), a.shell("touch "+path))
	wantSaid(t, told[0], "The hook of bailiff did not judge it, so nothing runs.")
	apptest.WantNoMark(t, path)
}
