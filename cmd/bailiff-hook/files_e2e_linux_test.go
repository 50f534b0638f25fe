package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// serveProject starts a sidecar that shows a repository at its own path in a sandbox that may
// write it, and has no backend local.
func serveProject(t *testing.T) (s *apptest.Sidecar, dir string) {
	t.Helper()
	dir = apptest.OpenDir(t)
	cmd := exec.Command("sh", "-ec", "git init -q . && mkdir -p sub .claude && echo a >.envrc && chmod -R a+rwX .")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("making a project: %v\n%s", err, out)
	}
	const mine = "cli: {isolation: optional, "
	rules := apptest.WithRules(t, houseRules, mine,
		mine+"mounts: {bubblewrap: [{source: "+dir+", target: "+dir+", read_only: false}]}, ")
	return apptest.Serve(t, rules, "backends: {bubblewrap: {mounts_allowed: ["+dir+"]}}"), dir
}

func TestInAProjectAFileToolMayDoWhatACommandInItsSandboxMay(t *testing.T) {
	s, dir := serveProject(t)
	outside := apptest.OpenDir(t)
	for link, target := range map[string]string{"out": outside, "out.txt": filepath.Join(outside, "x"), "passwd": "/etc/passwd",
		"inner": "sub", "hook": ".git/hooks/pre-commit", "claude": ".claude", ".cursor": "cur"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, second := range map[string]string{".envrc": "sub/env", ".git/config": "sub/gc"} {
		if err := os.Link(in(name), in(second)); err != nil {
			t.Fatal(err)
		}
	}
	patch := func(lines string) string {
		return hook.JSON(map[string]string{"command": "*** Begin Patch\n" + lines + "\n*** End Patch"})
	}
	for _, c := range []struct{ client, tool, input, says string }{
		{"claude-code", "Read", `{"file_path": "` + in("main.go") + `"}`, ""},
		{"claude-code", "Read", `{"file_path": "` + in(".envrc") + `"}`, ""},
		{"claude-code", "Write", `{"file_path": "` + in("a b'c$(touch x).go") + `"}`, ""},
		{"claude-code", "Write", `{"file_path": "` + in("inner/new.go") + `"}`, ""},
		{"claude-code", "Edit", `{"file_path": "` + in("sub/main.go") + `"}`, ""},
		{"claude-code", "MultiEdit", `{"file_path": "` + in("sub/main.go") + `"}`, ""},
		{"claude-code", "NotebookEdit", `{"notebook_path": "` + in("n.ipynb") + `"}`, ""},
		{"claude-code", "Glob", `{"pattern": "**/*.go", "path": "` + dir + `"}`, ""},
		{"claude-code", "Grep", `{"pattern": "func", "path": "` + dir + `"}`, ""},
		{"claude-code", "LS", `{"path": "` + in("sub") + `"}`, ""},
		{"codex", "apply_patch", patch("*** Add File: " + in("new.go") + "\n+package x"), ""},
		{"codex", "apply_patch", patch("*** Update File: " + in("new.go") + "\n*** Move to: " + in("sub/new.go")), ""},
		{"codex", "apply_patch", patch("*** Delete File: " + in("new.go")), ""},
		{"codex", "view_image", `{"path": "` + in("x.png") + `"}`, ""},
		{"hermes", "write_file", `{"path": "` + in("x") + `"}`, ""},

		{"claude-code", "Write", `{"file_path": "` + in(".git/hooks/pre-commit") + `"}`, "command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in(".claude/settings.json") + `"}`, "command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in(".CLAUDE/settings.json") + `"}`, "protected in " + dir},
		{"claude-code", "Write", `{"file_path": "` + in(".mcp.json") + `"}`, "command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in("hook") + `"}`, "command.writes_startup"},
		{"claude-code", "Edit", `{"file_path": "` + in("claude/settings.json") + `"}`, "command.writes_startup"},
		{"claude-code", "Edit", `{"file_path": "` + in(".envrc") + `"}`, "command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in("sub/.npmrc") + `"}`, "command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in("cur/mcp.json") + `"}`, "protected in " + dir},
		{"claude-code", "Write", `{"file_path": "` + in("package.json") + `"}`, ""},
		{"codex", "apply_patch", patch("*** Delete File: " + in(".git/config")), "command.writes_startup"},
		{"codex", "apply_patch", patch("*** Add File: " + in("ok") + "\n+x\n*** Add File: " + in(".git/hooks/post-merge") + "\n+x"),
			"command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in("sub/env") + `"}`, "has a second name"},
		{"claude-code", "Edit", `{"file_path": "` + in("sub/gc") + `"}`, "has a second name"},
		{"claude-code", "NotebookEdit", `{"notebook_path": "` + in("sub/env") + `"}`, "has a second name"},
		{"claude-code", "Read", `{"file_path": "` + in("sub/env") + `"}`, ""},
		{"codex", "apply_patch", patch("*** Update File: " + in("sub/gc") + "\n@@\n+x"), "has a second name"},
		{"claude-code", "Write", `{"file_path": "` + in("sub/emb/.git/config") + `"}`, "command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in("sub/emb/.git/commondir") + `"}`, "command.writes_startup"},
		{"claude-code", "Write", `{"file_path": "` + in("sub/emb/HEAD") + `"}`, "protected in " + dir},
		{"claude-code", "Write", `{"file_path": "` + in("never-done") + `"}`, "house.denies"},
		{"claude-code", "Write", `{"file_path": "` + in("asked-about") + `"}`, "a person would have to approve it"},

		{"claude-code", "Read", `{"file_path": "` + in("passwd") + `"}`, "backend.not_configured"},
		{"claude-code", "Write", `{"file_path": "` + in("out.txt") + `"}`, "backend.not_configured"},
		{"claude-code", "Write", `{"file_path": "` + in("out/x") + `"}`, "backend.not_configured"},
		{"claude-code", "Grep", `{"pattern": "x", "path": "` + in("out") + `"}`, "backend.not_configured"},
		{"claude-code", "Read", `{"file_path": "` + outside + `/x"}`, "backend.not_configured"},
		{"claude-code", "Read", `{"file_path": "` + dir + `x/main.go"}`, "backend.not_configured"},
		{"claude-code", "Grep", `{"pattern": "x", "path": "/"}`, "backend.not_configured"},
		{"codex", "apply_patch", patch("*** Add File: " + in("ok") + "\n+x\n*** Add File: " + outside + "/x\n+x"),
			"backend.not_configured"},
		{"codex", "apply_patch", patch("*** Update File: " + in("ok") + "\n*** Move to: " + in("out/x")), "backend.not_configured"},
	} {
		got := hookProgram(t, question(c.client, c.tool, c.input), c.client, "--listen", s.Agent, "--timeout", "45s")
		if c.says != "" {
			refuses(t, c.tool+c.input, got, c.says)
		} else if got.status != 0 || strings.Contains(got.stdout, "deny") {
			t.Errorf("%s of %s is refused: %+v", c.tool, c.input, got)
		}
	}
}

func TestTheFirstCommandOfASessionIsJudgedInItsProject(t *testing.T) {
	const shown, mine = "/srv/project", "cli: {isolation: optional, " // in /tmp nothing counts as built
	dir := apptest.OpenDir(t)
	rules := apptest.WithRules(t, "", mine, mine+"mounts: {bubblewrap: [{source: "+dir+", target: "+shown+", read_only: false}]}, ")
	s := apptest.Serve(t, rules, "backends: {bubblewrap: {mounts_allowed: ["+dir+"]}}")
	const removes = `{"command": "rm -rf build"}`
	ask := func(folder string) told {
		return hookProgram(t, strings.Replace(question("claude-code", "Bash", removes), "/home/ana/p", folder, 1),
			"claude-code", "--listen", s.Agent, "--timeout", "45s")
	}
	got := ask(dir)
	if got.status != 0 || !strings.Contains(got.stdout, `"permissionDecision":"allow"`) ||
		!strings.Contains(got.stdout, "--workdir "+shown) {
		t.Errorf("in the project it says %+v", got)
	}
	if got := ask("/nowhere"); got.status != 0 || !strings.Contains(got.stdout, "--workdir "+workspace) {
		t.Errorf("in a folder that no sandbox shows, of the same session, it says %+v", got)
	}
}

// afterwards is the question of a client once the tool has run.
func afterwards(client, tool, input string) string {
	return strings.Replace(question(client, tool, input), "PreToolUse", "PostToolUse", 1)
}

func TestALinkThatAppearsWhileAFileToolRunsIsTold(t *testing.T) {
	s, dir := serveProject(t)
	ask := func(question func(client, tool, input string) string, client, tool, input string) told {
		return hookProgram(t, question(client, tool, input), client, "--listen", s.Agent, "--timeout", "45s")
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) string { return hook.JSON(map[string]string{"file_path": in(name)}) }
	patch := func(name string) string {
		return hook.JSON(map[string]string{"command": "*** Begin Patch\n*** Add File: " + in(name) + "\n+x\n*** End Patch"})
	}
	for name, target := range map[string]string{"out": filepath.Join(t.TempDir(), "x"), "hook": ".git/hooks/pre-commit",
		"inner": "sub/x", "plain": ""} {
		for client, tool := range map[string]string{"claude-code": write(name), "codex": patch(name)} {
			asked := map[string]string{"claude-code": "Write", "codex": "apply_patch"}[client]
			if got := ask(question, client, asked, tool); got.status != 0 {
				t.Errorf("%s may not write %s: %+v", client, name, got)
			}
			if target != "" {
				if err := os.Symlink(target, in(name)); err != nil {
					t.Fatal(err)
				}
			}
			got, isTold := ask(afterwards, client, asked, tool), name == "out" || name == "hook"
			says := got.status == hook.Refused && strings.Contains(got.stderr, "a person should look")
			if isTold != says || !isTold && got != (told{}) {
				t.Errorf("after %s wrote %s it is told %+v", client, name, got)
			}
			if err := os.Remove(in(name)); err != nil && target != "" {
				t.Fatal(err)
			}
		}
	}
	for client := range map[string]bool{"claude-code": true, "codex": true} {
		if got := ask(afterwards, client, "Zap", `{}`); got != (told{}) {
			t.Errorf("after an unknown tool %s is told %+v", client, got)
		}
	}
}

func TestRealAgentsAreToldOfALinkThatAppearsWhileTheyWrite(t *testing.T) {
	s, dir := serveProject(t)
	for name, a := range soon() {
		t.Run(name, func(t *testing.T) {
			programs, folder := t.TempDir(), filepath.Join(dir, strings.Fields(name)[0])
			racing := "#!/bin/sh\nasked=$(cat)\nprintf %s \"$asked\" | " + filepath.Join(apptest.Programs(t), "bailiff-hook") +
				" \"$@\"\nended=$?\ncase $asked in *PreToolUse*) ln -s " + t.TempDir() + " " + folder + ";; esac\nexit $ended\n"
			if err := os.WriteFile(filepath.Join(programs, "bailiff-hook"), []byte(racing), 0o755); err != nil {
				t.Fatal(err)
			}
			machine := a.machine(t, s.Agent, programs)
			machine.Project = dir
			wantSaid(t, strings.Join(a.works(t, machine, a.write(filepath.Join(folder, "new"))), ""), "a person should look")
		})
	}
}
