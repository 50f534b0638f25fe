package setup

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	claudecode "github.com/bailiff-dev/bailiff/examples/claude-code"
	"github.com/bailiff-dev/bailiff/internal/config"
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
	with := apply(newClaude().add)
	for _, kept := range []string{"12345678901234567890", `"a <b> & c"`, `"x": 1`, e.hook("claude-code"), e.hookAfter("claude-code"),
		`"PostToolUse"`} {
		if !strings.Contains(with, kept) {
			t.Errorf("%s is not in %s", kept, with)
		}
	}
	if again := apply(newClaude().add); again != with {
		t.Errorf("the second time it is %s", again)
	}
	e.Listen = "unix:///run/user/8/a.sock"
	if moved := apply(newClaude().add); strings.Contains(moved, "/user/7/") || strings.Count(moved, "bailiff-hook claude-code") != 2 {
		t.Errorf("with another address it is %s", moved)
	}
	bare := strings.NewReplacer(" ", "", "\n", "")
	if left := apply(newClaude().remove); bare.Replace(left) != bare.Replace(others) {
		t.Errorf("after the removal it is %s", left)
	}
	for _, broken := range []string{"[]", "{", `{"hooks": []}`, `{"hooks": {"PreToolUse": {}}}`, "{} {}"} {
		backendtest.Must(t, os.WriteFile(path, []byte(broken), 0o600))
		if _, err := newClaude().add(e); err == nil || !strings.Contains(err.Error(), path) {
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

func TestTheServiceIsThatOfTheConfigurationWhichItsUnitNames(t *testing.T) {
	home := t.TempDir()
	own := &Survey{File: filepath.Join(home, "b.yaml"), in: Config{Programs: "/usr/bin", Home: home}}
	other := &Survey{File: filepath.Join(home, `100% "of" $b.yaml.old`), in: own.in}
	unit := filepath.Join(home, ".config", "systemd", "user", unitName)
	backendtest.Must(t, os.MkdirAll(filepath.Dir(unit), 0o755))
	unmarked := strings.TrimPrefix(own.unit(), unitMark)
	for text, is := range map[string]bool{own.unit(): true, other.unit(): false, unmarked: false, "": false} {
		backendtest.Must(t, os.WriteFile(unit, []byte(text), 0o600))
		if own.IsService() != is {
			t.Errorf("it is %v that the service of %s has\n%s", !is, own.File, text)
		}
		wants := map[string]string{other.unit(): other.File}[text]
		if got := own.OtherService(); got != wants {
			t.Errorf("the service's other configuration is %q, want %q", got, wants)
		}
		if c, err := own.ServiceChange(); err != nil || (c.After != own.unit()) != (text == other.unit() || text == unmarked) {
			t.Errorf("the unit becomes %s, %v", c.After, err)
		}
	}
}

func TestASidecarIsNeededByAllThatComesToIt(t *testing.T) {
	for want, change := range map[string]func(*config.Config){
		"":                   func(*config.Config) {},
		"the listener chats": func(c *config.Config) { c.Agent.Listeners = append(c.Agent.Listeners, config.Listener{Name: "chats"}) },
		"the chat matrix":    func(c *config.Config) { c.Chat.Matrix = &config.Matrix{} },
		"the chat webhook":   func(c *config.Config) { c.Chat.Webhook = &config.Webhook{} },
		"the sidecars that reach it by store.peer": func(c *config.Config) { c.Store.Peer.Listen = "127.0.0.1:8655" },
	} {
		e := entryOf(t)
		s := &Survey{cfg: &config.Config{}, in: Config{Agent: "codex", Programs: e.Programs, Home: e.Home, Getenv: e.Getenv}}
		s.cfg.Agent.Listeners = []config.Listener{{Name: "agent", Listen: config.Address{Network: "unix", Address: "/run/a.sock"},
			Platforms: []string{"cli"}}}
		change(s.cfg)
		if needs := strings.Join(s.Serves(), ", "); needs != want {
			t.Errorf("it is needed for %q, want %q", needs, want)
		}
	}
}

func TestCodexsSettingsAreAddedWhereTheyAreMissing(t *testing.T) {
	for text, want := range map[string]string{
		"": "sandbox_mode = \"workspace-write\"\n\n[sandbox_workspace_write]\nnetwork_access = true\n\n[features]\nhooks = true\n",
		"# mine\nmodel = \"m\"\n[features] # f\nweb = true\n[sandbox_workspace_write]\nnetwork_access = true # yes\n": "sandbox_mode = " +
			"\"workspace-write\"\n# mine\nmodel = \"m\"\n[features] # f\nhooks = true\nweb = true\n[sandbox_workspace_write]\n" +
			"network_access = true # yes\n",
	} {
		got, err := text, error(nil)
		for range 2 { // the second time nothing changes
			for _, need := range codexNeeds {
				if err == nil {
					got, err = withTOML(got, need.table, need.key, need.value)
				}
			}
		}
		if err != nil || got != want {
			t.Errorf("%q is %q, %v, want %q", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"sandbox_mode = \"read-only\"\n": "line 1 says sandbox_mode",
		"features.hooks = true\n":        "features is there in another form",
	} {
		e := entryOf(t)
		path := codexFile(e, "config.toml")
		backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		backendtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := newCodex().add(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestRootsLinesAreTheShippedFilesAndAreFoundAgain(t *testing.T) {
	e := entryOf(t)
	lines := strings.Join(newCodex().managed(e), "\n")
	hooks := codexManaged(lines)
	if len(hooks) != 1 || !hooks[0].isGuarded() || hooks[0].Limit != 60 || !strings.Contains(hooks[0].Line, "--listen "+e.Listen) {
		t.Errorf("Codex' hook is %+v in\n%s", hooks, lines)
	}
	if lines := strings.Join(newClaude().managed(e), "\n"); !strings.Contains(lines, "bailiff-hook claude-code --listen "+e.Listen+" ||") {
		t.Errorf("Claude Code's lines are\n%s", lines)
	}
}

func TestOpencodeGetsBailiffsToolsForItsOwn(t *testing.T) {
	for before, want := range map[string]string{
		"": `{"mcp": MCP, "permission": {DENIED}}`,
		`{"model": "m", "permission": "ask", "mcp": {"a": {"type": "local"}}}`: `{"model": "m", ` +
			`"permission": {"*": "ask", DENIED}, "mcp": {"a": {"type": "local"}, "bailiff": SERVER}}`,
		`{"permission": {"bash": {"git *": "allow"}, "read": "allow"}}`: `{"permission": {"read": "allow", DENIED}, "mcp": MCP}`,
	} {
		e := entryOf(t)
		path := opencode{}.file(e)
		backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		backendtest.Must(t, os.WriteFile(path, []byte(before), 0o600))
		server := `{"type": "local", "command": ["/usr/local/bin/bailiff", "mcp", "--listen", "` + e.Listen + `", "--in-project"]}`
		want = strings.NewReplacer("MCP", `{"bailiff": `+server+`}`, "SERVER", server, "DENIED",
			`"bash": "deny", "edit": "deny", "webfetch": "deny", "external_directory": "deny"`).Replace(want)
		for range 2 {
			changes, err := opencode{}.add(e)
			backendtest.Must(t, err)
			backendtest.Must(t, Write(changes))
		}
		text, err := os.ReadFile(path)
		backendtest.Must(t, err)
		bare := strings.NewReplacer(" ", "", "\n", "")
		if bare.Replace(string(text)) != bare.Replace(want) {
			t.Errorf("%s is %s, want %s", before, text, want)
		}
		started, has, err := Tools("opencode", e)
		if err != nil || !has || started.Off != "" || !slices.Equal(started.Command, e.mcpCommand()) {
			t.Errorf("it starts %+v, %v", started, err)
		}
		off := strings.ReplaceAll(string(text), `"type": "local",`, `"enabled": false, "type": "local",`)
		backendtest.Must(t, os.WriteFile(path, []byte(off), 0o600))
		if started, _, err := Tools("opencode", e); err != nil || started.Off != "mcp.bailiff is not enabled" {
			t.Errorf("switched off it starts %+v, %v", started, err)
		}
		backendtest.Must(t, os.WriteFile(path, text, 0o600))
		if lacking, err := Lacking("opencode", e); err != nil || len(lacking) > 0 {
			t.Errorf("it lacks %v, %v", lacking, err)
		}
		changes, err := opencode{}.remove(e)
		backendtest.Must(t, err)
		if left := changes[0].After; strings.Contains(left, "bailiff") || !strings.Contains(left, `"bash": "deny"`) {
			t.Errorf("after the removal it is %s", left)
		}
		e.Listen = "unix:///b"
		if lacking, err := Lacking("opencode", e); err != nil || len(lacking) != 1 {
			t.Errorf("of another sidecar it lacks %v, %v", lacking, err)
		}
	}
}
