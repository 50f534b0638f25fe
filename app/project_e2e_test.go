package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/awaittest"
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
	"late.sh":  "read line; python3 mcp.py; echo done\n",
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
	for _, action := range []string{"submit", "wait"} {
		process.Args = bailiff.Args{Action: action, ProcessID: started.ProcessID}
		wants(t, ask(t, s.agent, process), bailiff.Completed, "")
	}
	awaittest.Until(t, "the change to be put back", func() bool {
		_, err := os.Stat(filepath.Join(dir, ".mcp.json.refused"))
		return err == nil
	})
	wantAsItWas(t, dir, ".mcp.json")
	process.Args.Action = "poll"
	wants(t, ask(t, s.agent, process), bailiff.Completed, "Put back")
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
