package python

import (
	"slices"
	"strings"

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
	stars          []string
	grew           bool
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

// variable is what a name may hold.
type variable struct {
	// now is what it holds here, ever what it holds anywhere; loose says that a
	// loop or another function assigns it, so that it may hold any of these here.
	now, ever objects
	loose     bool
}

// function is a function, or a class by its constructor.
type function struct {
	define  *statement
	scope   *scope
	method  bool
	class   bool
	members map[string]*function
	// escaped says that something unknown may call it.
	escaped bool
	returns objects
}

const (
	maxWalks = 10
	maxSteps = 400_000
)

func newWalk(at value.Place, shell func(string, value.Place) value.Command) *walk {
	return &walk{
		at: at, readShell: shell, notes: newNotes(),
		scopes: map[*statement]*scope{}, functions: map[*statement]*function{},
		methods: map[string][]*function{}, attributes: map[string]objects{},
		nestedPrograms: map[string]*program{},
	}
}

// program walks until nothing more is learnt, and then once more to note.
func (w *walk) program(body []*statement) {
	top := &scope{vars: map[string]*variable{}}
	for i := range maxWalks {
		w.settling = i > maxWalks/2
		w.once(top, body)
		if !w.grew || w.exhausted {
			break
		}
	}
	// What still changes is not known.
	changes := w.grew
	w.noting = true
	w.once(top, body)
	if changes || w.exhausted {
		w.hide()
	}
}

func (w *walk) once(top *scope, body []*statement) {
	at := w.at
	w.scope, w.grew, w.steps, w.stars = top, false, 0, nil
	top.forget()
	w.statements(body)
	w.at = at
}

// forget drops what variables hold now.
func (s *scope) forget() {
	for _, v := range s.vars {
		v.now = nil
	}
}

// spend counts work; it is false when the program has had its share.
func (w *walk) spend() bool {
	if w.steps++; w.steps > maxSteps {
		w.exhausted = true
	}
	return w.steps <= maxSteps
}

func (w *walk) statements(all []*statement) {
	for _, s := range all {
		if !w.spend() {
			return
		}
		w.statement(s)
	}
}

func (w *walk) statement(s *statement) {
	switch s.act {
	case actCompute:
		w.computeAll(s.exprs)
		w.forksOn(s)
	case actAssign:
		w.assignment(s)
	case actImport:
		w.importModules(s)
	case actFrom:
		w.importFrom(s)
	case actDefine:
		w.define(s)
	case actClass:
		w.defineClass(s)
	case actIf, actRepeat:
		w.conditional(s)
	case actFor:
		w.loop(s)
	case actWith:
		w.with(s)
	case actReturn:
		w.giveBack(s)
	case actGlobal:
		w.declareGlobal(s)
	}
}

func (w *walk) computeAll(exprs []*expression) {
	for _, e := range exprs {
		if e.form != textForm {
			w.escape(w.value(e))
		}
	}
}

func (w *walk) assignment(s *statement) {
	vs := w.value(s.exprs[0])
	for _, t := range s.targets {
		if s.text == "" {
			w.assign(t, vs, s.exprs[0])
			continue
		}
		old := w.value(t)
		sum := w.operate(s.text, old, vs)
		if w.loops > 0 {
			sum = sum.with(hidden(nameOf(t), sum.tainted()))
		}
		w.assign(t, sum, nil)
	}
}

// assign gives values to a target; from is the expression they came from, if any.
func (w *walk) assign(target *expression, vs objects, from *expression) {
	switch target.form {
	case nameForm:
		if w.loops > 0 && from != nil && mentions(from, target.text, 0) {
			vs = vs.with(hidden(target.text, vs.tainted()))
		}
		w.set(target.text, named(vs, target.text))
	case listForm:
		for i, kid := range target.kids {
			w.assign(kid, itemsAt(vs, i, nameOf(kid)), nil)
		}
	case otherForm:
		for _, kid := range target.kids {
			w.assign(kid, hidden(nameOf(kid), vs.tainted()), nil)
		}
	case attributeForm:
		w.setAttribute(target, vs)
	case indexForm:
		w.setItem(target, vs)
	default:
		w.value(target)
		w.escape(vs)
	}
}

// named shows unknown values under the name of the variable that holds them.
func named(vs objects, name string) objects {
	out := slices.Clone(vs)
	for i, v := range out {
		if v.shape == isUnknown {
			out[i].text = name
		}
	}
	return out
}

func nameOf(e *expression) string {
	switch e.form {
	case nameForm, attributeForm:
		return e.text
	}
	return "value"
}

// mentions says whether an expression reads a name.
func mentions(e *expression, name string, depth int) bool {
	if e == nil || depth > maxDepth {
		return false
	}
	if e.form == nameForm && e.text == name {
		return true
	}
	return slices.ContainsFunc(e.kids, func(kid *expression) bool { return mentions(kid, name, depth+1) })
}

// itemsAt are the values at one place of lists.
func itemsAt(vs objects, i int, name string) objects {
	var out objects
	for _, v := range vs {
		if v.shape == isList && i < len(v.items) && !v.open {
			out = out.with(v.items[i])
			continue
		}
		out = out.with(hidden(name, v.allTaint()))
	}
	return out
}

func (w *walk) variable(sc *scope, name string) *variable {
	v := sc.vars[name]
	if v == nil {
		v = &variable{}
		sc.vars[name] = v
	}
	return v
}

func (w *walk) set(name string, vs objects) {
	sc, own := w.scope, true
	if sc.global[name] {
		for sc.parent != nil {
			sc = sc.parent
		}
		own = false
	}
	v := w.variable(sc, name)
	if sc.brief {
		v.now = vs
		return
	}
	w.learn(&v.ever, vs)
	if sc.class {
		w.learnAttribute(name, vs)
	}
	v.loose = v.loose || !own || w.loops > 0
	if !own || w.nested > 0 {
		v.now = v.now.with(vs)
		return
	}
	v.now = vs
}

// learn adds values to what is known for the whole program.
func (w *walk) learn(known *objects, vs objects) {
	before := *known
	*known = before.with(vs)
	if len(*known) != len(before) || len(before) == maxValues && !slices.EqualFunc(before, *known, object.same) {
		w.grew = true
		if w.settling {
			*known = known.with(hidden("value", vs.tainted()))
		}
	}
}

func (w *walk) setAttribute(target *expression, vs objects) {
	base := w.value(target.kids[0])
	for _, b := range base {
		if b.shape == isSymbol {
			// Something imported is changed: whoever calls it may call anything.
			w.escape(vs)
			if dangerous(b.text + "." + target.text) {
				w.hide()
			}
		}
	}
	w.learnAttribute(target.text, named(vs, target.text))
}

// learnAttribute adds to what an attribute of a name may hold in any object.
func (w *walk) learnAttribute(name string, vs objects) {
	known := w.attributes[name]
	w.learn(&known, vs)
	w.attributes[name] = known
}

func (w *walk) setItem(target *expression, vs objects) {
	for _, b := range w.value(target.kids[0]) {
		if b.shape == isSymbol && b.text == "os.environ" {
			if name, ok := w.value(target.kids[1]).only(); ok {
				w.setVariable(name, vs)
			}
			continue
		}
		if b.shape == isSymbol && (dangerousModules[b.text] || b.text == "globals()" || b.text == "locals()") {
			w.hide()
		}
	}
	w.value(target.kids[1])
	w.escape(vs)
	if target.kids[0].form == nameForm {
		w.loosen(target.kids[0].text)
	}
}

// loosen notes that a list or dictionary was changed in a way that is not followed.
func (w *walk) loosen(name string) {
	vs, _ := w.lookup(name)
	var out objects
	for _, v := range vs {
		if v.shape == isList || v.shape == isDict {
			v = object{shape: v.shape, items: v.items, open: true, Taint: v.Taint}
			if v.shape == isList {
				v = object{shape: isUnknown, text: name, Taint: v.Taint}
			}
		}
		out = out.with(objects{v})
	}
	if len(vs) > 0 {
		w.set(name, out)
	}
}

// lookup is what a name may hold; it is false for a name that nothing assigns.
func (w *walk) lookup(name string) (objects, bool) {
	here := w.scope.lasting()
	for sc := w.scope; sc != nil; sc = sc.parent {
		v := sc.vars[name]
		if v == nil || sc.class && sc != here {
			continue
		}
		if (sc == here || sc.brief) && !v.loose && v.now != nil {
			return v.now, true
		}
		return v.ever.with(v.now), true
	}
	return nil, false
}

func (w *walk) importModules(s *statement) {
	for _, m := range s.modules {
		w.imported(m.name)
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
	for _, m := range s.modules {
		if m.as == "*" {
			w.stars = append(w.stars, s.text)
			continue
		}
		name := s.text + "." + m.name
		if name == "os.path" || dangerousModules[name] {
			w.imported(name)
		}
		w.set(m.as, symbolOf(name))
	}
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
	for i, e := range s.exprs {
		vs := w.value(e)
		if t := s.targets[i]; t != nil {
			w.assign(t, vs, nil)
		}
	}
	w.statements(s.body)
}

func (w *walk) giveBack(s *statement) {
	vs := w.value(s.exprs[0])
	if w.function == nil {
		w.escape(vs)
		return
	}
	w.learn(&w.function.returns, vs)
}

func (w *walk) declareGlobal(s *statement) {
	for _, name := range s.names {
		if w.scope.global == nil {
			w.scope.global = map[string]bool{}
		}
		w.scope.global[name] = true
	}
}
