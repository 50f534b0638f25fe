package python

import "strings"

func (w *walk) importModules(s *statement) {
	for _, m := range s.modules {
		w.imported(m.name)
		w.runsModule(m.name)
		if m.as != "" {
			w.set(m.as, symbolOf(m.name))
			continue
		}
		top, _, _ := strings.Cut(m.name, ".")
		w.set(top, symbolOf(top))
	}
}

func (w *walk) importFrom(s *statement) {
	w.imported(s.text)
	w.runsModule(s.text)
	for _, m := range s.modules {
		if m.as == "*" {
			w.stars = append(w.stars, s.text)
			continue
		}
		name := canonical(s.text + "." + m.name)
		if name == "os.path" || dangerousModules[name] {
			w.imported(name)
		}
		w.set(m.as, symbolOf(name))
	}
}

// runsModule notes a module that the program has written itself.
func (w *walk) runsModule(name string) {
	if !w.noting || len(w.notes.contents) == 0 {
		return
	}
	file := strings.ReplaceAll(strings.TrimLeft(name, "."), ".", "/")
	w.runsFiles([]string{file + ".py", file + "/__init__.py"})
}
