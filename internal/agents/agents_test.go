package agents_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
	"github.com/bailiff-dev/bailiff/internal/host/defaultpath"
)

// entryOf is one of a user whose agents were started once.
func entryOf(t *testing.T, a agents.Agent) settings.Entry {
	t.Helper()
	e := settings.Entry{Listen: "unix:///run/user/7/a.sock", Programs: "/opt/b", Home: t.TempDir(),
		Getenv: func(string) string { return "" }}
	for _, path := range a.Settings(e) {
		if !strings.Contains(filepath.Base(path)[1:], ".") { // a folder
			path = filepath.Join(path, "x")
		}
		backendtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	}
	return e
}

// lies says whether a path is one of these, or in it.
func lies(path string, in []string) bool {
	return slices.ContainsFunc(in, func(one string) bool { return path == one || strings.HasPrefix(path, one+"/") })
}

func TestEveryAgentAsksOnceItIsSetUpAndNoLongerOnceThatIsTakenBack(t *testing.T) {
	t.Parallel()
	for _, name := range agents.Names() {
		a, err := agents.Of(name)
		backendtest.Must(t, err)
		e := entryOf(t, a)
		changes, err := a.Add(e)
		backendtest.Must(t, err)
		if lacking, err := agents.Lacking(name, e); err != nil || len(lacking) == 0 {
			t.Errorf("before it is set up %s lacks %q, %v", name, lacking, err)
		}
		for _, c := range changes {
			if !lies(c.Path, a.Settings(e)) {
				t.Errorf("%s writes %s, which is none of its settings", name, c.Path)
			}
		}
		backendtest.Must(t, settings.Write(changes))
		if lacking, err := agents.Lacking(name, e); err != nil || len(lacking) > 0 {
			t.Errorf("once it is set up %s lacks %q, %v", name, lacking, err)
		}
		moved := e
		moved.Listen = "unix:///run/user/8/a.sock"
		if lacking, err := agents.Lacking(name, moved); err != nil || len(lacking) == 0 {
			t.Errorf("of another sidecar %s lacks %q, %v", name, lacking, err)
		}
		changes, err = a.Remove(e)
		backendtest.Must(t, err)
		for _, c := range changes {
			if strings.Contains(c.After, "/opt/b/bailiff") || strings.Contains(c.After, e.Listen) {
				t.Errorf("%s is left with %s", name, c.After)
			}
		}
	}
}

func TestAHookThatIsWrittenIsFoundAndHasNoFault(t *testing.T) {
	t.Parallel()
	for _, name := range agents.Names() {
		a, err := agents.Of(name)
		backendtest.Must(t, err)
		hooked, has := a.(agents.HookCaller)
		if !has {
			continue
		}
		e := entryOf(t, a)
		changes, err := a.Add(e)
		backendtest.Must(t, err)
		backendtest.Must(t, settings.Write(changes))
		hooks, err := hooked.FileHooks(e)
		if err != nil || len(hooks) != 1 || hooks[0].Line != e.Hook(name) || !lies(hooks[0].Path, a.Settings(e)) {
			t.Errorf("of %s is found %+v, %v", name, hooks, err)
		}
		if unfit := agents.Unfit(e); len(unfit) > 0 {
			t.Errorf("of %s it is said: %q", name, unfit)
		}
	}
}

func TestAnAgentIsKnownByItsNameOnly(t *testing.T) {
	t.Parallel()
	for _, name := range append(agents.Names(), "mcp:zed") {
		if _, err := agents.Of(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "claude", "mcp:", "Codex"} {
		if _, err := agents.Of(name); err == nil || !strings.Contains(err.Error(), agents.List()) {
			t.Errorf("of %q it says %v", name, err)
		}
	}
}

// What root's files say is what setup would write, and stands in the examples as well, for people to read.
func TestRootsFilesOfTablesAreTheShippedOnes(t *testing.T) {
	t.Parallel()
	for name, d := range dialects.All {
		table, is := d.(hook.Agent)
		if !is {
			continue
		}
		lines := settings.Of(name, table).RootLines(settings.Entry{Programs: "/opt/b",
			Listen: "unix://" + defaultpath.Socket(defaultpath.AgentSocket)})
		for _, path := range []string{table.Settings.Roots, table.Settings.Managed} {
			if path == "" {
				continue
			}
			shipped, err := os.ReadFile(filepath.Join("../../examples", name, filepath.Base(path)))
			backendtest.Must(t, err)
			if want := "cat > " + path + " <<'EOT'\n" + string(shipped) + "EOT"; !slices.Contains(lines, want) {
				t.Errorf("root's lines for %s lack\n%s\nthey are\n%s", name, want, strings.Join(lines, "\n"))
			}
		}
	}
}

// An agent of tables is its folder, and its line and import in the package dialects.
func TestAnAgentOfTablesIsAFolderAndALine(t *testing.T) {
	t.Parallel()
	text := map[string]string{}
	for _, root := range []string{".", "../../cmd"} {
		backendtest.Must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			read, err := os.ReadFile(path)
			text[path] = string(read)
			return err
		}))
	}
	for name, d := range dialects.All {
		if _, is := d.(hook.Agent); !is {
			continue
		}
		folder := strings.ReplaceAll(name, "-", "")
		for path, text := range text {
			lines := strings.Count(text, `"`+name+`"`) + strings.Count(text, `/agents/`+folder+`"`)
			if own := strings.HasPrefix(path, folder+"/"); !own && (lines > 0) != (path == "dialects/dialects.go") {
				t.Errorf("%s names %s %d times", path, name, lines)
			}
		}
	}
}
