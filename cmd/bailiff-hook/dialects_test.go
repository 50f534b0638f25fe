package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	registry "github.com/bailiff-dev/bailiff/internal/agents"
	"github.com/bailiff-dev/bailiff/internal/agents/dialects"
	"github.com/bailiff-dev/bailiff/internal/agents/hook"
)

func TestEveryAgentWhoseSettingsStartThisProgramHasADialect(t *testing.T) {
	for _, name := range registry.Names() {
		a, err := registry.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := a.(registry.HookCaller); has && dialects.All[name] == nil {
			t.Errorf("%s has no line in the package dialects", name)
		}
	}
	for name, d := range dialects.All {
		if _, err := registry.Of(name); err != nil {
			t.Error(err)
		}
		if example := d.Example(); !strings.Contains(example, "bailiff-hook "+name+" ") {
			t.Errorf("the example of %s is %s", name, example)
		}
	}
}

// inputs has an entry for each that a tool of some client reads.
const inputs = `{"command": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch", "path": "/no/x", "file_path": "/no/x",
	"filePath": "/no/x",
	"notebook_path": "/no/x", "dir_path": "/no", "pattern": "x", "url": "https://x.test/", "to": "main", "prompt": "https://x.test/",
	"patch": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch",
	"input": "*** Begin Patch\n*** Add File: /no/x\n+k\n*** End Patch",
	"urls": ["https://x.test/"]}`

func TestAfterEachToolThatWritesItsFilesAreLookedAtAgain(t *testing.T) {
	c := hook.Call{Cwd: "/no"}
	if err := json.Unmarshal([]byte(inputs), &c.Input); err != nil {
		t.Fatal(err)
	}
	for name, d := range dialects.All {
		a, err := registry.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		writer, looks := a.(interface{ Writes() []string })
		if !looks || len(writer.Writes()) == 0 { // it has no event then
			continue
		}
		for _, tool := range d.Names() {
			c.Tool = tool
			m, err := d.Meaning(c)
			if err != nil || m.Kind == 0 {
				t.Errorf("%s of %s means %+v, %v", tool, name, m, err)
			}
			if slices.Contains(writer.Writes(), tool) != m.Writes {
				t.Errorf("that files are looked at again after %s of %s is %v", tool, name, !m.Writes)
			}
		}
	}
}
