package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

func (w *walk) importModules(s *syntax.Statement) {
	for _, m := range s.Modules {
		w.imported(m.Name)
		if m.As != "" {
			w.set(m.As, object.SymbolOf(m.Name))
			continue
		}
		top, _, _ := strings.Cut(m.Name, ".")
		w.set(top, object.SymbolOf(top))
	}
}

func (w *walk) importFrom(s *syntax.Statement) {
	w.imported(s.Text)
	for _, m := range s.Modules {
		if m.As == "*" {
			w.stars = append(w.stars, s.Text)
			continue
		}
		w.note(&w.notes.members, strings.TrimSuffix(s.Text, ".")+"."+m.Name)
		name := library.Canonical(s.Text + "." + m.Name)
		if name == "os.path" || library.DangerousModules[name] {
			w.imported(name)
		}
		w.set(m.As, object.SymbolOf(name))
	}
}

// runsModule notes a module that the program has written or unpacked itself. Among what is unpacked none is looked for under a name
// that tables know.
func (w *walk) runsModule(name string) {
	if !w.noting || len(w.notes.contents)+len(w.notes.unpacked) == 0 {
		return
	}
	file, commands := strings.ReplaceAll(strings.TrimLeft(name, "."), ".", "/"), len(w.notes.pieces)
	if library.Describes(name) {
		commands = -1
	}
	w.runsFiles([]string{file + ".py", file + "/__init__.py"}, commands)
}
