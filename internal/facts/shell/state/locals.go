package state

import (
	"slices"
)

// Locals are the variables that a function has for itself, and what their names stood for before.
type Locals struct {
	Scope *Scope
	names []string
	old   []Variable
	set   []bool
}

// Own notes that a name is the function's own from here on.
func (l *Locals) Own(name string, sc *Scope) {
	if l == nil || slices.Contains(l.names, name) {
		return
	}
	old, set := sc.vars[name]
	if sc != l.Scope { // in one branch of it
		old, set = Variable{Lost: true}, true
	}
	l.names, l.old, l.set = append(l.names, name), append(l.old, old), append(l.set, set)
}

// Restore gives the names what they stood for before.
func (l *Locals) Restore() {
	for i, name := range l.names {
		if l.set[i] {
			l.Scope.Set(name, l.old[i])
		} else {
			l.Scope.Unset(name)
		}
	}
}
