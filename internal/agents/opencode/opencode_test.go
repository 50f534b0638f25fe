package opencode

import (
	"os"
	"path/filepath"
	"slices"
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

func TestOpencodeGetsBailiffsToolsForItsOwn(t *testing.T) {
	for before, want := range map[string]string{
		"": `{"mcp": MCP, "permission": {DENIED}}`,
		`{"model": "m", "permission": "ask", "mcp": {"a": {"type": "local"}}}`: `{"model": "m", ` +
			`"permission": {"*": "ask", DENIED}, "mcp": {"a": {"type": "local"}, "bailiff": SERVER}}`,
		`{"permission": {"bash": {"git *": "allow"}, "read": "allow"}}`: `{"permission": {"read": "allow", DENIED}, "mcp": MCP}`,
	} {
		e := entryOf(t)
		path := Agent{}.file(e)
		backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		backendtest.Must(t, os.WriteFile(path, []byte(before), 0o600))
		server := `{"type": "local", "command": ["/usr/local/bin/bailiff", "mcp", "--listen", "` + e.Listen + `", "--in-project"]}`
		want = strings.NewReplacer("MCP", `{"bailiff": `+server+`}`, "SERVER", server, "DENIED",
			`"bash": "deny", "edit": "deny", "webfetch": "deny", "external_directory": "deny"`).Replace(want)
		for range 2 {
			changes, err := Agent{}.Add(e)
			backendtest.Must(t, err)
			backendtest.Must(t, settings.Write(changes))
		}
		text, err := os.ReadFile(path)
		backendtest.Must(t, err)
		bare := strings.NewReplacer(" ", "", "\n", "")
		if bare.Replace(string(text)) != bare.Replace(want) {
			t.Errorf("%s is %s, want %s", before, text, want)
		}
		started, err := Agent{}.Server(e)
		if err != nil || started.Off != "" || !slices.Equal(started.Command, e.MCPCommand()) {
			t.Errorf("it starts %+v, %v", started, err)
		}
		off := strings.ReplaceAll(string(text), `"type": "local",`, `"enabled": false, "type": "local",`)
		backendtest.Must(t, os.WriteFile(path, []byte(off), 0o600))
		if started, err := (Agent{}).Server(e); err != nil || started.Off != "mcp.bailiff is not enabled" {
			t.Errorf("switched off it starts %+v, %v", started, err)
		}
		backendtest.Must(t, os.WriteFile(path, text, 0o600))
		if again, err := (Agent{}).Add(e); err != nil || !again[0].IsNone() {
			t.Errorf("it lacks %v, %v", again, err)
		}
		changes, err := Agent{}.Remove(e)
		backendtest.Must(t, err)
		if left := changes[0].After; strings.Contains(left, "bailiff") || !strings.Contains(left, `"bash": "deny"`) {
			t.Errorf("after the removal it is %s", left)
		}
		e.Listen = "unix:///b"
		if again, err := (Agent{}).Add(e); err != nil || again[0].IsNone() {
			t.Errorf("of another sidecar it lacks %v, %v", again, err)
		}
	}
}
