package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	claudecode "github.com/bailiff-dev/bailiff/examples/claude-code"
)

func entryOf(t *testing.T) Entry {
	t.Helper()
	return Entry{Listen: "unix:///run/user/7/a.sock", Programs: "/usr/local/bin", Home: t.TempDir(),
		Getenv: func(string) string { return "" }}
}

func TestTheHookIsTheShippedLineWithTheSidecarsAddress(t *testing.T) {
	e := entryOf(t)
	want := strings.Replace(e.hook("claude-code"), " --listen "+e.Listen, "", 1)
	if !strings.Contains(claudecode.ManagedSettings, `"`+want+`"`) {
		t.Errorf("%q does not stand in the shipped settings", want)
	}
	for line, want := range map[string]bool{
		e.hook("claude-code"): true, "/opt/b/bailiff-hook claude-code": true, "'/opt/a b/bailiff-hook' claude-code --headless": true,
		"bailiff-hook codex": false, "echo bailiff-hook": false, "not-bailiff-hook claude-code": false,
	} {
		if isHook(line, "claude-code") != want {
			t.Errorf("that %q is the hook is %v", line, !want)
		}
	}
}

// Of the settings of a user everything stays that is not bailiff's.
func TestOtherSettingsOfClaudeCodeStayAsTheyAre(t *testing.T) {
	e := entryOf(t)
	path := filepath.Join(e.Home, ".claude", "settings.json")
	const others = `{"n": 12345678901234567890, "hooks": {"PreToolUse": [{"matcher": "Bash", "x": 1, ` +
		`"hooks": [{"command": "a <b> & c"}]}]}}`
	backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	backendtest.Must(t, os.WriteFile(path, []byte(others), 0o600))
	apply := func(edit func(Entry) ([]Change, error)) string {
		t.Helper()
		changes, err := edit(e)
		backendtest.Must(t, err)
		backendtest.Must(t, Write(changes))
		text, err := os.ReadFile(path)
		backendtest.Must(t, err)
		return string(text)
	}
	with := apply(claude{}.add)
	for _, kept := range []string{"12345678901234567890", `"a <b> & c"`, `"x": 1`, e.hook("claude-code")} {
		if !strings.Contains(with, kept) {
			t.Errorf("%s is not in %s", kept, with)
		}
	}
	if again := apply(claude{}.add); again != with {
		t.Errorf("the second time it is %s", again)
	}
	e.Listen = "unix:///run/user/8/a.sock"
	if moved := apply(claude{}.add); strings.Contains(moved, "/user/7/") || strings.Count(moved, "bailiff-hook claude-code") != 1 {
		t.Errorf("with another address it is %s", moved)
	}
	bare := strings.NewReplacer(" ", "", "\n", "")
	if left := apply(claude{}.remove); bare.Replace(left) != bare.Replace(others) {
		t.Errorf("after the removal it is %s", left)
	}
	for _, broken := range []string{"[]", "{", `{"hooks": []}`, `{"hooks": {"PreToolUse": {}}}`, "{} {}"} {
		backendtest.Must(t, os.WriteFile(path, []byte(broken), 0o600))
		if _, err := (claude{}).add(e); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", broken, err)
		}
	}
}

func TestSystemdFindsNoFaultWithTheUsersUnit(t *testing.T) {
	analyzer, err := exec.LookPath("systemd-analyze")
	backendtest.Needs(t, "SYSTEMD-ANALYZE (run scripts/install-deps)", err)
	folder := filepath.Join(t.TempDir(), "100% own")
	backendtest.Must(t, os.MkdirAll(folder, 0o755))
	backendtest.Must(t, os.WriteFile(filepath.Join(folder, "bailiff"), []byte("#!/bin/sh\n"), 0o755))
	s := &Survey{File: filepath.Join(folder, "a \"b\" $x.yaml"), in: Config{Programs: folder}}
	path := filepath.Join(t.TempDir(), unitName)
	backendtest.Must(t, os.WriteFile(path, []byte(s.unit()), 0o600))
	if said, err := exec.Command(analyzer, "verify", "--man=no", "--recursive-errors=no", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, said, s.unit())
	}
}
