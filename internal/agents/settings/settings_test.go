package settings

import (
	"strings"
	"testing"

	claudecode "github.com/bailiff-dev/bailiff/examples/claude-code"
)

func TestTheHookIsTheShippedLineWithTheSidecarsAddress(t *testing.T) {
	e := Entry{Listen: "unix:///run/user/7/a.sock", Programs: "/usr/local/bin"}
	want := strings.Replace(e.Hook("claude-code"), " --listen "+e.Listen, "", 1)
	if !strings.Contains(claudecode.ManagedSettings, `"`+want+`"`) {
		t.Errorf("%q does not stand in the shipped settings", want)
	}
	for line, want := range map[string]bool{
		e.Hook("claude-code"): true, "/opt/b/bailiff-hook claude-code": true, "'/opt/a b/bailiff-hook' claude-code --headless": true,
		"bailiff-hook codex": false, "echo bailiff-hook": false, "not-bailiff-hook claude-code": false,
	} {
		if IsHook(line, "claude-code") != want {
			t.Errorf("that %q is the hook is %v", line, !want)
		}
	}
}
