package python

import (
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
	scopes     map[*statement]*scope
	functions  map[*statement]*function
	methods    map[string][]*function
	attributes map[string]objects
	// nestedPrograms are the texts given to exec, by text.
	nestedPrograms map[string]*program
	// links are the links that the program makes, by path, with what they lead to.
	links map[string]string
	stars []string
	grew  bool
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
	body  []*statement
	err   error
	inUse bool
}

// scope is where names live: the program, a function or a class.
type scope struct {
	vars   map[string]*variable
	parent *scope
	class  bool
	// brief marks that of a comprehension or lambda.
	brief  bool
	global map[string]bool
}

// lasting is the scope around comprehensions and lambdas.
func (s *scope) lasting() *scope {
	for s.brief {
		s = s.parent
	}
	return s
}

func (w *walk) conditional(s *statement) {
	w.computeAll(s.exprs)
	loop := s.act == actRepeat
	if loop {
		w.repeats++
		defer func() { w.repeats-- }()
	}
	w.inside(loop, func() {
		for _, t := range s.targets {
			w.assign(t, hidden(t.text, value.Taint{}), nil)
		}
		w.statements(s.body)
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

func (w *walk) loop(s *statement) {
	source := w.value(s.exprs[0])
	w.escape(source)
	w.inside(true, func() {
		w.assign(s.targets[0], elements(source, nameOf(s.targets[0])), nil)
		w.statements(s.body)
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

func (w *walk) with(s *statement) {
	at := w.at
	for i, e := range s.exprs {
		vs := w.value(e)
		if len(vs) > 0 && vs[0].shape == isList && vs[0].open { // the generator of a context
			vs = elements(vs, "value")
		}
		if t := s.targets[i]; t != nil {
			w.assign(t, vs, nil)
		}
	}
	changed := w.at != at // contextlib.chdir is for the block alone
	w.statements(s.body)
	if changed {
		w.at = at
	}
}

func (w *walk) giveBack(s *statement) {
	vs := w.value(s.exprs[0])
	if w.function == nil {
		w.escape(vs)
		return
	}
	w.learn(&w.function.returns, vs)
	if w.function.method {
		// Python itself calls a special method, and hands on what it gives.
		w.escapeSpecial(w.function.define.text, vs)
	}
}

func (w *walk) declareGlobal(s *statement) {
	for _, name := range s.names {
		if w.scope.global == nil {
			w.scope.global = map[string]bool{}
		}
		w.scope.global[name] = true
	}
}
