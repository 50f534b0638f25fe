package docs_test

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
	"github.com/bailiff-dev/bailiff/internal/agents/settings"
)

// input has an entry for each that a tool of some client reads.
const input = `{"command": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch", "path": "/no/x", "file_path": "/no/x",
	"filePath": "/no/x",
	"notebook_path": "/no/x", "dir_path": "/no", "pattern": "x", "url": "https://x.test/", "to": "main", "prompt": "https://x.test/",
	"patch": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch",
	"input": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch",
	"urls": ["https://x.test/"],
	"action": "list"}`

// toolsOf are the tools of a client, by what they do.
func toolsOf(t *testing.T, d dialects.Dialect) map[hook.Kind][]string {
	t.Helper()
	c := hook.Call{Cwd: "/no"}
	if err := json.Unmarshal([]byte(input), &c.Input); err != nil {
		t.Fatal(err)
	}
	tools := map[hook.Kind][]string{}
	for _, name := range slices.Sorted(slices.Values(d.Names())) {
		c.Tool = name
		m, err := d.Meaning(c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		tools[m.Kind] = append(tools[m.Kind], "`"+name+"`")
	}
	return tools
}

func TestThePageOfLocksKnowsEachAgentAndAllOfItsTools(t *testing.T) {
	text := read(t, "docs/which-agent.md").text
	for _, name := range agents.Names() {
		if strings.Count(text, "| ["+name+"](") != 1 || strings.Count(text, "\n| "+name+" | ") < 1 {
			t.Errorf("the page says nothing of %s", name)
		}
		a, err := agents.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		if f, tells := a.(agents.FailureTeller); tells && !strings.Contains(text, "\n- "+f.WhereItFails()+"\n") {
			t.Errorf("the page does not say: %s", f.WhereItFails())
		}
	}
	for name, d := range dialects.All {
		tools := toolsOf(t, d)
		row := "| " + name
		for _, kind := range []hook.Kind{hook.Shell, hook.Hostly, hook.Outward, hook.Replaced} {
			row += strings.TrimRight(" | "+strings.Join(tools[kind], ", "), " ")
		}
		passes := "- " + name + ": " + cmp.Or(strings.Join(tools[hook.Harmless], ", "), "none")
		for _, line := range []string{row + " |", passes} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("the page lacks the line\n%s", line)
			}
		}
	}
}

// reviewOrder is how the order of an agent's own reviewer and the hook is told; makersPage and testName are by what it is known.
var (
	reviewOrder = regexp.MustCompile(`^(before|after|beside|unknown)\b`)
	makersPage  = regexp.MustCompile(`\]\(https://[a-z.-]+/[^)]+\)`)
	testName    = regexp.MustCompile("`(Test\\w+)`")
)

func TestThePageOfLocksSaysByWhatItKnowsOfEachAgentsReviewer(t *testing.T) {
	text := read(t, "docs/which-agent.md").text
	_, table, _ := strings.Cut(text, "## The agent's own reviewer, and the order")
	table, _, _ = strings.Cut(table, "\n## ")
	hooks, plugIn := testsIn(t, "cmd/bailiff-hook"), testsIn(t, "examples/hermes")
	for _, name := range agents.Names() {
		_, row, _ := strings.Cut(table, "\n| "+name+" | ")
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(row, " | ")
		if len(cells) != 3 || !reviewOrder.MatchString(cells[1]) || !makersPage.MatchString(cells[2]) {
			t.Errorf("of %s's own reviewer it says %q", name, cells)
			continue
		}
		for _, found := range testName.FindAllStringSubmatch(cells[2], -1) {
			if !hooks[found[1]] && !plugIn[found[1]] {
				t.Errorf("of %s's own reviewer it names %s, which is no test", name, found[1])
			}
		}
	}
}

// switches are settings by which users of some agents have it call no hook.
var switches = map[string]any{"disableAllHooks": true, "hooksConfig": map[string]any{"enabled": false}}

// cells are those of the agent's row in the page's first table.
func cells(t *testing.T, text, name string) []string {
	t.Helper()
	_, row, _ := strings.Cut(text, "\n| ["+name+"](")
	row, _, _ = strings.Cut(row, "\n")
	all := strings.Split(row, "|")
	if len(all) != 5 {
		t.Fatalf("the row of %s is %q", name, row)
	}
	return all
}

func TestWhatThePageOfLocksSaysOfSettingsHolds(t *testing.T) {
	text := read(t, "docs/which-agent.md").text
	for _, name := range agents.Names() {
		a, err := agents.Of(name)
		hooked, has := a.(agents.HookCaller)
		if err != nil || !has {
			continue
		}
		row, e := cells(t, text, name), settings.Entry{Listen: "unix:///a", Programs: "/b", Home: t.TempDir(),
			Getenv: func(string) string { return "" }}
		changes, err := a.Add(e)
		if err == nil {
			err = settings.Write(changes)
		}
		hooks, wrong := hooked.FileHooks(e)
		if err != nil || wrong != nil || len(hooks) != 1 {
			t.Fatalf("%s has the hooks %+v, %v, %v", name, hooks, err, wrong)
		}
		_, below, _ := strings.Cut(hooks[0].Path, e.Home)
		if !strings.Contains(row[2], "`~"+below+"`") {
			t.Errorf("what a user of %s can still do lacks the file ~%s:%s", name, below, row[2])
		}
		for _, line := range hooked.RootLines(e) {
			path, isFile := strings.CutPrefix(line, "cat > ")
			path, _, _ = strings.Cut(path, " ")
			if isFile && !strings.Contains(row[3], filepath.Base(path)) && !strings.Contains(row[3], "`"+filepath.Dir(path)+"`") {
				t.Errorf("what an administrator of %s sets lacks %s:%s", name, path, row[3])
			}
		}
		for key, value := range switches {
			if name == "codex" { // which says itself what it calls
				continue
			}
			if said, off := strings.Contains(row[2], "`"+key+"`"), isOff(t, hooked, e, hooks[0].Path, key, value); said != off {
				t.Errorf("that %s of %s switches its hook off is said: %v, and seen: %v", key, name, said, off)
			}
		}
	}
}

// isOff says whether the hook is told to be off once its file has this setting.
func isOff(t *testing.T, a agents.HookCaller, e settings.Entry, path, key string, value any) bool {
	t.Helper()
	before, err := os.ReadFile(path)
	var whole map[string]any
	if err != nil || json.Unmarshal(before, &whole) != nil {
		t.Fatalf("%s holds %s, %v", path, before, err)
	}
	whole[key] = value
	after, err := json.Marshal(whole)
	if err == nil {
		err = os.WriteFile(path, after, 0o600)
	}
	hooks, wrong := a.FileHooks(e)
	if err != nil || wrong != nil || len(hooks) != 1 || os.WriteFile(path, before, 0o600) != nil {
		t.Fatalf("with %s there are %+v, %v, %v", key, hooks, err, wrong)
	}
	return hooks[0].Off != ""
}
