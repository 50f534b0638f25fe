package docs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

// input has an entry for each that a tool of some client reads.
const input = `{"command": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch", "path": "/no/x", "file_path": "/no/x",
	"notebook_path": "/no/x", "dir_path": "/no", "pattern": "x", "url": "https://x.test/", "to": "main", "prompt": "https://x.test/",
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
		passes := "- " + name + ": " + strings.Join(tools[hook.Harmless], ", ")
		for _, line := range []string{row + " |", passes} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("the page lacks the line\n%s", line)
			}
		}
	}
}
