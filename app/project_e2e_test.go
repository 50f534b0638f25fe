package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// startProject is a sidecar that shows a repository at its own path, and that sandboxes may write.
func startProject(t *testing.T, backend, section string) (s *office, dir string) {
	t.Helper()
	dir = openDir(t)
	cmd := exec.Command("sh", "-ec", `git init -q . && mkdir .claude && echo '{}' > .claude/settings.json && echo a > .envrc`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("making a project: %v\n%s", err, out)
	}
	for name, code := range programs {
		save(t, filepath.Join(dir, name), code)
	}
	if out, err := exec.Command("chmod", "-R", "a+rwX", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if os.Getuid() == 0 { // then commands are another user
		if out, err := exec.Command("chown", "-R", "10000", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	section = strings.Replace(section, backend+": {", backend+": {mounts_allowed: ["+strconv.Quote(dir)+"], ", 1)
	_, policies := shippedWith(t, "      cli: {isolation: optional, ", "      cli: {isolation: optional, mounts: {"+backend+
		": [{source: "+dir+", target: "+dir+", read_only: false}]}, ")
	return startOffice(t, openDir(t), onePerson(t, section, policies)), dir
}

// programs are files of the project whose text no policy sees in a sandbox.
var programs = map[string]string{
	"inside.py": `open(".claude/x", "w")`,
	"mcp.py":    `open(".mcp.json", "w").write("{}")`,
	"envrc.py":  `open(".envrc", "w").write("x")`,
	"husky.py":  `import os; os.makedirs(".husky")`,
	// What it leaves behind ends with it.
	"npmrc.py": `import subprocess; subprocess.Popen(["sh", "-c", "sleep 1; echo x > .npmrc"], start_new_session=True)`,
	"late.sh":  "read line; python3 mcp.py; read line; python3 envrc.py\n",
}

func inProject(dir, command string) bailiff.Request {
	req := atTerminal("s", command)
	req.Backend, req.Args.Workdir = "", dir
	return req
}

func TestACommandLeavesProtectedFilesOfAProjectAsTheyAre(t *testing.T) {
	t.Parallel()
	const putBack = "Put back, since programs start by it later"
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s, dir := startProject(t, backend, section)
			wants(t, ask(t, s.agent, inProject(dir, "echo x > main.go && cat main.go .envrc")), bailiff.Completed, "")
			inside := ask(t, s.agent, inProject(dir, "python3 inside.py"))
			if inside.ExitCode == 0 || !strings.Contains(inside.Output, "Read-only file system") {
				t.Errorf("writing a file in .claude: %d %q", inside.ExitCode, inside.Output)
			}
			for name, program := range map[string]string{".mcp.json": "mcp.py", ".envrc": "envrc.py", ".husky": "husky.py"} {
				wants(t, ask(t, s.agent, inProject(dir, "python3 "+program)), bailiff.Completed, putBack)
				wantAsItWas(t, dir, name)
			}
			wants(t, ask(t, s.agent, inProject(dir, "python3 npmrc.py")), bailiff.Completed, "")
			wants(t, ask(t, s.agent, inProject(dir, "sleep 1.2")), bailiff.Completed, "")
			wantAsItWas(t, dir, ".npmrc")
			script := inProject("", "")
			script.Tool, script.Args = bailiff.ExecuteCode,
				bailiff.Args{Code: "import os, runpy\nos.chdir('" + dir + "')\nrunpy.run_path('mcp.py')"}
			wants(t, ask(t, s.agent, script), bailiff.Completed, putBack)
			wantAsItWas(t, dir, ".mcp.json")
		})
	}
}

// A mount goes with the folder that it lies on, as when git checks another branch out and comes back.
func TestAFolderThatItsUserReplacesStaysReadOnlyInside(t *testing.T) {
	t.Parallel()
	s, dir := startProject(t, "bubblewrap", isolated["bubblewrap"])
	replace := func() {
		t.Helper()
		cmd := exec.Command("sh", "-ec", "cp -a .claude new; rm -rf .claude; mv new .claude")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	wants(t, ask(t, s.agent, inProject(dir, "true")), bailiff.Completed, "")
	replace()
	inside := ask(t, s.agent, inProject(dir, "python3 inside.py"))
	if inside.ExitCode == 0 || !strings.Contains(inside.Output, "Read-only file system") {
		t.Errorf("writing a file in .claude: %d %q", inside.ExitCode, inside.Output)
	}
	started := filepath.Join(dir, "started")
	answers := make(chan api.Answer, 1)
	go func() { answers <- ask(t, s.agent, inProject(dir, "touch started; tail -f /dev/null")) }()
	awaittest.Until(t, "the command runs", func() bool { _, err := os.Lstat(started); return err == nil })
	replace()
	a := awaittest.Value(t, "the end of a command beside which a folder was replaced", answers)
	if a.Status == bailiff.Completed || !strings.Contains(a.Message, "was replaced on the host") {
		t.Errorf("a command beside which the folder was replaced: %+v", a)
	}
}

// hostile are programs of the project that leave something for its user's git, with what the answer
// says of it. What each left is told once, and nothing of it is there at the end.
var hostile = []struct{ name, script, says string }{
	{"in the way", `mkdir .npmrc.refused; touch .npmrc.refused/f; chmod 555 .npmrc.refused; echo script-shell=/tmp/evil > .npmrc`,
		".npmrc.refused-2"},
	{"closed", `echo "$evil" >> .git/config; chmod 000 .git`, ".git had other permissions"},
	{"common folder", `mkdir -p sub/cd; cp -r .git/objects .git/refs sub/cd/; echo "$evil" > sub/cd/config
		printf ../sub/cd > .git/commondir`,
		".git/commondir (the changed one is commondir.refused)"},
	{"embedded", `git init -q emb; cd emb; g commit -q --allow-empty -m x; git config core.fsmonitor 'touch PWNED;:'
		cd ..; git add emb 2>&-`,
		".git/index had got emb"},
	{"worktree", `git worktree add -q wt; mkdir cd; cp -r .git/objects .git/refs cd/; echo "$evil" > cd/config
		echo ../../../cd > .git/worktrees/wt/commondir`, ".git/worktrees/wt/commondir"},
	{"mapped", `python3 -c 'import mmap
f = open(".envrc", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0:1] = b"E"'`, ".envrc (the changed one is .envrc.refused)"},
	{"second name", `ln .git/config sub/gc; ln .envrc sub/env`, ".envrc had got a second name"},
	{"rebase", `mkdir .git/rebase-merge; echo exec touch PWNED > .git/rebase-merge/git-rebase-todo
		git rev-parse HEAD > .git/rebase-merge/onto; echo x > .git/rebase-merge/head-name
		git rev-parse HEAD > .git/rebase-merge/orig-head; touch .git/rebase-merge/interactive`,
		"git-rebase-todo.refused"},
	{"submodule", `mkdir -p .git/modules/vendor/lib; echo "$evil" > .git/modules/vendor/lib/config`, ".git/modules/vendor/lib/config"},
	{"many", `cd .git/modules; mkdir $(seq -f m%.0f 1002); echo "$evil" > m1/config`, "held too many names"},
	{"moved", `python3 -c 'import os; os.rename(".git", "g2")'; echo 'touch PWNED' > g2/post-checkout`,
		".git had been moved to g2, and is back"},
	{"anywhere", `mkdir -p sub/a; echo script-shell=/tmp/evil > sub/a/.npmrc`, "/sub/a/.npmrc (the changed one is .npmrc.refused)"},
	{"settings name it", `mkdir .githooks; echo 'touch PWNED' > .githooks/post-index-change
		chmod +x .githooks/*`, "/.githooks (the changed"},
	{"behind a link", `echo evil > sub/linked`, "/sub/linked (the changed one is linked.refused)"},
	{"bare", `mv .git/HEAD .; cp -r .git/objects .git/refs .; echo "$evil" > config; printf '\tbare = false\n\tworktree = .\n' >> config`,
		"/HEAD (the changed one is HEAD.refused)"},
}

const head = `set -e
evil='[core]
	repositoryformatversion = 0
	fsmonitor = "touch PWNED;:"
'; g() { git -c user.name=a -c user.email=a@b.test "$@"; }
`

func TestNothingThatACommandLeavesRunsByItsUsersGit(t *testing.T) {
	t.Parallel()
	s, dir := startProject(t, "bubblewrap", isolated["bubblewrap"])
	mine := func(script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", head+script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	run := func(name, script string) api.Answer {
		save(t, filepath.Join(dir, "p.sh"), head+script)
		mine("chmod a+r p.sh")
		a := ask(t, s.agent, inProject(dir, "sh p.sh"))
		if a.Status != bailiff.Completed || a.ExitCode != 0 {
			t.Errorf("%s: %s %d %s %s", name, a.Status, a.ExitCode, a.Output, a.Message)
		}
		return a
	}
	mine("mkdir sub; git config core.hooksPath .githooks; ln -s sub/linked .gdbinit; g commit -q --allow-empty -m x; chmod -R a+rwX .")
	if os.Getuid() == 0 {
		mine("chown -R 10000 .")
	}
	before := mine("cat .git/config .envrc")
	for _, c := range hostile {
		if a := run(c.name, c.script); !strings.Contains(a.Message, "Put back") || !strings.Contains(a.Message, c.says) {
			t.Errorf("%s: the answer says %q, want %q in it", c.name, a.Message, c.says)
		}
		if c.name == "bare" {
			mine("echo ref: refs/heads/master > .git/HEAD; chmod a+rw .git/HEAD")
		}
		mine(`for folder in . emb wt; do (cd $folder && git status) >/dev/null 2>&1 || true; done
			git rebase --continue >/dev/null 2>&1 || true; rm -rf .git/rebase-merge; git status > /dev/null`)
		if left := mine("find . -name PWNED"); left != "" {
			t.Fatalf("%s: the user's git ran what was left: %s", c.name, left)
		}
		if after := mine("cat .git/config .envrc"); after != before {
			t.Errorf("%s: it holds\n%s", c.name, after)
		}
	}
	a := run("everyday work", `git init -q new; cd new; git config user.name a; echo x > f; git add f; g commit -q -m x; cd ..
		git clone -q new clone; git checkout -q -b b; g commit -q --allow-empty -m y; g rebase -q -x 'touch ran' HEAD~1
		test -e ran; git stash -q`)
	if a.Message != "" {
		t.Errorf("of everyday work the answer says %q", a.Message)
	}
}

// wantAsItWas checks that a protected place is as it was made.
func wantAsItWas(t *testing.T, dir, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if name == ".envrc" && string(text) != "a\n" || name != ".envrc" && !os.IsNotExist(err) {
		t.Errorf("%s is left: %q, %v", name, text, err)
	}
}

func TestABackgroundProcessLeavesProtectedFilesOfAProjectAsTheyAre(t *testing.T) {
	t.Parallel()
	s, dir := startProject(t, "bubblewrap", isolated["bubblewrap"])
	command := inProject(dir, "sh late.sh")
	command.Args.Background = true
	started := ask(t, s.agent, command)
	wants(t, started, bailiff.Completed, "Started in the background")
	process := atTerminal("s", "")
	process.Tool, process.Backend = bailiff.Process, ""
	act := func(action, says string) api.Answer {
		process.Args = bailiff.Args{Action: action, ProcessID: started.ProcessID}
		a := ask(t, s.agent, process)
		wants(t, a, bailiff.Completed, says)
		return a
	}
	act("submit", "")
	awaittest.Until(t, "the change to be put back while the process goes on", func() bool {
		_, err := os.Stat(filepath.Join(dir, ".mcp.json.refused"))
		return err == nil
	})
	// It is told once all of it is put back, of which the changed one aside is the first.
	tells := func(name string) (a api.Answer) {
		awaittest.Until(t, "what is put back to be told", func() bool {
			a = act("poll", "")
			return strings.Contains(a.Message, "/"+name+" (the changed one is")
		})
		return a
	}
	if a := tells(".mcp.json"); len(a.Processes) != 1 || !a.Processes[0].EndedAt.IsZero() {
		t.Errorf("meanwhile the process is %+v", a.Processes)
	}
	wantAsItWas(t, dir, ".mcp.json")
	act("submit", "")
	act("wait", "")
	awaittest.Until(t, "the change to be put back at its end", func() bool {
		_, err := os.Stat(filepath.Join(dir, ".envrc.refused"))
		return err == nil
	})
	tells(".envrc")
	wantAsItWas(t, dir, ".envrc")
}

func TestAChangeOfAProtectedFileThatAPersonApprovedStays(t *testing.T) {
	t.Parallel()
	s, dir := startProject(t, "bubblewrap", isolated["bubblewrap"])
	for _, c := range []struct{ command, path, holds string }{
		{"echo b > .envrc", ".envrc", "b\n"},
		{"git remote add origin https://git.test/a", ".git/config", "git.test"},
		{"echo x > .claude/x", ".claude/x", "x\n"},
	} {
		e := send(t.Context(), s.agent, inProject(dir, c.command))
		mustApprove(t, s.operator, e.question(t), "")
		if a := e.end(t); a.ExitCode != 0 || strings.Contains(a.Message, "Put back") {
			t.Errorf("%s: %d %q %s", c.command, a.ExitCode, a.Output, a.Message)
		}
		if text, err := os.ReadFile(filepath.Join(dir, c.path)); err != nil || !strings.Contains(string(text), c.holds) {
			t.Errorf("%s: the file holds %q, %v", c.command, text, err)
		}
	}
}

// What writes until it is killed has the last word over a look that does not wait for its end.
func TestAProcessThatWritesUntilItsSessionEndsLeavesProtectedFilesAsTheyAre(t *testing.T) {
	t.Parallel()
	for backend, section := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s, dir := startProject(t, backend, section)
			writes := inProject(dir, "sh busy.sh")
			save(t, filepath.Join(dir, "busy.sh"), "touch begun; while :; do echo x > .npmrc; done")
			must(t, os.Chmod(filepath.Join(dir, "busy.sh"), 0o644)) //nolint:gosec // for the user of the sandbox
			writes.Args.Background = true
			wants(t, ask(t, s.agent, writes), bailiff.Completed, "")
			is := func(name string) bool { _, err := os.Lstat(filepath.Join(dir, name)); return err == nil }
			awaittest.Until(t, "the process writes", func() bool { return is("begun") && is(".npmrc") })
			_, err := s.agent.EndSession(t.Context(), writes.Session.ID)
			must(t, err)
			awaittest.Until(t, "the file to be put back", func() bool { return is(".npmrc.refused") && !is(".npmrc") })
		})
	}
}
