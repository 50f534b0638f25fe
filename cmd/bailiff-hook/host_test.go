package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// What a person would have to approve, and what the policies want elsewhere, does
// not happen on this machine.
func TestOnThisMachineNothingHappensThatIsNotPlainlyAllowedThere(t *testing.T) {
	for says, d := range map[string]bailiff.Decision{"the policies deny it": denying, "a person would have to approve it": asking("local"),
		"the policies want it in docker": allowing("docker")} {
		for _, c := range [][]string{
			{"claude-code", "Read", `{"file_path": "/no/x"}`}, {"claude-code", "Bash", `{"command": "x"}`, "--on-host"},
			{"claude-code", "Bash", `{"command": "x"}`, "--on-host", "--headless"},
			{"codex", "apply_patch", `{"command": "*** Add File: x"}`}, {"codex", "Bash", `{"command": "x"}`, "--on-host"},
			{"hermes", "write_file", `{"path": "/no/x"}`}, {"hermes", "terminal", `{"command": "x", "workdir": "/w"}`, "--on-host"},
		} {
			got := openListener(t, d).ask(c[0], c[1], c[2], c[3:]...)
			refuses(t, strings.Join(c, " "), got, says)
			refuses(t, strings.Join(c, " "), got, "sandbox")
		}
	}
}

func TestOfWhatClaudeCodeKeptAModelIsToldAnotherWay(t *testing.T) {
	for file, says := range map[string]string{"/no/.claude/projects/p/s1/tool-results/a.txt": "write to a file of the sandbox",
		"/no/claude-0/p/s1/tasks/b.output": "write to a file of the sandbox", "/no/tasks/b.txt": "the shell tool runs in the sandbox"} {
		d := openListener(t, bailiff.Denial("backend.not_configured", "The requested backend is not configured."))
		got := d.ask("claude-code", "Read", `{"file_path": "`+file+`"}`)
		refuses(t, file, got, "Read acts on this machine, where the policies let nothing of this session run")
		refuses(t, file, got, says)
	}
}

func TestACommandOfThisMachineIsJudgedInItsFolder(t *testing.T) {
	d := openListener(t, denying)
	for _, c := range [][]string{{"claude-code", "Bash", `{"command": "x"}`, "/home/ana/p"},
		{"codex", "Bash", `{"command": "x"}`, "/home/ana/p"}, {"codex", "Bash", `{"command": "x", "workdir": "q"}`, "/home/ana/p/q"},
		{"codex", "Bash", `{"command": "x", "workdir": "/w"}`, "/w"},
		{"hermes", "terminal", `{"command": "x", "workdir": "/w"}`, "/w"}} {
		d.ask(c[0], c[1], c[2], "--on-host")
		if got := d.asked.Args.Workdir; got != c[3] || d.asked.Backend != local {
			t.Errorf("%s is judged in %q on %q, want in %q on this machine", c[0], got, d.asked.Backend, c[3])
		}
	}
	refuses(t, "a folder that is not known", openListener(t, allowing("local")).ask("hermes", "terminal", `{"command": "x"}`, "--on-host"),
		"in which folder")
}

func TestLinksAreJudgedByWhereTheyLead(t *testing.T) {
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(folder, name) }
	for name, target := range map[string]string{"link": "/etc/passwd", "up": "/etc", "dangling": "gone/x", "further": "dangling",
		"loop": "loop"} {
		if err := os.Symlink(target, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		in("plain"):      "cat -- " + in("plain"),
		in("link"):       "cat -- " + in("link") + " /etc/passwd",
		in("up/passwd"):  "cat -- " + in("up/passwd") + " /etc/passwd",
		in("up/new"):     "cat -- " + in("up/new") + " /etc/new",
		in("dangling"):   "cat -- " + in("dangling") + " " + in("gone/x"),
		in("further"):    "cat -- " + in("further") + " " + in("gone/x"),
		in("./plain//x"): "cat -- " + in("plain/x"),
	} {
		d := openListener(t, denying)
		d.ask("claude-code", "Read", `{"file_path": "`+path+`"}`)
		if d.asked.Args.Command != want {
			t.Errorf("%s is judged as %q, want %q", path, d.asked.Args.Command, want)
		}
	}
	refuses(t, "a loop", openListener(t, allowing("local")).ask("claude-code", "Read", `{"file_path": "`+in("loop")+`"}`), "looking where")
}
