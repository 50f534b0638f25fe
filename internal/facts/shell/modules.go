package shell

import (
	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// Modules is what the modules do that a Python program imports at a place, as far as their text was found, and where
// they may lie: also in the folders that the program adds to those that are searched. It is false where that is nothing at all.
func Modules(imported, folders []string, at value.Place, python func(source string, at value.Place) value.Code) (value.Command, bool) {
	a := newAnalysis(at, python)
	sc := a.NewScope(at.Workdir, false)
	inv := &call.Invocation{Argv: []word.Word{word.Of("python3")}, Scope: sc}
	a.ReadModules("python3", inv, imported)
	for _, folder := range folders {
		for _, module := range imported {
			a.ReadModuleIn("python3", "python", inv, a.FileAt(word.Of(folder), sc), module)
		}
	}
	c := a.command("")
	return c, len(c.Opens)+len(c.Files)+len(c.Calls)+len(c.Reads)+len(c.Writes)+len(c.Hosts) > 0 || !c.Complete
}
