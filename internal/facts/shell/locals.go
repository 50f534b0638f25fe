package shell

import (
	"slices"
)

// locals are the variables that a function has for itself, and what their names stood for before.
type locals struct {
	sc    *scope
	names []string
	old   []variable
	set   []bool
}

// own notes that a name is the function's own from here on.
func (l *locals) own(name string, sc *scope) {
	if l == nil || slices.Contains(l.names, name) {
		return
	}
	old, set := sc.vars[name]
	if sc != l.sc { // in one branch of it
		old, set = variable{lost: true}, true
	}
	l.names, l.old, l.set = append(l.names, name), append(l.old, old), append(l.set, set)
}

// restore gives the names what they stood for before.
func (l *locals) restore() {
	for i, name := range l.names {
		if l.set[i] {
			l.sc.set(name, l.old[i])
		} else {
			l.sc.unset(name)
		}
	}
}
