package python

import (
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
	scope  *scope
	// nested counts the conditions and loops around the current statement
	// within its function; loops counts loops only.
	nested, loops int
	// repeats counts those of them that may never end.
	repeats    int
	function   *function
	scopes     map[*syntax.Statement]*scope
	functions  map[*syntax.Statement]*function
	methods    map[string][]*function
	attributes map[string]objects
	// attributesOpen says that an attribute may hold more than these.
	attributesOpen bool
	// made are the things that expressions make; lost says that one of them is not known any more.
	made map[*syntax.Expression]*made
	lost bool
	// nestedPrograms are the texts given to exec, by text.
	nestedPrograms map[string]*program
	// links are the links that the program makes, by path, with what they lead to.
	links map[string]string
	stars []string
	grew  bool
	// named says that all functions of the program are known by their names.
	named bool
	// settling says that what still changes is taken for unknown.
	settling bool
	// exhausted says that the program is more than was walked.
	exhausted   bool
	steps       int
	depth       int
	nestedDepth int
}

// program is a text given to exec.
type program struct {
	body  []*syntax.Statement
	err   error
	inUse bool
}

// scope is where names live: the program, a function or a class.
type scope struct {
	vars   map[string]*variable
	parent *scope
	class  bool
	// brief marks that of a comprehension or lambda.
	brief bool
	// global and outer are the names that belong to the program, and to a function around this one.
	global, outer map[string]bool
}

// holds is the scope in which a name is assigned here.
func (s *scope) holds(name string) *scope {
	switch in := s; {
	case s.global[name]:
		for in.parent != nil {
			in = in.parent
		}
		return in
	case s.outer[name]:
		for in = s.parent; in.parent != nil; in = in.parent {
			if in.vars[name] != nil && !in.class && !in.global[name] && !in.outer[name] {
				break
			}
		}
		return in
	}
	return s
}

// lasting is the scope around comprehensions and lambdas.
func (s *scope) lasting() *scope {
	for s.brief {
		s = s.parent
	}
	return s
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
			w.assign(t, hidden(t.Text, value.Taint{}), nil)
		}
		w.statements(s.Body)
	})
}

// inside walks what may run, or may run again.
func (w *walk) inside(loop bool, body func()) {
	w.nested++
	if loop {
		w.loops++
		defer func() { w.loops-- }()
	}
	body()
	w.nested--
}

func (w *walk) loop(s *syntax.Statement) {
	source := w.value(s.Exprs[0])
	w.escape(source)
	w.inside(true, func() {
		w.assign(s.Targets[0], elements(source, nameOf(s.Targets[0])), nil)
		w.statements(s.Body)
	})
}

// elements are the values that a loop over vs gives.
func elements(vs objects, name string) objects {
	var out objects
	for _, v := range vs {
		if v.shape != isList || v.open {
			out = out.with(hidden(name, v.allTaint()))
		}
		if v.shape == isList {
			for _, item := range v.items {
				out = out.with(item)
			}
		}
	}
	return out
}

func (w *walk) with(s *syntax.Statement) {
	at := w.at
	for i, e := range s.Exprs {
		vs := w.value(e)
		if len(vs) > 0 && vs[0].shape == isList && vs[0].open { // the generator of a context
			vs = elements(vs, "value")
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
	w.learn(&w.function.returns, vs)
	if w.function.method {
		// Python itself calls a special method, and hands on what it gives.
		w.escapeSpecial(w.function.define.Text, vs)
	}
}

func (w *walk) declareGlobal(s *syntax.Statement) {
	names := &w.scope.global
	if s.Text == "nonlocal" {
		names = &w.scope.outer
	}
	for _, name := range s.Names {
		if *names == nil {
			*names = map[string]bool{}
		}
		(*names)[name] = true
	}
}
