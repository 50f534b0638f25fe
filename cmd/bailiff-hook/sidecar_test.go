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
	d := openListener(t, denying)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("hunter2hunter2hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := d.ask("claude-code", "Bash", `{"command": "x"}`, "--token-file", file)
	if d.token != "Bearer hunter2hunter2hunter2" || strings.Contains(got.stdout+got.stderr, "hunter2") {
		t.Errorf("it sends %q and says %s%s", d.token, got.stdout, got.stderr)
	}
	if got := openListener(t, allowing("docker")).ask("claude-code", "Bash", `{"command": "x"}`, "--token-file",
		file); !strings.Contains(got.stdout, "--token-file "+file+" ") {
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
		refuses(t, name, openListener(t, d).ask("claude-code", "Bash", `{"command": "x"}`), "no decision of bailiff")
	}
	for name, change := range map[string]func(*fakeSidecar){"no id": func(d *fakeSidecar) { d.id = "" },
		"a fault of the server": func(d *fakeSidecar) { d.status = http.StatusInternalServerError }} {
		d := openListener(t, whole)
		change(d)
		refuses(t, name, d.ask("claude-code", "Bash", `{"command": "x"}`), "bailiff")
	}
	refuses(t, "a problem", start(strings.NewReader(question("claude-code", "Bash", `{"command": "x"}`)), "claude-code", "--listen",
		strings.Replace(openListener(t, whole).address, "a.sock", "b.sock", 1)), `start one with "bailiff serve"`)
}

func TestTheTraceOfTheClientGoesOnAndNothingElseFromItsVariable(t *testing.T) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for given, want := range map[string]string{parent: parent, "": "", parent + "\r\nAuthorization: Bearer made-up": "",
		strings.Repeat("0", 1000): ""} {
		t.Setenv("TRACEPARENT", given)
		d := openListener(t, denying)
		refuses(t, "with "+given, d.ask("claude-code", "Bash", `{"command": "x"}`), "Closed for today")
		if got := strings.Join(d.parent, ", "); got != want || d.token != "" {
			t.Errorf("of %q it sends %q and %q", given, got, d.token)
		}
	}
}
