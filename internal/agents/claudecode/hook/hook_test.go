package hook

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/agents/claudecode"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

func TestAfterEachToolOfClaudeCodeThatWritesItsFilesAreLookedAtAgain(t *testing.T) {
	c := hook.Call{Cwd: "/no"}
	if err := json.Unmarshal([]byte(`{"file_path": "/no/x", "notebook_path": "/no/x", "path": "/no", "pattern": "x", "command": "x",
		"url": "https://x.test/", "to": "main"}`), &c.Input); err != nil {
		t.Fatal(err)
	}
	again := strings.Split(claudecode.New().Writing, "|")
	for _, name := range Table.Names() {
		c.Tool = name
		m, err := Table.Meaning(c)
		if err != nil || m.Kind == 0 {
			t.Errorf("%s means %+v, %v", name, m, err)
		}
		if slices.Contains(again, name) != m.Writes {
			t.Errorf("that files are looked at again after %s is %v", name, !m.Writes)
		}
	}
}
