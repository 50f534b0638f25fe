package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
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
	w.must(t, "bailiff status --wait 20m")
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
	w.must(t, `git config --global user.name Ana && git config --global user.email ana@x.test && git config --global alias.st status`)
	said := w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	w.serves(t)
	w.answersAs(t, said)
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
	_, rewritten = w.asks(t, w.project, "git add shop.go && git commit -qm one && git log --format='%an <%ae>, %cn'; git config alias.st")
	if printed, _ := w.says(t, rewritten); printed != "Ana <ana@x.test>, Ana\n" {
		t.Errorf("a commit, with whose author and without the user's aliases, prints %q", printed)
	}
	w.keepsItsRepository(t)
	w.takesARepository(t)
	w.seesTheReadmesTable(t)
	const begins = "cd src/shop && bailiff exec "
	if printed := w.must(t, begins+"-- pwd"); printed != "/workspace\nbailiff: it began where the session's last command ended; "+
		"to begin here: --workdir "+w.project+"\n" {
		t.Errorf("exec in the project prints %q", printed)
	}
	if printed := w.must(t, begins+`--workdir "$PWD" -- pwd; cd && bailiff exec -- true`); printed != w.project+"\n" {
		t.Errorf("exec that names the folder prints %q", printed)
	}
	_, rewritten = w.asks(t, w.project, "curl -sS https://example.com")
	if printed, _ := w.says(t, rewritten); !strings.Contains(printed, "no network") || !strings.Contains(printed, "network.platforms.cli") {
		t.Errorf("a command that reaches no host prints %q", printed)
	}
	_, rewritten = w.asks(t, w.project, "python3 -c \"open('.claude/settings.json','w')\"")
	if printed, err := w.says(t, rewritten); err == nil {
		t.Errorf("the agent's settings in the project were written: %s", printed)
	}
}

// keepsItsRepository has the user's git see the agent's commit, and nothing by which that could start a program.
func (w worker) keepsItsRepository(t *testing.T) {
	t.Helper()
	const outside = "cd src/shop && git log --format=%s && git status --short && sha256sum .git/config && ls .git/hooks"
	before := w.must(t, outside)
	if !strings.HasPrefix(before, "one\n?? .claude/\n") {
		t.Errorf("after the agent's commit the user's git says %s", before)
	}
	// The program says nothing of git, so that no policy asks about it.
	w.must(t, `printf 'import os\nfor n in (".git/config", ".git/hooks/pre-commit", ".git/commondir"): open(n, "a").write("x")\n' `+
		`>src/shop/x.py`)
	if _, rewritten := w.asks(t, w.project, "python3 x.py"); rewritten == "" {
		t.Fatal("the hook did not let the program run")
	} else if printed, err := w.says(t, rewritten); err != nil {
		t.Errorf("writing the git directory inside: %s, %v", printed, err)
	}
	w.must(t, "rm src/shop/x.py")
	if after := w.must(t, outside); after != before {
		t.Errorf("the user's git directory was\n%s\nand is\n%s", before, after)
	}
}

// takesARepository has the user's git find one that the agent makes in a subfolder once it was taken, and not before.
func (w worker) takesARepository(t *testing.T) {
	t.Helper()
	emb := filepath.Join(w.project, "emb")
	_, rewritten := w.asks(t, w.project, "git init -q emb && cd emb && echo x >f && git add f && git commit -qm inner")
	if printed, _ := w.says(t, rewritten); !strings.Contains(printed, "bailiff project adopt "+emb) {
		t.Errorf("a command that makes a repository in a subfolder prints %q", printed)
	}
	if found := w.must(t, "git -C src/shop/emb rev-parse --show-toplevel"); found != w.project+"\n" {
		t.Errorf("the user's git finds the repository of %s", found)
	}
	if said, _ := w.says(t, "bailiff status"); !strings.Contains(said, "bailiff project adopt "+emb) {
		t.Errorf("the status says %s", said)
	}
	_, rewritten = w.asks(t, emb, "git log --format=%s")
	if printed, _ := w.says(t, rewritten); !strings.HasSuffix(printed, "inner\n") {
		t.Errorf("git in the subfolder prints %q to the agent", printed)
	}
	w.must(t, "bailiff project adopt src/shop/emb")
	if found := w.must(t, "cd src/shop/emb && git rev-parse --show-toplevel && git log --format=%s"); found != emb+"\ninner\n" {
		t.Errorf("after it was taken the user's git finds %s", found)
	}
	w.must(t, "rm -rf src/shop/emb")
}

// readmesRow is a row of the table by which the README says what becomes of an agent's commands.
var readmesRow = regexp.MustCompile("(?m)^\\| ((?:`[^`]+`(?:, )?)+) \\| (runs|waits|is denied)")

func (w worker) seesTheReadmesTable(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(apptest.Root(t), "README.md"))
	backendtest.Must(t, err)
	became := map[string]bool{}
	for _, row := range readmesRow.FindAllStringSubmatch(string(text), -1) {
		want := map[string]string{"runs": "allow", "waits": "ask", "is denied": "deny"}[row[2]]
		for _, command := range strings.Split(strings.Trim(row[1], "`"), "`, `") {
			if decision, _ := w.asks(t, w.project, command); decision != want {
				t.Errorf("%s is %s, and the README says that it %s", command, decision, row[2])
			}
			became[want] = true
		}
	}
	if len(became) < 3 {
		t.Errorf("the README's table shows %v", became)
	}
}

// answersAs has the lines run by which approvals are answered, as a setup prints them at its end.
func (w worker) answersAs(t *testing.T, said string) {
	t.Helper()
	_, last, _ := strings.Cut(said, "waits for a person's answer:\n")
	for _, line := range []string{"bailiff approvals watch", "bailiff approvals approve ID", "bailiff console", "--allow-same-user"} {
		if !strings.Contains(last, line) {
			t.Errorf("%s is not in the end of %s", line, said)
		}
	}
	link := w.must(t, "bailiff console 2>/dev/null")
	if page := w.must(t, "curl -fsS --noproxy '*' "+strings.TrimSpace(link)); !strings.Contains(page, "<title>") {
		t.Errorf("at %s there is %s", link, page)
	}
	if printed, err := w.says(t, "bailiff approvals approve a-none"); err == nil || !strings.Contains(printed, "a-none") {
		t.Errorf("to an answer without a question it says %s, %v", printed, err)
	}
}

func TestASecondSetupChangesNothingAndRemovalTakesAllAway(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, `mkdir .claude && echo '{"model": "opus", "hooks": {"Stop": [], "PreToolUse": [{"matcher": "X", "hooks": []}]}}' `+
		`>.claude/settings.json && mkdir -p src/other`)
	before := w.must(t, "cat .claude/settings.json")
	const all = "find .config .claude src -type f | sort | xargs sha256sum"
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
	if strings.Contains(text, "src/shop") || strings.Contains(text, ", accept_missing_limits: [") ||
		!strings.Contains(text, "# mine") || !strings.Contains(text, "/srv/x") {
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
	w.must(t, "bailiff setup claude-code --project src/shop --go-modules")
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
		w.must(t, "test ! -e .cache/go-build") // what is built inside is kept elsewhere
		_, rewritten = w.asks(t, w.project, "find ~/.cache/go-build -name '*-d' | grep -c . >/dev/null && echo kept")
		if printed := w.must(t, rewritten); printed != "kept\n" {
			t.Errorf("of the build cache a command says %q", printed)
		}
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

// What an earlier setup wrote into the tables and the configuration, by its flag or a person's yes.
func TestABuildCacheThatProjectsShareIsShownUntilTheNextSetup(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "mkdir -p src/other .local/share/bailiff/go-build && bailiff setup claude-code --project src/shop"+accepted)
	const row = `{source: $HOME/.local/share/bailiff/go-build, target: /home/.cache/go-build, read_only: false}`
	w.must(t, `sed -i "s#\(mounts: {bubblewrap: \[\)#\1`+row+`, #" .config/bailiff/policies/data.yaml && grep -q '`+
		`target: /home/.cache/go-build' .config/bailiff/policies/data.yaml && `+
		`sed -i "s#\(mounts_allowed: \[\)#\1$HOME/.local/share/bailiff/go-build, #" .config/bailiff/bailiff.yaml && `+
		`grep -q 'bailiff/go-build' .config/bailiff/bailiff.yaml`)
	w.serves(t)
	_, rewritten := w.asks(t, w.project, "echo built > ~/.cache/go-build/x")
	w.must(t, rewritten+" && grep -q built .local/share/bailiff/go-build/x")
	said := w.must(t, "bailiff setup claude-code --project src/other --go-build-cache")
	if !strings.Contains(said, ".local/share/bailiff/go-build is not shown any more: remove it, if you like.") {
		t.Errorf("the next setup says %s", said)
	}
	if left := w.must(t, "cat .config/bailiff/bailiff.yaml .config/bailiff/policies/data.yaml"); strings.Contains(left, "go-build, ") {
		t.Error("it is shown still")
	}
	_, rewritten = w.asks(t, w.project, "ls -A ~/.cache/go-build; echo mine > ~/.cache/go-build/y")
	if printed := w.must(t, rewritten+" && test ! -e .local/share/bailiff/go-build/y"); printed != "" {
		t.Errorf("the project's own build cache begins with %q", printed)
	}
}

func TestNothingIsWrittenWhereAProjectIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "mkdir -p src/own/.config && ln -s / src/root && ln -s .. src/home && mkdir src/shut && chmod 555 src/shut && : >src/file &&"+
		" mkdir 'src/$x'")
	for line, want := range map[string]string{
		"--project /":        "the whole machine",
		"--project src/root": "the whole machine",
		"--project .":        "is a home folder",
		"--project src/home": "is a home folder",
		"--project ..":       "holds the home folder",
		"--project src/none": "there is no folder",
		"--project src/file": "is no folder",
		"--project src/shut": "cannot be written",
		`--project 'src/$x'`: "rename the folder",
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

func TestSettingsThatCannotBeReadOrWrittenStayAsTheyAreAndSoDoesAllElse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, agent, want string }{
		"no agent": {"true", "", "name one agent"},
		"a broken bailiff.yaml": {"mkdir -p .config/bailiff && echo 'agent: {listners: []}' >.config/bailiff/bailiff.yaml",
			"claude-code",
			"bailiff.yaml:1: agent.listners: unknown key"},
		"comments":               {`printf '{\n  // mine\n}\n' >.claude/settings.json`, "claude-code", "settings.json: line 2 is no JSON"},
		"unclosed":               {`printf '{\n"a": {\n}\n' >.claude/settings.json`, "claude-code", "settings.json: line 4 is no JSON"},
		"of the user's own type": {`echo '{"hooks": 5}' >.claude/settings.json`, "claude-code", "hooks: it is no JSON object"},
		"read-only": {"echo {} >.claude/settings.json && chmod 444 .claude/settings.json && echo module x >src/shop/go.mod", "claude-code",
			"settings.json cannot be written by uid"},
		"in a read-only folder": {"chmod 555 .claude", "claude-code", ".claude cannot be written by uid"},
		"a folder":              {"mkdir .claude/settings.json", "claude-code", "settings.json: is a directory"},
		"a second file": {"mkdir -p .config/opencode && echo {} >.config/opencode/opencode.jsonc", "opencode",
			"opencode.jsonc after opencode.json"},
		"another sandbox of Codex'": {`mkdir .codex && echo 'sandbox_mode = "read-only"' >.codex/config.toml`, "codex",
			"line 1 says sandbox_mode"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t)
			w.must(t, "mkdir .claude && "+c.before)
			const all = "find . | sort; find . -type f | sort | xargs -r sha256sum"
			before := w.must(t, all)
			printed, err := w.says(t, "bailiff setup "+c.agent+" --project src/shop"+accepted)
			if err == nil || !strings.Contains(printed, c.want) {
				t.Errorf("it says %s, %v, want %s", printed, err, c.want)
			}
			if after := w.must(t, all); after != before {
				t.Errorf("files were\n%s and are\n%s", before, after)
			}
			w.must(t, "chmod 755 .claude")
		})
	}
}

func TestOfAFolderThatWasMovedASetupSaysHowItIsTakenAway(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	w.must(t, "bailiff setup claude-code --project src/shop"+accepted)
	w.must(t, "mv src/shop src/moved")
	line := "bailiff setup claude-code --project " + w.project
	if printed, err := w.says(t, line); err == nil || !strings.Contains(printed, "is no folder "+w.project+" any more") ||
		!strings.Contains(printed, line+" --remove") {
		t.Errorf("it says %s, %v", printed, err)
	}
	w.must(t, line+" --remove && bailiff setup claude-code --project src/moved"+accepted) // which went with the last project
	w.must(t, "sed -i 's/paths: .policies./paths: [other]/' .config/bailiff/bailiff.yaml")
	printed, err := w.says(t, "bailiff setup claude-code --project src/moved --remove")
	if err == nil || !strings.Contains(printed, "bailiff.yaml has the row platforms.cli: edit platforms.cli.mounts there yourself") {
		t.Errorf("without the policies it says %s, %v", printed, err)
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

// newWorkerAtTerminal is one whose commands "script" gives a terminal.
func newWorkerAtTerminal(t *testing.T) worker {
	t.Helper()
	_, err := exec.LookPath("script")
	backendtest.Needs(t, "SCRIPT (of util-linux)", err)
	return newWorker(t)
}

func TestWhatWeakensBailiffIsWrittenAfterAYesAtTheTerminal(t *testing.T) {
	t.Parallel()
	w := newWorkerAtTerminal(t)
	const at = ` | script -qec "bailiff setup claude-code --project src/shop" /dev/null`
	for _, answer := range []string{"", `\n`, `n\n`, `y\n`, `1 4\n`, `12\n`, `2\n`, `3\n`, `all 1\n`} {
		printed, err := w.says(t, "printf '"+answer+"'"+at)
		if err == nil || !strings.Contains(printed, `Numbers as "1 2", "all"`) || w.Shell(t, "test -e .config").Run() == nil {
			t.Errorf("after %q it says %s, %v", answer, printed, err)
		}
	}
	w.must(t, `printf '1, 7\n1\n'`+at)
	if text := w.must(t, "cat .config/bailiff/bailiff.yaml"); strings.Contains(text, "allow_same_user") ||
		!strings.Contains(text, "accept_missing_limits: [cpus, memory_mb, pids]") {
		t.Errorf("after one number it is %s", text)
	}
	w.must(t, `printf '1\n'`+at)
	if text := w.must(t, "cat .config/bailiff/bailiff.yaml"); !strings.Contains(text, "allow_same_user: true") ||
		!strings.Contains(text, `console: "localhost:0"`) {
		t.Errorf("after a yes to the next it is %s", text)
	}
	w.startsAtAYes(t, at)
	w.must(t, `mkdir src/other && printf '1 2\n' | script -qec "bailiff setup claude-code --project src/other --config two.yaml" /dev/null`)
	if text := w.must(t, "cat two.yaml"); !strings.Contains(text, "allow_same_user: true") ||
		!strings.Contains(text, "accept_missing_limits: [cpus, memory_mb, pids]") {
		t.Errorf("after a yes to both it is %s", text)
	}
}

// startsAtAYes has a setup to which all else was agreed before start the sidecar, which goes on without the terminal.
func (w worker) startsAtAYes(t *testing.T, at string) {
	t.Helper()
	w.must(t, quickly)
	w.must(t, "echo damaged >.local/state/bailiff/approvals.db")
	if printed, err := w.says(t, `printf 'all\n'`+at); err == nil || !strings.Contains(printed, "serve.log says why") {
		t.Errorf("of a sidecar that cannot start it says %s, %v", printed, err)
	}
	w.must(t, "grep -q approvals.db .local/state/bailiff/serve.log && rm .local/state/bailiff/approvals.db*")
	printed := w.must(t, `printf 'yes\n'`+at)
	process := regexp.MustCompile(`runs until process (\d+) `).FindStringSubmatch(printed)
	if process == nil || !strings.Contains(printed, "Do you agree? [y/N]") || !strings.Contains(printed, "project at agent") {
		t.Fatalf("of the one that is left it says %s", printed)
	}
	w.must(t, "bailiff status && kill "+process[1])
	awaittest.Until(t, "the sidecar that was started ended", func() bool { return w.Shell(t, "kill -0 "+process[1]).Run() != nil })
	w.must(t, "grep -q stopping .local/state/bailiff/serve.log")
}

func TestAnInterruptEndsTheQuestionsOfASetup(t *testing.T) {
	t.Parallel()
	w := newWorkerAtTerminal(t)
	cmd := w.Shell(t, `exec script -qec "bailiff setup claude-code --project src/shop" /dev/null`)
	in, err := cmd.StdinPipe()
	backendtest.Must(t, err)
	out, err := cmd.StdoutPipe()
	backendtest.Must(t, err)
	backendtest.Must(t, cmd.Start())
	var said []byte
	for !bytes.Contains(said, []byte("none: ")) {
		some := make([]byte, 4096)
		n, err := out.Read(some)
		if said = append(said, some[:n]...); err != nil {
			t.Fatalf("it says %s, %v", said, err)
		}
	}
	_, err = in.Write([]byte{3}) // Ctrl+C
	backendtest.Must(t, err)
	rest, err := io.ReadAll(out)
	if ended := cmd.Wait(); err != nil || ended == nil || !strings.Contains(string(rest), "interrupted, so nothing is written") ||
		w.Shell(t, "test -e .config").Run() == nil {
		t.Errorf("an interrupt ends it with %v: %s, %v", ended, rest, err)
	}
}
