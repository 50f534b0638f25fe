package claudecode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

func entryOf(t *testing.T) settings.Entry {
	t.Helper()
	return settings.Entry{Listen: "unix:///run/user/7/a.sock", Programs: "/usr/local/bin", Home: t.TempDir(),
		Getenv: func(string) string { return "" }}
}

// Of the settings of a user everything stays that is not bailiff's.
func TestOtherSettingsOfClaudeCodeStayAsTheyAre(t *testing.T) {
	e := entryOf(t)
	path := filepath.Join(e.Home, ".claude", "settings.json")
	const others = `{"n": 12345678901234567890, "hooks": {"PreToolUse": [{"matcher": "Bash", "x": 1, ` +
		`"hooks": [{"command": "a <b> & c"}]}]}}`
	backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	backendtest.Must(t, os.WriteFile(path, []byte(others), 0o600))
	apply := func(edit func(settings.Entry) ([]settings.Change, error)) string {
		t.Helper()
		changes, err := edit(e)
		backendtest.Must(t, err)
		backendtest.Must(t, settings.Write(changes))
		text, err := os.ReadFile(path)
		backendtest.Must(t, err)
		return string(text)
	}
	with := apply(New().Add)
	for _, kept := range []string{"12345678901234567890", `"a <b> & c"`, `"x": 1`, e.Hook("claude-code"), e.HookAfter("claude-code"),
		`"PostToolUse"`} {
		if !strings.Contains(with, kept) {
			t.Errorf("%s is not in %s", kept, with)
		}
	}
	if again := apply(New().Add); again != with {
		t.Errorf("the second time it is %s", again)
	}
	e.Listen = "unix:///run/user/8/a.sock"
	if moved := apply(New().Add); strings.Contains(moved, "/user/7/") || strings.Count(moved, "bailiff-hook claude-code") != 2 {
		t.Errorf("with another address it is %s", moved)
	}
	bare := strings.NewReplacer(" ", "", "\n", "")
	if left := apply(New().Remove); bare.Replace(left) != bare.Replace(others) {
		t.Errorf("after the removal it is %s", left)
	}
	for _, broken := range []string{"[]", "{", `{"hooks": []}`, `{"hooks": {"PreToolUse": {}}}`, "{} {}"} {
		backendtest.Must(t, os.WriteFile(path, []byte(broken), 0o600))
		if _, err := New().Add(e); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", broken, err)
		}
	}
}

func TestRootsLinesWriteTheFileThatClaudeCodeReadsAndAskAtTheSidecarsAddress(t *testing.T) {
	e := entryOf(t)
	lines := strings.Join(New().RootLines(e), "\n")
	if strings.Count(lines, "bailiff-hook claude-code --listen "+e.Listen+" ||") != 2 ||
		!strings.Contains(lines, "\ncat > /etc/claude-code/managed-settings.json <<'EOT'\n{") {
		t.Errorf("Claude Code's lines are\n%s", lines)
	}
}
