package settings

import (
	"strings"
	"testing"

	claudecode "github.com/bailiff-dev/bailiff/examples/claude-code"
	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
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

func TestEachHookOfRootsFilesAsksAtTheSidecarsAddress(t *testing.T) {
	file := File{"/etc/a/b", "x /usr/local/bin/bailiff-hook codex || exit 2\ny bailiff-hook codex || z\nbailiff-hook hermes q\n"}
	for listen, want := range map[string]int{"unix:///run/user/7/a.sock": 2, "unix://" + defaultpath.Socket(defaultpath.AgentSocket): 0} {
		lines := Entry{Listen: listen, Programs: "/opt/a b"}.InstallLines("codex", file)
		n := strings.Count(lines[2], "bailiff-hook codex --listen "+listen+" ||")
		if n != want || strings.Count(lines[2], "--listen") != want {
			t.Errorf("at %s %d hooks ask, want %d, in %q", listen, n, want, lines)
		}
	}
}
