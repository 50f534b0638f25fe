package bailiff

import (
	"strings"
	"testing"
)

func TestWhatAScriptMayCall(t *testing.T) {
	for name, own := range map[string]bool{
		"web_search": true, "a": true, "x9_": true, strings.Repeat("a", 64): true,
		"terminal": false, "execute_code": false, "process": false, "call": false,
		"": false, "Web": false, "9a": false, "_a": false, "web-search": false, "a.b": false, "a\n": false, "é": false,
		strings.Repeat("a", 65): false,
	} {
		if IsOwnTool(name) != own {
			t.Errorf("%q may be a tool of an agent's own: %v, want %v", name, !own, own)
		}
		if callable := own || name == "terminal"; IsCallable(name) != callable {
			t.Errorf("%q may be called by a script: %v, want %v", name, !callable, callable)
		}
	}
}
