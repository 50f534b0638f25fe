package main

import (
	"strings"
	"testing"

	registry "github.com/bailiff-dev/bailiff/internal/agents"
)

func TestEveryAgentWhoseSettingsStartThisProgramHasADialect(t *testing.T) {
	for _, name := range registry.Names() {
		a, err := registry.Of(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := a.(registry.HookCaller); has && dialects[name] == nil {
			t.Errorf("%s has no line in dialects.go", name)
		}
	}
	for name, d := range dialects {
		if _, err := registry.Of(name); err != nil {
			t.Error(err)
		}
		if example := d.Example(); !strings.Contains(example, "bailiff-hook "+name+" ") {
			t.Errorf("the example of %s is %s", name, example)
		}
	}
}
