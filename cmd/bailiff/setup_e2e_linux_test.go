package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/apptest"
)

// worker is an ordinary user with a project.
type worker struct {
	*apptest.User
	project string
}

func newWorker(t *testing.T) worker {
	t.Helper()
	_, err := exec.LookPath("bwrap")
	backendtest.Needs(t, "BUBBLEWRAP (run scripts/install-deps)", err)
	w := worker{User: apptest.NewUser(t)}
	w.project = filepath.Join(w.Home, "src", "shop")
	w.must(t, "mkdir -p src/shop && cd src/shop && git init -q . && mkdir .claude && echo {} >.claude/settings.json")
	return w
}

// says is what a line prints, and how it ended.
func (w worker) says(t *testing.T, line string) (string, error) {
	t.Helper()
	printed, err := w.Shell(t, line).CombinedOutput()
	return string(printed), err
}

func (w worker) must(t *testing.T, line string) string {
	t.Helper()
	printed, err := w.says(t, line)
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, printed)
	}
	return printed
}

// quickly has the sidecar start in time on a busy machine.
const quickly = "sed -i 's/paths: .policies./&, require_tests: false, eval_timeout: 10s/' .config/bailiff/bailiff.yaml"

// serves starts the sidecar as the line says that was printed, until the test ends.
func (w worker) serves(t *testing.T) {
	t.Helper()
	w.must(t, quickly)
	cmd := w.Shell(t, "exec bailiff serve")
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	backendtest.Await(t, "the sidecar answers", func() bool { return w.Shell(t, "bailiff status").Run() == nil })
}

// asks has Claude Code's hook, as the user's settings name it, asked about a command.
func (w worker) asks(t *testing.T, folder, command string) (decision, rewritten string) {
	t.Helper()
	settings := w.must(t, "cat .claude/settings.json")
	var s struct {
		Hooks struct {
			PreToolUse []struct{ Hooks []struct{ Command string } }
		}
	}
	if err := json.Unmarshal([]byte(settings), &s); err != nil || len(s.Hooks.PreToolUse) != 1 {
		t.Fatalf("the settings are %s, %v", settings, err)
	}
	question, err := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": folder, "tool_name": "Bash",
		"tool_input": map[string]string{"command": command}})
	if err != nil {
		t.Fatal(err)
	}
	hook := w.Shell(t, s.Hooks.PreToolUse[0].Hooks[0].Command)
	hook.Stdin = bytes.NewReader(question)
	printed, _ := hook.Output() // a denial has another status
	var answer struct {
		Out struct {
			Decision string `json:"permissionDecision"`
			Input    struct{ Command string }
			Updated  struct{ Command string } `json:"updatedInput"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(printed, &answer); err != nil {
		t.Fatalf("the hook answers %q: %v", printed, err)
	}
	return answer.Out.Decision, answer.Out.Updated.Command
}

const accepted = " --accept-missing-limits"

func TestAnOrdinaryUsersAgentWorksOnAProjectAfterOneCommand(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	w.serves(t)
	decision, rewritten := w.asks(t, w.project, "echo package shop >shop.go && cat shop.go && pwd")
	if decision != "allow" {
		t.Fatalf("the hook says %s", decision)
	}
	if printed := w.must(t, rewritten); printed != "package shop\n"+w.project+"\n" {
		t.Errorf("the command printed %q", printed)
	}
	if text := w.must(t, "cat src/shop/shop.go"); text != "package shop\n" {
		t.Errorf("the project's file holds %q", text)
	}
	if decision, _ := w.asks(t, w.project, "rm -rf /"); decision != "deny" {
		t.Errorf("what destroys the machine is %s", decision)
	}
	_, rewritten = w.asks(t, w.project, "python3 -c \"open('.claude/settings.json','w')\"")
	if printed, err := w.says(t, rewritten); err == nil {
		t.Errorf("the agent's settings in the project were written: %s", printed)
	}
}

func TestASecondSetupChangesNothingAndRemovalTakesAllAway(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, `mkdir .claude && echo '{"model": "opus", "hooks": {"Stop": [], "PreToolUse": [{"matcher": "X", "hooks": []}]}}' `+
		`>.claude/settings.json && mkdir -p src/other`)
	before := w.must(t, "cat .claude/settings.json")
	all := "find .config .claude src -type f | sort | xargs sha256sum"
	w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	once := w.must(t, all)
	if said := w.must(t, "bailiff setup claude-code --project src/shop"+accepted); !strings.Contains(said, "Nothing to change") ||
		w.must(t, all) != once {
		t.Errorf("the second time it says %q", said)
	}
	w.must(t, "bailiff setup claude-code --project src/other"+accepted)
	const anew = "start it anew, so that it reads what is written now:\n  "
	if said := w.must(t, "rm -r src/other && bailiff setup claude-code --project src/other --remove"); !strings.Contains(said, anew) {
		t.Errorf("the removal of what a sidecar may show says %q", said)
	}
	if text := w.must(t, "cat .config/bailiff/bailiff.yaml .config/bailiff/policies/data.yaml"); strings.Contains(text, "src/other") ||
		!strings.Contains(text, "src/shop") || !strings.Contains(w.must(t, "cat .claude/settings.json"), "bailiff-hook") {
		t.Error("with the folder that is gone more or less than that was taken away")
	}
	// By hand: a flag for the hook, a comment and another order in the configuration.
	w.must(t, `sed -i 's/hook claude-code/& --headless/' .claude/settings.json`)
	w.must(t, `sed -i 's/^agent:/# mine\n&/; s/mounts_allowed: \[/&"\/srv\/x", /' .config/bailiff/bailiff.yaml`)
	if said := w.must(t, "bailiff setup claude-code --project src/shop"+accepted); !strings.Contains(said, "Nothing to change") {
		t.Errorf("after edits by hand it says %q", said)
	}
	w.must(t, "bailiff setup claude-code --project src/shop --remove")
	text := w.must(t, "cat .config/bailiff/bailiff.yaml .config/bailiff/policies/data.yaml")
	if strings.Contains(text, "src/shop") || !strings.Contains(text, "# mine") || !strings.Contains(text, "/srv/x") {
		t.Error("the removal took away what it had not written, or left what it had")
	}
	var was, is any
	_ = json.Unmarshal([]byte(before), &was)
	_ = json.Unmarshal([]byte(w.must(t, "cat .claude/settings.json")), &is)
	if fmt.Sprint(was) != fmt.Sprint(is) {
		t.Errorf("the agent's settings were %v and are %v", was, is)
	}
}

func TestASidecarThatRunsFollowsASetup(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	w.serves(t)
	if said := w.must(t, "mkdir src/other && bailiff setup claude-code --project src/other"); strings.Contains(said, "Start the sidecar") ||
		!strings.Contains(said, "The sandbox shows "+filepath.Join(w.Home, "src", "other")+", writable.") {
		t.Errorf("of a second project it says %s", said)
	}
	inside := func() (folder string) {
		_, rewritten := w.asks(t, filepath.Join(w.Home, "src", "other"), "pwd")
		return w.must(t, rewritten)
	}
	if got := inside(); got != filepath.Join(w.Home, "src", "other")+"\n" {
		t.Errorf("commands of the second project run in %s", got)
	}
	if said := w.must(t, "bailiff setup claude-code --project src/other --remove"); strings.Contains(said, "start it anew") {
		t.Errorf("beside a sidecar that runs a removal says %s", said)
	}
	if got := inside(); got != "/workspace\n" {
		t.Errorf("commands of a project that was taken away run in %s", got)
	}
	_, rewritten := w.asks(t, w.project, "pwd")
	if got := w.must(t, rewritten); got != w.project+"\n" {
		t.Errorf("commands of the first project run in %s", got)
	}
}

func TestCommandsReadTheModulesThatGoKeepsOnceTheirUserSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, `mkdir -p go/pkg/mod/x.test/dep@v1.0.0 && echo 'package dep // One' >go/pkg/mod/x.test/dep@v1.0.0/dep.go && `+
		`echo 'module x.test/shop' >src/shop/go.mod && echo 'package shop' >src/shop/shop.go && mkdir -p src/other`)
	if said := w.must(t, "bailiff setup claude-code --project src/shop"+accepted); !strings.Contains(said, "(--go-modules)") ||
		strings.Contains(w.must(t, "cat .config/bailiff/policies/data.yaml"), "/home/go/pkg") {
		t.Errorf("without a yes it says %s", said)
	}
	w.must(t, "bailiff setup claude-code --project src/shop --go-modules && test ! -e .local/share/bailiff/go-build")
	w.must(t, "bailiff setup claude-code --project src/shop --go-build-cache")
	if said := w.must(t, "bailiff setup claude-code --project src/other --go-modules"); strings.Contains(said, "--go-modules") {
		t.Errorf("where they are shown it says %s", said)
	}
	w.serves(t)
	const read = "cat ~/go/pkg/mod/x.test/*/dep.go; touch ~/go/pkg/mod/x 2>/dev/null || echo and no more"
	_, rewritten := w.asks(t, w.project, read)
	if printed := w.must(t, rewritten); printed != "package dep // One\nand no more\n" {
		t.Errorf("a command prints %q", printed)
	}
	if _, err := os.Stat("/usr/local/go/bin/go"); err == nil {
		_, rewritten = w.asks(t, w.project, "go build ./... && go env GOMODCACHE")
		if printed := w.must(t, rewritten); printed != "/home/go/pkg/mod\n" {
			t.Errorf("Go says %q", printed)
		}
		w.must(t, "find .local/share/bailiff/go-build -name '*-d' | grep -q . && test ! -e .cache/go-build")
	}
	w.must(t, "bailiff setup claude-code --project src/other --remove")
	if left := w.must(t, "cat .config/bailiff/bailiff.yaml .config/bailiff/policies/data.yaml"); !strings.Contains(left, "go/pkg") {
		t.Error("with one of two projects the modules went")
	}
	w.must(t, "bailiff setup claude-code --project src/shop --remove")
	left := w.must(t, "grep -hE 'mounts_allowed|mounts:' .config/bailiff/bailiff.yaml .config/bailiff/policies/data.yaml")
	if strings.Contains(left, w.Home) || !strings.Contains(left, "mounts_allowed: []") {
		t.Errorf("with the last project there is left %s", left)
	}
}

func TestNothingIsWrittenWhereAProjectIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "mkdir -p src/own/.config && ln -s / src/root && ln -s .. src/home && mkdir src/shut && chmod 555 src/shut && : >src/file")
	for line, want := range map[string]string{
		"--project /":        "the whole machine",
		"--project src/root": "the whole machine",
		"--project .":        "is a home folder",
		"--project src/home": "is a home folder",
		"--project ..":       "holds the home folder",
		"--project src/none": "there is no folder",
		"--project src/file": "is no folder",
		"--project src/shut": "cannot be written",
		"--project src/own --config src/own/.config/b.yaml": "holds bailiff's configuration",
		"--project /run":     "",
		"":                   "--project DIR",
		"--project src/shop": "cannot hold these limits here",
	} {
		if printed, err := w.says(t, "bailiff setup claude-code "+line); err == nil || !strings.Contains(printed, want) {
			t.Errorf("%s: %v, %s", line, err, printed)
		}
	}
	w.must(t, "mkdir src/clone && cp $(dirname $(command -v bailiff))/bailiff* src/clone")
	if printed, err := w.says(t, "src/clone/bailiff setup claude-code --project src/clone"); err == nil || !strings.Contains(printed,
		"holds bailiff's programs") {
		t.Errorf("to a project with the programs it says %s, %v", printed, err)
	}
	w.must(t, "bailiff setup claude-code --project src/shop --dry-run"+accepted)
	for _, name := range []string{".config", ".claude"} {
		if _, err := os.Lstat(filepath.Join(w.Home, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if os.Geteuid() == 0 {
		cmd := exec.Command(filepath.Join(apptest.Programs(t), "bailiff"), "setup", "claude-code", "--project", w.project)
		if printed, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(printed), "root's own project cannot be shown") {
			t.Errorf("to root it says %s, %v", printed, err)
		}
	}
}

func TestSecretsInAProjectAreListedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "cd src/shop && mkdir -p deploy node_modules/x && touch .env .env.example deploy/tls.key node_modules/x/a.pem")
	said := w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	wrote := strings.Index(said, "wrote ")
	for name, listed := range map[string]bool{"  .env\n": true, "  deploy/tls.key\n": true, "example": false, "a.pem": false} {
		if at := strings.Index(said, name); (at >= 0 && at < wrote) != listed {
			t.Errorf("%q: listed at %d, wants %v in %s", name, at, listed, said)
		}
	}
	if managed := w.must(t, "bailiff setup claude-code --project src/shop --managed"+accepted); !strings.Contains(managed,
		"/etc/claude-code/managed-settings.json") {
		t.Errorf("root's lines are %s", managed)
	}
}

// finds is what the doctor found, by the names of its checks.
func (w worker) finds(t *testing.T, words string) (found map[string]string, status int) {
	t.Helper()
	return w.findsIn(t, ".", words)
}

func (w worker) findsIn(t *testing.T, folder, words string) (found map[string]string, status int) {
	t.Helper()
	cmd := w.Shell(t, "cd "+folder+" && exec bailiff doctor --output json "+words)
	printed, _ := cmd.Output() // its status is looked at
	var d struct {
		Checks []struct{ Name, State, Message, Do string }
	}
	if err := json.Unmarshal(printed, &d); err != nil {
		t.Fatalf("the doctor says %q: %v", printed, err)
	}
	found = map[string]string{}
	for _, c := range d.Checks {
		found[c.Name] = c.State + ": " + c.Message + " " + c.Do
	}
	return found, cmd.ProcessState.ExitCode()
}

// lacks is a program that this machine has not for everyone, and a file of the projects that need it.
func (w worker) lacks(t *testing.T) (program, file string) {
	t.Helper()
	for program, file := range map[string]string{"cargo": "Cargo.toml", "mvn": "pom.xml", "php": "composer.json"} {
		if w.Shell(t, "command -v "+program).Run() != nil {
			return program, file
		}
	}
	t.Fatal("this machine has every program")
	return "", ""
}

func TestTheDoctorProvesWhatASetupMade(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	program, file := w.lacks(t)
	w.must(t, "touch src/shop/Makefile src/shop/"+file+" && bailiff setup claude-code --project src/shop --allow-same-user"+accepted)
	if found, status := w.finds(t, "claude-code"); status != 1 || !strings.Contains(found["listener agent"], "Start the sidecar: ") {
		t.Errorf("without a sidecar it finds %v, status %d", found, status)
	}
	w.serves(t)
	found, status := w.finds(t, "claude-code")
	hook := "hook in " + filepath.Join(w.Home, ".claude", "settings.json")
	for name, want := range map[string]string{
		hook: "ok: It is the user's own", "allowed at agent": "ok: A command ran in bubblewrap",
		"project at agent": "ok: The sandbox shows " + w.project + ", writable", "denied at agent": "ok: ",
		"asked at agent": "ok: People are asked", "secret at agent": "ok: ", "host at agent": "ok: ", "time limit at agent": "ok: ",
		"output limit at agent": "ok: ", "limits of bubblewrap": "warning: Sandboxes may go without these: cpus, memory_mb, pids",
	} {
		if !strings.HasPrefix(found[name], want) {
			t.Errorf("%s is %q, want %s", name, found[name], want)
		}
	}
	if said := w.must(t, "bailiff setup claude-code --project src/shop"); !strings.Contains(said, "project at agent") {
		t.Errorf("a setup that changes nothing does not end with the doctor: %s", said)
	}
	for name, want := range map[string]string{
		"author at agent":   "warning: Commits of the agent in " + w.project + " fail",
		"programs at agent": "warning: Commands do not find these programs, which " + w.project + " needs: " + program + ".",
	} {
		if !strings.HasPrefix(found[name], want) {
			t.Errorf("%s is %q, want %s", name, found[name], want)
		}
	}
	if status != 2 || len(found) != 14 || !strings.HasPrefix(found["hook as Claude Code calls it"], "warning: ") {
		t.Errorf("it finds %v, status %d", found, status)
	}
	if left := w.must(t, "bailiff approvals list --output json"); strings.Contains(left, `"pending"`) {
		t.Errorf("questions are left: %s", left)
	}
	if said, _ := w.says(t, "bailiff check"); strings.Contains(said, "the "+hook) {
		t.Errorf("of a hook that fits check says %s", said)
	}
	w.must(t, "git -C src/shop config user.email ana@shop.test")
	for _, c := range []struct{ edit, check, want string }{
		{"s/ || .*; }\"/\"/", hook, "failure: Where the hook is missing"},
		{"s/: 60/: 50/", hook, "failure: The agent runs the tool after 50 s"},
		{`s/"matcher": "."/"matcher": "Bash"/`, hook, `failure: It is called for "Bash" only`},
		{"s/agent.sock/b.sock/", hook, `failure: About "echo bailiff-doctor" it says "deny"`},
		{`1s/{/{"disableAllHooks": true,/`, "hook", "failure: No hook is in force"},
	} {
		w.must(t, "cp .claude/settings.json kept && sed -i '"+c.edit+"' .claude/settings.json")
		found, status := w.finds(t, "claude-code")
		if status != 1 || !strings.HasPrefix(found[c.check], c.want) {
			t.Errorf("after %s it finds %q, status %d", c.edit, found[c.check], status)
		}
		if said := found["author at agent"]; said != "" {
			t.Errorf("of commits by an author that the project names it finds %q", said)
		}
		if strings.Contains(c.want, "after 50 s") {
			if said, _ := w.says(t, "bailiff check"); !strings.Contains(said, "the "+hook+": The agent runs the tool after 50 s") {
				t.Errorf("after %s check says %s", c.edit, said)
			}
		}
		w.must(t, "mv kept .claude/settings.json")
	}
	w.must(t, "mv src/shop src/moved")
	if found, status := w.finds(t, ""); status != 1 || !strings.Contains(found["project at agent"], "--project "+w.project+" --remove") {
		t.Errorf("with a project that was moved it finds %v, status %d", found, status)
	}
}

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
	if left := w.must(t, "cat .codex/hooks.json"); strings.Contains(left, "bailiff") {
		t.Errorf("its hook is left: %s", left)
	}
}

func TestARealCodexCallsTheHookOnceItIsSetUp(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.has(t, "codex", "@openai/codex-linux-*/vendor/*/bin/codex")
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

func TestWhatWeakensBailiffIsWrittenAfterAYesAtTheTerminal(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("script")
	backendtest.Needs(t, "SCRIPT (of util-linux)", err)
	w := newWorker(t)
	const at = ` | script -qec "bailiff setup claude-code --project src/shop" /dev/null`
	if printed, err := w.says(t, `printf 'n\nn\n'`+at); err == nil || !strings.Contains(printed, "Go on without? [y/N]") ||
		w.Shell(t, "test -e .config").Run() == nil {
		t.Errorf("after a no it says %s, %v", printed, err)
	}
	w.must(t, `printf 'y\nno\n'`+at)
	if text := w.must(t, "cat .config/bailiff/bailiff.yaml"); strings.Contains(text, "allow_same_user") ||
		!strings.Contains(text, "accept_missing_limits: [cpus, memory_mb, pids]") {
		t.Errorf("after one yes it is %s", text)
	}
	w.must(t, `printf 'yes\n'`+at)
	if text := w.must(t, "cat .config/bailiff/bailiff.yaml"); !strings.Contains(text, "allow_same_user: true") {
		t.Errorf("after another it is %s", text)
	}
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
	want := own + "  entries: {}\nterminal: {backend: bailiff}\n"
	if left := w.must(t, "cat .hermes/config.yaml"); left != want {
		t.Errorf("after the removal it is %q, want %q", left, want)
	}
}
