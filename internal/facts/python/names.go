package python

import (
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

const (
	maxWalks = 10
	maxSteps = 400_000
)

func newWalk(at value.Place, shell func(string, value.Place) value.Command) *walk {
	return &walk{
		at: at, readShell: shell, notes: newNotes(),
		scopes: map[*syntax.Statement]*object.Scope{}, functions: map[*syntax.Statement]*object.Function{},
		methods: map[string][]*object.Function{}, attributes: map[string]object.Objects{},
		nestedPrograms: map[string]*program{}, links: map[string]string{}, made: map[maker]*object.Made{},
	}
}

// program walks until nothing more is learnt, and then once more to note.
func (w *walk) program(body []*syntax.Statement) {
	top := &object.Scope{Vars: map[string]*object.Variable{}}
	for i := range maxWalks {
		w.settling, w.named = i > maxWalks/2, i > 0
		w.once(top, body)
		if !w.grew && (w.named || !w.early) || w.exhausted {
			break
		}
	}
	// What still changes is not known.
	changes := w.grew
	w.noting, w.named = true, true
	w.once(top, body)
	if changes || w.exhausted {
		w.hide()
	}
}

func (w *walk) once(top *object.Scope, body []*syntax.Statement) {
	at := w.at
	w.scope, w.grew, w.steps, w.stars = top, false, 0, nil
	top.Forget()
	w.statements(body)
	w.at = at
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
			continue
		}
		w.textStatement(e.Text)
	}
}

func (w *walk) assignment(s *syntax.Statement) {
	vs := w.value(s.Exprs[0])
	for _, t := range s.Targets {
		if s.Text == "+" && t.Form == syntax.AttributeForm && len(vs) > 0 {
			if at := w.value(t); len(at) == 1 && at[0].Shape == object.IsSymbol && at[0].Text == "sys.path" {
				w.moduleFolders(object.Elements(vs, "value"))
				continue
			}
		}
		if s.Text == "|" && object.IsEnviron(w.value(t)) {
			w.setEnviron(&object.Call{Args: []object.Objects{vs}})
			continue
		}
		if s.Text == "" {
			w.assign(t, vs, s.Exprs[0])
			continue
		}
		w.augment(s.Text, t, vs)
	}
}

// augment is target op= values: what can be changed in its place is.
func (w *walk) augment(op string, target *syntax.Expression, vs object.Objects) {
	old := w.value(target)
	var things, rest object.Objects
	for _, v := range old {
		if v.Made != nil && v.Changeable() {
			things = append(things, v)
		} else {
			rest = append(rest, v)
		}
	}
	if len(things) > 0 {
		w.escapeSome(vs)
		w.change(things, func(shape object.Shape) object.Change {
			switch {
			case op == "+" && shape == object.IsList:
				return object.Change{Kind: object.Add, Values: vs, Each: true}
			case op == "|":
				return object.ByMethod(shape, "__ior__", []object.Objects{vs})
			}
			return object.Change{}
		})
		things = w.known(things, 0)
	}
	if len(rest) > 0 || len(old) == 0 {
		rest = w.operate(op, rest, vs)
		if w.loops > 0 {
			rest = rest.With(object.Hidden(nameOf(target), rest.Tainted()))
		}
	}
	w.assign(target, things.With(rest), nil)
}

// assign gives values to a target; from is the expression they came from, if any.
func (w *walk) assign(target *syntax.Expression, vs object.Objects, from *syntax.Expression) {
	switch target.Form {
	case syntax.NameForm:
		if w.loops > 0 && from != nil && syntax.Mentions(from, target.Text, 0) {
			vs = vs.With(object.Hidden(target.Text, vs.Tainted()))
		}
		w.set(target.Text, object.Named(vs, target.Text))
	case syntax.ListForm:
		for i, kid := range target.Kids {
			w.assign(kid, object.ItemsAt(vs, i, nameOf(kid)), nil)
		}
	case syntax.OtherForm:
		for _, kid := range target.Kids {
			w.assign(kid, object.Hidden(nameOf(kid), vs.Tainted()), nil)
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

func nameOf(e *syntax.Expression) string {
	switch e.Form {
	case syntax.NameForm, syntax.AttributeForm:
		return e.Text
	}
	return "value"
}

func (w *walk) variable(sc *object.Scope, name string) *object.Variable {
	v := sc.Vars[name]
	if v == nil {
		v = &object.Variable{}
		sc.Vars[name] = v
	}
	return v
}

func (w *walk) set(name string, vs object.Objects) {
	sc := w.scope.Holds(name)
	own := sc == w.scope
	v := w.variable(sc, name)
	vs = w.things(maker{v, 0}, vs)
	if sc.Brief {
		v.Now = vs
		return
	}
	w.learn(&v.Ever, vs)
	if sc.Class {
		w.learnAttribute(name, vs)
		w.escapeSpecial(name, vs)
	}
	if !own {
		w.leak(vs)
	}
	v.Loose = v.Loose || !own || w.loops > 0
	if !own || w.within > 0 {
		v.Now = v.Now.With(vs)
		return
	}
	v.Now = vs
}

// learn adds values to what is known for the whole program.
func (w *walk) learn(known *object.Objects, vs object.Objects) {
	before := *known
	*known = before.With(vs)
	if len(*known) != len(before) || len(before) == object.MaxValues && !slices.EqualFunc(before, *known, object.Object.Same) {
		w.grew = true
		if w.settling {
			*known = known.With(object.Hidden("value", vs.Tainted()))
		}
	}
}

// lookup is what a name may hold; it is false for a name that nothing assigns.
func (w *walk) lookup(name string) (object.Objects, bool) {
	here := w.scope.Lasting()
	for sc := w.scope; sc != nil; sc = sc.Parent {
		if sc == here && sc.Global[name] {
			sc = sc.Holds(name)
		}
		v := sc.Vars[name]
		if v == nil || sc.Class && sc != here {
			continue
		}
		if (sc == here || sc.Brief) && !v.Loose && v.Now != nil {
			return v.Now, true
		}
		return v.Ever.With(v.Now), true
	}
	return nil, false
}
