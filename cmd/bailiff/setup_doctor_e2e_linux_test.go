package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

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
		"output limit at agent": "ok: ", "a hook that fails": "ok: Claude Code runs a tool whose hook dies",
		"limits of bubblewrap": "warning: Sandboxes may go without these: cpus, memory_mb, pids",
	} {
		if !strings.HasPrefix(found[name], want) {
			t.Errorf("%s is %q, want %s", name, found[name], want)
		}
	}
	if said := w.must(t, "bailiff setup claude-code --project src/shop"); !strings.Contains(said, "project at agent") {
		t.Errorf("a setup that changes nothing does not end with the doctor: %s", said)
	}
	for name, want := range map[string]string{
		"author at agent":            "warning: Commits of the agent in " + w.project + " fail",
		"bare repositories at agent": "warning: Your git starts programs by the settings of a bare repository",
		"programs at agent":          "warning: Commands do not find these programs, which " + w.project + " needs: " + program + ".",
	} {
		if !strings.HasPrefix(found[name], want) {
			t.Errorf("%s is %q, want %s", name, found[name], want)
		}
	}
	if status != 2 || len(found) != 16 || !strings.HasPrefix(found["hook as Claude Code calls it"], "warning: ") {
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
