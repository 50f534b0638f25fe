package setup

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// unlimited is a machine whose backends work, but for some limits.
type unlimited struct{}

func (unlimited) Try(_ context.Context, _ string, section backends.Maker, _ bailiff.Mount) error {
	if len(listOf(section, acceptMissing)) == 0 {
		return backends.ErrUnsupported
	}
	return nil
}

// person is one whose agents are set up in a home of its own.
type person struct {
	t    *testing.T
	home string
}

func newPerson(t *testing.T) person {
	p := person{t, t.TempDir()}
	p.writes(".config/bailiff/bailiff.yaml", "# mine\nstate_dir: "+p.home+"/state\nagent: {listeners: [{name: a, listen: \"unix://"+p.home+
		"/a.sock\", platforms: [cli]}]}\npolicies: {paths: [policies]}\n")
	p.writes(".config/bailiff/policies/data.yaml", "bailiff: {tables: {platforms: {cli: {backends: [bubblewrap], "+
		"mounts: {bubblewrap: []}}}}}\n")
	return p
}

func (p person) writes(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.home, name)
	backendtest.Must(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	backendtest.Must(p.t, os.WriteFile(path, []byte(text), 0o600))
}

func (p person) reads(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.home, name))
	backendtest.Must(p.t, err)
	return string(text)
}

// survey is one as [Look] has it, though root runs the tests.
func (p person) survey(agent, project string) *Survey {
	p.t.Helper()
	in := Config{Agent: agent, File: filepath.Join(p.home, ".config/bailiff/bailiff.yaml"), Programs: "/usr/local/bin", Home: p.home,
		UID: os.Geteuid(), GID: os.Getegid(), Getenv: func(string) string { return "" }, Known: catalogue.All(), Prober: unlimited{}}
	a, err := agents.Of(agent)
	backendtest.Must(p.t, err)
	s := &Survey{in: in, agent: a, Project: filepath.Join(p.home, project)}
	backendtest.Must(p.t, s.readConfig())
	return s
}

// setsUp does it twice, since the second time changes nothing.
func (p person) setsUp(agent, project string) {
	p.t.Helper()
	backendtest.Must(p.t, os.MkdirAll(filepath.Join(p.home, project), 0o700))
	for again := range 2 {
		s := p.survey(agent, project)
		backendtest.Must(p.t, s.chooseBackend(p.t.Context()))
		changes, err := s.Changes(Answers{AcceptMissingLimits: true, AllowSameUser: true})
		backendtest.Must(p.t, err)
		if again == 1 && len(changes) > 0 {
			p.t.Errorf("the second time it changes %s", changes[0].Path)
		}
		backendtest.Must(p.t, settings.Write(changes))
	}
}

// removes is what the removal says.
func (p person) removes(agent, project string) string {
	p.t.Helper()
	s := p.survey(agent, project)
	changes, err := s.Removal()
	backendtest.Must(p.t, err)
	backendtest.Must(p.t, settings.Write(changes))
	return strings.Join(s.Stays, "\n")
}

// settings are the texts of all files and the folders of agents.
func (p person) settings() string {
	p.t.Helper()
	var all strings.Builder
	err := fs.WalkDir(os.DirFS(p.home), ".", func(name string, entry fs.DirEntry, err error) error {
		if name == ".config/bailiff" || name == "src" || name == "state" {
			return fs.SkipDir
		}
		all.WriteString(name + "\n")
		if err == nil && !entry.IsDir() {
			all.WriteString(p.reads(name))
		}
		return err
	})
	backendtest.Must(p.t, err)
	return all.String()
}

const (
	claudesFile   = ".claude/settings.json"
	codexsFile    = ".codex/config.toml"
	opencodesFile = ".config/opencode/opencode.json"
	hermessFile   = ".hermes/config.yaml"
)

func TestARemovalLeavesTheSettingsOfAgentsAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ agent, file, text string }{
		"Claude Code":                       {"claude-code", "", ""},
		"Claude Code with an empty file":    {"claude-code", claudesFile, "{}"},
		"Claude Code with hooks":            {"claude-code", claudesFile, `{"n": 1.50, "hooks": {"PreToolUse": []}}`},
		"Codex":                             {"codex", "", ""},
		"Codex with comments":               {"codex", codexsFile, "# mine\nmodel = \"m\" \n[features] # f\nweb = 1\n[[list]]\na = 1"},
		"Codex with the same sandbox":       {"codex", codexsFile, "sandbox_mode = \"workspace-write\" # mine\n"},
		"Codex with the same network":       {"codex", codexsFile, "[sandbox_workspace_write]\nnetwork_access = true\n"},
		"Codex with other hooks":            {"codex", ".codex/hooks.json", `{"hooks":{"PreToolUse":[{"hooks":[{"command":"a"}]}]}}`},
		"opencode":                          {"opencode", "", ""},
		"opencode with a word":              {"opencode", opencodesFile, "{\n\t\"permission\": \"ask\",\n\t\"mcp\": {}\n}"},
		"opencode with permissions":         {"opencode", opencodesFile, `{"permission": {"bash": {"git *": "allow"}, "*": "ask"}}`},
		"Hermes":                            {"hermes", hermessFile, "# mine\nterminal: {backend: local} # b\nplugins:\n  enabled: [a]\n"},
		"Hermes with nothing said":          {"hermes", hermessFile, "\n"},
		"an agent without settings of ours": {"mcp:zed", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			if c.file != "" {
				p.writes(c.file, c.text)
			}
			before := p.settings()
			p.setsUp(c.agent, "src/shop")
			p.setsUp(c.agent, "src/other")
			amid := p.settings()
			if c.agent != "mcp:zed" && amid == before {
				t.Error("a setup writes nothing")
			}
			if said := p.removes(c.agent, "src/other"); said != "" || p.settings() != amid {
				t.Errorf("the removal of one of two projects says %q and leaves\n%s", said, p.settings())
			}
			said := p.removes(c.agent, "src/shop")
			if after := p.settings(); after != before || said != "" {
				t.Errorf("it says %q, the settings are\n%s\nand were\n%s", said, after, before)
			}
			left := p.reads(".config/bailiff/bailiff.yaml")
			if strings.Contains(left, acceptMissing) || strings.Contains(left, "allow_same_user") {
				t.Errorf("what weakens bailiff is left in %s", left)
			}
			if _, err := os.Stat(filepath.Join(p.home, "state", "setup.json")); err == nil {
				t.Error("the record is left")
			}
		})
	}
}

// Of what a person changed since a setup nothing is lost, and of what the setup wrote nothing is left.
func TestARemovalKeepsWhatAPersonChangedSinceTheSetup(t *testing.T) {
	t.Parallel()
	const bash = `"bash": "deny"`
	for name, c := range map[string]struct{ agent, file, before, old, new, after, says string }{
		"a key beside hooks": {"claude-code", claudesFile, `{"a": 1}`, `"a": 1`, `"a": 2, "b": []`, `{"a": 2, "b": []}`, ""},
		"another hook": {"claude-code", claudesFile, "", `"PostToolUse"`, `"Stop": [], "PostToolUse"`,
			`{"hooks": {"Stop": []}}`, ""},
		"a flag of the hook": {"claude-code", claudesFile, `{"a": 1}`, "hook claude-code", "hook claude-code --headless", `{"a": 1}`, ""},
		"keys of Codex": {"codex", codexsFile, "# mine\n", "# mine\n",
			"# mine\nmodel = \"m\"\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n",
			"# mine\nmodel = \"m\"\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n", ""},
		"a key in a table of ours": {"codex", codexsFile, "", "hooks = true\n", "hooks = true\nweb = true\n",
			"\n[features]\nweb = true\n", ""},
		"another sandbox of Codex'": {"codex", codexsFile, "", `"workspace-write"`, `"read-only"`, "sandbox_mode = \"read-only\"\n",
			"sandbox_mode in .codex/config.toml is not as it was set up any more, so it stays"},
		"a permission": {"opencode", opencodesFile, `{"permission": {"bash": "ask", "*": "allow"}}`, bash, bash + `, "read": "ask"`,
			`{"permission": {"bash": "ask", "*": "allow", "read": "ask"}}`, ""},
		"a permission of ours": {"opencode", opencodesFile, "", bash, `"bash": "ask"`, `{"permission": {"bash": "ask"}}`,
			"permission.bash in .config/opencode/opencode.json is not as it was set up any more"},
		"a place of Hermes'": {"hermes", hermessFile, "terminal: {backend: local} # a\n", "backend: bailiff", "backend: docker",
			"terminal: {backend: docker} # a\n", "terminal.backend in .hermes/config.yaml is not as it was set up"},
		"the plug-in": {"hermes", ".hermes/plugins/bailiff/plugin.yaml", "", "name:", "# mine\nname:", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPerson(t)
			p.writes(hermessFile, "\n")
			if c.before != "" {
				p.writes(c.file, c.before)
			}
			p.setsUp(c.agent, "src/shop")
			with := p.reads(c.file)
			if !strings.Contains(with, c.old) {
				t.Fatalf("%q is not in\n%s", c.old, with)
			}
			p.writes(c.file, strings.Replace(with, c.old, c.new, 1))
			said := strings.ReplaceAll(p.removes(c.agent, "src/shop"), p.home+"/", "")
			bare := strings.NewReplacer(" ", "")
			if strings.HasSuffix(c.file, ".json") {
				bare = strings.NewReplacer(" ", "", "\n", "")
			}
			if left := p.reads(c.file); c.after != "" && bare.Replace(left) != bare.Replace(c.after) {
				t.Errorf("it leaves\n%s\nand not\n%s", left, c.after)
			}
			if c.says == "" && said != "" && c.after != "" || !strings.Contains(said, c.says) {
				t.Errorf("it says %q, want %q", said, c.says)
			}
		})
	}
}

func TestARemovalSaysWhatStays(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.setsUp("codex", "src/shop")
	p.setsUp("claude-code", "src/shop")
	said := p.removes("codex", "src/shop")
	if !strings.Contains(said, "operator.allow_same_user stays in "+p.home+"/.config/bailiff/bailiff.yaml, for claude-code.") {
		t.Errorf("beside another agent it says %q", said)
	}
	if said := p.removes("claude-code", "src/shop"); said != "" || strings.Contains(p.reads(".config/bailiff/bailiff.yaml"), "same_user") {
		t.Errorf("of the last agent it says %q", said)
	}
	for agent, want := range map[string]string{"codex": "network_access = true stays in ",
		"opencode": "opencode's own shell stays denied", "hermes": "Hermes runs no command until terminal.backend",
		"claude-code": "accept_missing_limits, operator.allow_same_user stays in "} {
		p := newPerson(t)
		p.writes(hermessFile, "\n")
		p.setsUp(agent, "src/shop")
		backendtest.Must(t, os.Remove(filepath.Join(p.home, "state", "setup.json"))) // as of a setup that kept no record
		if said := p.removes(agent, "src/shop"); !strings.Contains(said, want) {
			t.Errorf("without a record of %s it says %q", agent, said)
		}
	}
}
