package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// pyWalk goes through a program in the order of its text, several times: each
// time it knows more of what variables and parameters may hold. Only the last
// walk notes what the program does.
type pyWalk struct {
	at value.Place
	// readShell reads the shell texts that the program runs.
	readShell func(text string, at value.Place) value.Command
	notes     pyNotes
	// noting says that this is the last walk.
	noting bool
	scope  *pyScope
	// nested counts the conditions and loops around the current statement
	// within its function; loops counts loops only.
	nested, loops int
	// repeats counts those of them that may never end.
	repeats    int
	function   *pyFunction
	scopes     map[*pyStatement]*pyScope
	functions  map[*pyStatement]*pyFunction
	methods    map[string][]*pyFunction
	attributes map[string]pyValues
	// nestedPrograms are the texts given to exec, by text.
	nestedPrograms map[string]*pyProgram
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

// pyProgram is a text given to exec.
type pyProgram struct {
	body  []*pyStatement
	err   error
	inUse bool
}

// pyScope is where names live: the program, a function or a class.
type pyScope struct {
	vars   map[string]*pyVariable
	parent *pyScope
	class  bool
	// brief marks that of a comprehension or lambda.
	brief  bool
	global map[string]bool
}

// lasting is the scope around comprehensions and lambdas.
func (s *pyScope) lasting() *pyScope {
	for s.brief {
		s = s.parent
	}
	return s
}

// pyVariable is what a name may hold.
type pyVariable struct {
	// now is what it holds here, ever what it holds anywhere; loose says that a
	// loop or another function assigns it, so that it may hold any of these here.
	now, ever pyValues
	loose     bool
}

// pyFunction is a function, or a class by its constructor.
type pyFunction struct {
	define  *pyStatement
	scope   *pyScope
	method  bool
	class   bool
	members map[string]*pyFunction
	// escaped says that something unknown may call it.
	escaped bool
	returns pyValues
}

const (
	maxPyWalks = 10
	maxPySteps = 400_000
)

func newPyWalk(at value.Place, shell func(string, value.Place) value.Command) *pyWalk {
	return &pyWalk{
		at: at, readShell: shell, notes: newPyNotes(),
		scopes: map[*pyStatement]*pyScope{}, functions: map[*pyStatement]*pyFunction{},
		methods: map[string][]*pyFunction{}, attributes: map[string]pyValues{},
		nestedPrograms: map[string]*pyProgram{},
	}
}

// program walks until nothing more is learnt, and then once more to note.
func (w *pyWalk) program(body []*pyStatement) {
	top := &pyScope{vars: map[string]*pyVariable{}}
	for i := range maxPyWalks {
		w.settling = i > maxPyWalks/2
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

func (w *pyWalk) once(top *pyScope, body []*pyStatement) {
	at := w.at
	w.scope, w.grew, w.steps, w.stars = top, false, 0, nil
	top.forget()
	w.statements(body)
	w.at = at
}

// forget drops what variables hold now.
func (s *pyScope) forget() {
	for _, v := range s.vars {
		v.now = nil
	}
}

// spend counts work; it is false when the program has had its share.
func (w *pyWalk) spend() bool {
	if w.steps++; w.steps > maxPySteps {
		w.exhausted = true
	}
	return w.steps <= maxPySteps
}

func (w *pyWalk) statements(all []*pyStatement) {
	for _, s := range all {
		if !w.spend() {
			return
		}
		w.statement(s)
	}
}

func (w *pyWalk) statement(s *pyStatement) {
	switch s.act {
	case pyCompute:
		w.computeAll(s.exprs)
		w.forksOn(s)
	case pyAssign:
		w.assignment(s)
	case pyImport:
		w.importModules(s)
	case pyFrom:
		w.importFrom(s)
	case pyDefine:
		w.define(s)
	case pyClass:
		w.defineClass(s)
	case pyIf, pyRepeat:
		w.conditional(s)
	case pyFor:
		w.loop(s)
	case pyWith:
		w.with(s)
	case pyReturn:
		w.giveBack(s)
	case pyGlobal:
		w.declareGlobal(s)
	}
}

func (w *pyWalk) computeAll(exprs []*pyExpr) {
	for _, e := range exprs {
		if e.form != pyTextForm {
			w.escape(w.value(e))
		}
	}
}

func (w *pyWalk) assignment(s *pyStatement) {
	vs := w.value(s.exprs[0])
	for _, t := range s.targets {
		if s.text == "" {
			w.assign(t, vs, s.exprs[0])
			continue
		}
		old := w.value(t)
		sum := w.operate(s.text, old, vs)
		if w.loops > 0 {
			sum = sum.with(pyHidden(nameOf(t), sum.tainted()))
		}
		w.assign(t, sum, nil)
	}
}

// assign gives values to a target; from is the expression they came from, if any.
func (w *pyWalk) assign(target *pyExpr, vs pyValues, from *pyExpr) {
	switch target.form {
	case pyNameForm:
		if w.loops > 0 && from != nil && mentions(from, target.text, 0) {
			vs = vs.with(pyHidden(target.text, vs.tainted()))
		}
		w.set(target.text, named(vs, target.text))
	case pyListForm:
		for i, kid := range target.kids {
			w.assign(kid, itemsAt(vs, i, nameOf(kid)), nil)
		}
	case pyOtherForm:
		for _, kid := range target.kids {
			w.assign(kid, pyHidden(nameOf(kid), vs.tainted()), nil)
		}
	case pyAttributeForm:
		w.setAttribute(target, vs)
	case pyIndexForm:
		w.setItem(target, vs)
	default:
		w.value(target)
		w.escape(vs)
	}
}

// named shows unknown values under the name of the variable that holds them.
func named(vs pyValues, name string) pyValues {
	out := slices.Clone(vs)
	for i, v := range out {
		if v.shape == pyUnknown {
			out[i].text = name
		}
	}
	return out
}

func nameOf(e *pyExpr) string {
	switch e.form {
	case pyNameForm, pyAttributeForm:
		return e.text
	}
	return "value"
}

// mentions says whether an expression reads a name.
func mentions(e *pyExpr, name string, depth int) bool {
	if e == nil || depth > maxPyDepth {
		return false
	}
	if e.form == pyNameForm && e.text == name {
		return true
	}
	return slices.ContainsFunc(e.kids, func(kid *pyExpr) bool { return mentions(kid, name, depth+1) })
}

// itemsAt are the values at one place of lists.
func itemsAt(vs pyValues, i int, name string) pyValues {
	var out pyValues
	for _, v := range vs {
		if v.shape == pyList && i < len(v.items) && !v.open {
			out = out.with(v.items[i])
			continue
		}
		out = out.with(pyHidden(name, v.allTaint()))
	}
	return out
}

func (w *pyWalk) variable(sc *pyScope, name string) *pyVariable {
	v := sc.vars[name]
	if v == nil {
		v = &pyVariable{}
		sc.vars[name] = v
	}
	return v
}

func (w *pyWalk) set(name string, vs pyValues) {
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
func (w *pyWalk) learn(known *pyValues, vs pyValues) {
	before := *known
	*known = before.with(vs)
	if len(*known) != len(before) || len(before) == maxPyValues && !slices.EqualFunc(before, *known, pyValue.same) {
		w.grew = true
		if w.settling {
			*known = known.with(pyHidden("value", vs.tainted()))
		}
	}
}

func (w *pyWalk) setAttribute(target *pyExpr, vs pyValues) {
	base := w.value(target.kids[0])
	for _, b := range base {
		if b.shape == pySymbol {
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
func (w *pyWalk) learnAttribute(name string, vs pyValues) {
	known := w.attributes[name]
	w.learn(&known, vs)
	w.attributes[name] = known
}

func (w *pyWalk) setItem(target *pyExpr, vs pyValues) {
	for _, b := range w.value(target.kids[0]) {
		if b.shape == pySymbol && b.text == "os.environ" {
			if name, ok := w.value(target.kids[1]).only(); ok {
				w.setVariable(name, vs)
			}
			continue
		}
		if b.shape == pySymbol && (dangerousModules[b.text] || b.text == "globals()" || b.text == "locals()") {
			w.hide()
		}
	}
	w.value(target.kids[1])
	w.escape(vs)
	if target.kids[0].form == pyNameForm {
		w.loosen(target.kids[0].text)
	}
}

// loosen notes that a list or dictionary was changed in a way that is not followed.
func (w *pyWalk) loosen(name string) {
	vs, _ := w.lookup(name)
	var out pyValues
	for _, v := range vs {
		if v.shape == pyList || v.shape == pyDict {
			v = pyValue{shape: v.shape, items: v.items, open: true, Taint: v.Taint}
			if v.shape == pyList {
				v = pyValue{shape: pyUnknown, text: name, Taint: v.Taint}
			}
		}
		out = out.with(pyValues{v})
	}
	if len(vs) > 0 {
		w.set(name, out)
	}
}

// lookup is what a name may hold; it is false for a name that nothing assigns.
func (w *pyWalk) lookup(name string) (pyValues, bool) {
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

func (w *pyWalk) importModules(s *pyStatement) {
	for _, m := range s.modules {
		w.imported(m.name)
		if m.as != "" {
			w.set(m.as, pySymbols(m.name))
			continue
		}
		top, _, _ := strings.Cut(m.name, ".")
		w.set(top, pySymbols(top))
	}
}

func (w *pyWalk) importFrom(s *pyStatement) {
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
		w.set(m.as, pySymbols(name))
	}
}

func (w *pyWalk) conditional(s *pyStatement) {
	w.computeAll(s.exprs)
	loop := s.act == pyRepeat
	if loop {
		w.repeats++
		defer func() { w.repeats-- }()
	}
	w.inside(loop, func() {
		for _, t := range s.targets {
			w.assign(t, pyHidden(t.text, value.Taint{}), nil)
		}
		w.statements(s.body)
	})
}

// inside walks what may run, or may run again.
func (w *pyWalk) inside(loop bool, body func()) {
	w.nested++
	if loop {
		w.loops++
		defer func() { w.loops-- }()
	}
	body()
	w.nested--
}

func (w *pyWalk) loop(s *pyStatement) {
	source := w.value(s.exprs[0])
	w.escape(source)
	w.inside(true, func() {
		w.assign(s.targets[0], elements(source, nameOf(s.targets[0])), nil)
		w.statements(s.body)
	})
}

// elements are the values that a loop over vs gives.
func elements(vs pyValues, name string) pyValues {
	var out pyValues
	for _, v := range vs {
		if v.shape != pyList || v.open {
			out = out.with(pyHidden(name, v.allTaint()))
		}
		if v.shape == pyList {
			for _, item := range v.items {
				out = out.with(item)
			}
		}
	}
	return out
}

func (w *pyWalk) with(s *pyStatement) {
	for i, e := range s.exprs {
		vs := w.value(e)
		if t := s.targets[i]; t != nil {
			w.assign(t, vs, nil)
		}
	}
	w.statements(s.body)
}

func (w *pyWalk) giveBack(s *pyStatement) {
	vs := w.value(s.exprs[0])
	if w.function == nil {
		w.escape(vs)
		return
	}
	w.learn(&w.function.returns, vs)
}

func (w *pyWalk) declareGlobal(s *pyStatement) {
	for _, name := range s.names {
		if w.scope.global == nil {
			w.scope.global = map[string]bool{}
		}
		w.scope.global[name] = true
	}
}
