package python

import (
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// variable is what a name may hold.
type variable struct {
	// now is what it holds here, ever what it holds anywhere; loose says that a
	// loop or another function assigns it, so that it may hold any of these here.
	now, ever objects
	loose     bool
}

// function is a function, or a class by its constructor.
type function struct {
	define  *syntax.Statement
	scope   *scope
	method  bool
	class   bool
	members map[string]*function
	// base is what a class derives from, as far as it is imported.
	base string
	// bases are those of the program's own.
	bases []*function
	// escaped says that something unknown may call it.
	escaped bool
	returns objects
	// yields are what a generator gives one after the other.
	yields   objects
	yielding bool
}

const (
	maxWalks = 10
	maxSteps = 400_000
)

func newWalk(at value.Place, shell func(string, value.Place) value.Command) *walk {
	return &walk{
		at: at, readShell: shell, notes: newNotes(),
		scopes: map[*syntax.Statement]*scope{}, functions: map[*syntax.Statement]*function{},
		methods: map[string][]*function{}, attributes: map[string]objects{},
		nestedPrograms: map[string]*program{}, links: map[string]string{}, made: map[*syntax.Expression]*made{},
	}
}

// program walks until nothing more is learnt, and then once more to note.
func (w *walk) program(body []*syntax.Statement) {
	top := &scope{vars: map[string]*variable{}}
	for i := range maxWalks {
		w.settling, w.named = i > maxWalks/2, i > 0
		w.once(top, body)
		if !w.grew && w.named || w.exhausted {
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

func (w *walk) once(top *scope, body []*syntax.Statement) {
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

func (w *walk) statements(all []*syntax.Statement) {
	for _, s := range all {
		if !w.spend() {
			return
		}
		w.statement(s)
	}
}

func (w *walk) statement(s *syntax.Statement) {
	switch s.Act {
	case syntax.ActCompute:
		w.computeAll(s.Exprs)
		w.forksOn(s)
		if s.Text == "del" {
			w.deleted(s.Exprs, 0)
		}
	case syntax.ActAssign:
		w.assignment(s)
	case syntax.ActImport:
		w.importModules(s)
	case syntax.ActFrom:
		w.importFrom(s)
	case syntax.ActDefine:
		w.define(s)
	case syntax.ActClass:
		w.defineClass(s)
	case syntax.ActIf, syntax.ActRepeat:
		w.conditional(s)
	case syntax.ActFor:
		w.loop(s)
	case syntax.ActWith:
		w.with(s)
	case syntax.ActReturn:
		w.giveBack(s)
	case syntax.ActGlobal:
		w.declareGlobal(s)
	}
}

func (w *walk) computeAll(exprs []*syntax.Expression) {
	for _, e := range exprs {
		if e.Form != syntax.TextForm {
			w.escape(w.value(e))
		}
	}
}

func (w *walk) assignment(s *syntax.Statement) {
	vs := w.value(s.Exprs[0])
	for _, t := range s.Targets {
		if s.Text == "+" && t.Form == syntax.AttributeForm && len(vs) > 0 {
			if at := w.value(t); len(at) == 1 && at[0].shape == isSymbol && at[0].text == "sys.path" {
				w.moduleFolders(elements(vs, "value"))
				continue
			}
		}
		if s.Text == "|" && isEnviron(w.value(t)) {
			w.setEnviron(&call{args: []objects{vs}})
			continue
		}
		if s.Text == "" {
			w.assign(t, vs, s.Exprs[0])
			continue
		}
		old := w.value(t)
		sum := w.operate(s.Text, old, vs)
		if w.loops > 0 {
			sum = sum.with(hidden(nameOf(t), sum.tainted()))
		}
		w.grown(t, old, sum)
		w.assign(t, sum, nil)
	}
}

// grown notes that an assignment such as "a += b" changes what a holds in its place.
func (w *walk) grown(target *syntax.Expression, old, sum objects) {
	if !w.showsIn(target, old) {
		w.lose(old)
	}
	for _, v := range old {
		for i := range sum {
			if v.made != nil && sum[i].changeable() {
				sum[i].made = v.made
			}
		}
	}
}

// assign gives values to a target; from is the expression they came from, if any.
func (w *walk) assign(target *syntax.Expression, vs objects, from *syntax.Expression) {
	switch target.Form {
	case syntax.NameForm:
		if w.loops > 0 && from != nil && mentions(from, target.Text, 0) {
			vs = vs.with(hidden(target.Text, vs.tainted()))
		}
		w.set(target.Text, named(vs, target.Text))
	case syntax.ListForm:
		for i, kid := range target.Kids {
			w.assign(kid, itemsAt(vs, i, nameOf(kid)), nil)
		}
	case syntax.OtherForm:
		for _, kid := range target.Kids {
			w.assign(kid, hidden(nameOf(kid), vs.tainted()), nil)
		}
	case syntax.AttributeForm:
		w.setAttribute(target, vs)
	case syntax.IndexForm:
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

func nameOf(e *syntax.Expression) string {
	switch e.Form {
	case syntax.NameForm, syntax.AttributeForm:
		return e.Text
	}
	return "value"
}

// mentions says whether an expression reads a name.
func mentions(e *syntax.Expression, name string, depth int) bool {
	if e == nil || depth > syntax.MaxDepth {
		return false
	}
	if e.Form == syntax.NameForm && e.Text == name {
		return true
	}
	return slices.ContainsFunc(e.Kids, func(kid *syntax.Expression) bool { return mentions(kid, name, depth+1) })
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
	sc := w.scope.holds(name)
	own := sc == w.scope
	v := w.variable(sc, name)
	held(v, vs)
	if sc.brief {
		v.now = vs
		return
	}
	w.learn(&v.ever, vs)
	if sc.class {
		w.learnAttribute(name, vs)
		w.escapeSpecial(name, vs)
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

// lookup is what a name may hold; it is false for a name that nothing assigns.
func (w *walk) lookup(name string) (objects, bool) {
	here := w.scope.lasting()
	for sc := w.scope; sc != nil; sc = sc.parent {
		if sc == here && sc.global[name] {
			sc = sc.holds(name)
		}
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
