package codex

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

func TestCodexsSettingsAreAddedWhereTheyAreMissing(t *testing.T) {
	for text, want := range map[string]string{
		"": "sandbox_mode = \"workspace-write\"\n\n[sandbox_workspace_write]\nnetwork_access = true\n\n[features]\nhooks = true\n",
		"# mine\nmodel = \"m\"\n[features] # f\nweb = true\n[sandbox_workspace_write]\nnetwork_access = true # yes\n": "sandbox_mode = " +
			"\"workspace-write\"\n# mine\nmodel = \"m\"\n[features] # f\nhooks = true\nweb = true\n[sandbox_workspace_write]\n" +
			"network_access = true # yes\n",
	} {
		got, err := text, error(nil)
		for range 2 { // the second time nothing changes
			for _, need := range needs {
				if err == nil {
					got, err = settings.WithTOML(got, need.table, need.key, need.value)
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
		path := fileOf(e, "config.toml")
		backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		backendtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := New().Add(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestRootsLinesAreTheShippedFilesAndAreFoundAgain(t *testing.T) {
	e := entryOf(t)
	lines := strings.Join(New().RootLines(e), "\n")
	hooks := rootHooks(lines)
	if len(hooks) != 1 || !hooks[0].IsGuarded() || hooks[0].Limit != 60 || !strings.Contains(hooks[0].Line, "--listen "+e.Listen) {
		t.Errorf("Codex' hook is %+v in\n%s", hooks, lines)
	}
	for _, name := range []string{"requirements.toml", "managed_config.toml"} {
		if !strings.Contains(lines, "\ncat > /etc/codex/"+name+" <<'EOT'\n") {
			t.Errorf("%s is not written by\n%s", name, lines)
		}
	}
}
