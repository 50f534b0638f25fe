package python

import (
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// walk goes through a program in the order of its text, several times: each
// time it knows more of what variables and parameters may hold. Only the last
// walk notes what the program does.
type walk struct {
	at value.Place
	// readShell reads the shell texts that the program runs.
	readShell func(text string, at value.Place) value.Command
	notes     notes
	// noting says that this is the last walk.
	noting bool
	scope  *object.Scope
	// within counts the conditions and loops around the current statement
	// within its function; loops counts loops only.
	within, loops int
	// repeats counts those of them that may never end.
	repeats    int
	function   *object.Function
	scopes     map[*syntax.Statement]*object.Scope
	functions  map[*syntax.Statement]*object.Function
	methods    map[string][]*object.Function
	attributes map[string]object.Objects
	// attributesOpen says that an attribute may hold more than these.
	attributesOpen bool
	// made are the things that the program makes; changing says that one of them is changed.
	made     map[maker]*object.Made
	changing bool
	// nestedPrograms are the texts given to exec, by text.
	nestedPrograms map[string]*program
	// links are the links that the program makes, by path, with what they lead to.
	links map[string]string
	stars []string
	grew  bool
	// named says that all functions of the program are known by their names.
	named bool
	// early says that something was not taken for changed because they are not.
	early bool
	// settling says that what still changes is taken for unknown.
	settling bool
	// exhausted says that the program is more than was walked.
	exhausted bool
	// lenient counts the texts around, in which names may be those of a library.
	lenient int
	// annotated and doctested say that texts which do nothing by themselves are evaluated by a library.
	annotated, doctested bool
	steps                int
	depth                int
	nestedDepth          int
}

// program is a text given to exec.
type program struct {
	body  []*syntax.Statement
	err   error
	inUse bool
}

func (w *walk) conditional(s *syntax.Statement) {
	w.computeAll(s.Exprs)
	loop := s.Act == syntax.ActRepeat
	if loop {
		w.repeats++
		defer func() { w.repeats-- }()
	}
	w.inside(loop, func() {
		for _, t := range s.Targets {
			w.assign(t, object.Hidden(t.Text, value.Taint{}), nil)
		}
		w.statements(s.Body)
	})
}

// inside walks what may run, or may run again.
func (w *walk) inside(loop bool, body func()) {
	w.within++
	if loop {
		w.loops++
		defer func() { w.loops-- }()
	}
	body()
	w.within--
}

func (w *walk) loop(s *syntax.Statement) {
	source := w.value(s.Exprs[0])
	w.escape(source)
	w.inside(true, func() {
		w.assign(s.Targets[0], object.Elements(source, nameOf(s.Targets[0])), nil)
		w.statements(s.Body)
	})
}

func (w *walk) with(s *syntax.Statement) {
	at := w.at
	for i, e := range s.Exprs {
		vs := w.value(e)
		if len(vs) > 0 && vs[0].Shape == object.IsList && vs[0].Open { // the generator of a context
			vs = object.Elements(vs, "value")
		}
		if t := s.Targets[i]; t != nil {
			w.assign(t, vs, nil)
		}
	}
	changed := w.at != at // contextlib.chdir is for the block alone
	w.statements(s.Body)
	if changed {
		w.at = at
	}
}

func (w *walk) giveBack(s *syntax.Statement) {
	vs := w.value(s.Exprs[0])
	if w.function == nil {
		w.escape(vs)
		return
	}
	w.leak(vs)
	w.learn(&w.function.Returns, vs)
	if w.function.Method {
		// Python itself calls a special method, and hands on what it gives.
		w.escapeSpecial(w.function.Define.Text, vs)
		w.standsForPath(vs)
	}
}

func (w *walk) declareGlobal(s *syntax.Statement) {
	names := &w.scope.Global
	if s.Text == "nonlocal" {
		names = &w.scope.Outer
	}
	for _, name := range s.Names {
		if *names == nil {
			*names = map[string]bool{}
		}
		(*names)[name] = true
	}
}

// bounded gives up values that hold too much.
func (w *walk) bounded(vs object.Objects) object.Objects {
	vs, size := vs.Measured()
	w.steps += size / 4
	if size <= object.MaxSize {
		return vs
	}
	w.exhausted = true
	return object.Hidden("value", value.Taint{})
}
