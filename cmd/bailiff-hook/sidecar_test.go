package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestTheTokenIsSentAndNeverSaid(t *testing.T) {
	d := openDoor(t, denying)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("hunter2hunter2hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := d.ask("claude-code", "Bash", `{"command": "x"}`, "--token-file", file)
	if d.token != "Bearer hunter2hunter2hunter2" || strings.Contains(got.stdout+got.stderr, "hunter2") {
		t.Errorf("it sends %q and says %s%s", d.token, got.stdout, got.stderr)
	}
	if got := openDoor(t, allowing("docker")).ask("claude-code", "Bash", `{"command": "x"}`, "--token-file", file); !strings.Contains(got.stdout, "--token-file "+file+" ") {
		t.Errorf("the order does not say where the token is: %s", got.stdout)
	}
}

func TestAnAnswerThatIsNoWholeDecisionRefuses(t *testing.T) {
	whole := allowing("docker")
	for name, change := range map[string]func(*bailiff.Decision){
		"no revision":           func(d *bailiff.Decision) { d.Revision = "" },
		"no backend":            func(d *bailiff.Decision) { d.Backend.Name = "" },
		"a denial beside it":    func(d *bailiff.Decision) { d.Denials = denying.Denials },
		"terms without asking":  func(d *bailiff.Decision) { d.Approval = &bailiff.ApprovalTerms{} },
		"asking without terms":  func(d *bailiff.Decision) { d.Outcome = bailiff.Ask },
		"denying without cause": func(d *bailiff.Decision) { d.Outcome = bailiff.Deny },
	} {
		d := whole
		change(&d)
		refuses(t, name, openDoor(t, d).ask("claude-code", "Bash", `{"command": "x"}`), "no decision of bailiff")
	}
	for name, change := range map[string]func(*door){"no id": func(d *door) { d.id = "" }, "a fault of the server": func(d *door) { d.status = http.StatusInternalServerError }} {
		d := openDoor(t, whole)
		change(d)
		refuses(t, name, d.ask("claude-code", "Bash", `{"command": "x"}`), "bailiff")
	}
	refuses(t, "a problem", start(strings.NewReader(question("claude-code", "Bash", `{"command": "x"}`)), "claude-code", "--listen", strings.Replace(openDoor(t, whole).address, "a.sock", "b.sock", 1)), `start one with "bailiff serve"`)
}
