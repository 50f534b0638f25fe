package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

// maker is where a thing is made: an expression or a variable, or so deep in what that makes.
type maker struct {
	by    any
	depth int
}

// identified gives the things that an expression makes their identity.
func (w *walk) identified(e *syntax.Expression, vs object.Objects) object.Objects {
	switch e.Form {
	case syntax.NameForm, syntax.AttributeForm, syntax.NamedForm, syntax.ChoiceForm:
		return vs
	case syntax.IndexForm:
		if e.Kids[1].Form != syntax.SliceForm {
			return vs
		}
	}
	return w.things(maker{e, 0}, vs)
}

// things gives values that can be changed in their place the identity of what is made here.
func (w *walk) things(by maker, vs object.Objects) object.Objects {
	var begun object.Objects
	own := vs
	for i := range vs {
		v := &vs[i]
		if v.Made != nil {
			continue
		}
		if by.depth < maxWithin && len(v.Items) > 0 {
			w.thingsWithin(by, v)
		}
		if !v.Changeable() {
			continue
		}
		if begun == nil {
			own = slices.Clone(vs)
		}
		own[i].Made = w.thing(by)
		begun = append(begun, own[i])
	}
	if begun != nil && w.made[by].Begin(begun) {
		w.grew = true
		if w.settling {
			w.giveUp(w.made[by])
		}
	}
	return own
}

func (w *walk) thingsWithin(by maker, v *object.Object) {
	for i, item := range v.Items {
		for j := range item {
			if one := &item[j]; one.Made == nil && (one.Changeable() || len(one.Items) > 0) {
				v.Items[i] = w.things(maker{by.by, by.depth + 1}, item)
				break
			}
		}
	}
}

func (w *walk) thing(by maker) *object.Made {
	m := w.made[by]
	if m == nil {
		m = object.NewMade(w.scope.Lasting())
		w.made[by] = m
	}
	m.Many = m.Many || w.loops > 0 || by.depth > 0
	return m
}

// follows says that the changes of a thing are followed in their order here.
func (w *walk) follows(m *object.Made) bool {
	return !m.Many && !m.Loose && !m.Lost && m.Scope == w.scope.Lasting() && (m.Scope.Parent == nil || !m.Leaked)
}

// leak notes that something outside of its scope holds a thing.
func (w *walk) leak(vs object.Objects) { w.leakDeep(vs, 0) }

func (w *walk) leakDeep(vs object.Objects, depth int) {
	if depth > maxWithin || !w.spend() {
		return
	}
	for _, v := range vs {
		if m := v.Made; m != nil && !m.Leaked {
			m.Leaked, w.grew = true, true
			w.leakDeep(m.Holds(false), depth+1)
		}
		if !v.HoldsThings() {
			continue
		}
		for _, item := range v.Items {
			w.leakDeep(item, depth+1)
		}
	}
}

// change makes a change of the thing that values are, or of each that they may be.
func (w *walk) change(vs object.Objects, by func(object.Shape) object.Change) {
	certain := w.within == 0 && sameThing(vs)
	for i, v := range vs {
		earlier := slices.ContainsFunc(vs[:i], func(o object.Object) bool { return o.Made == v.Made })
		switch {
		case v.Made == nil && v.Changeable(): // it is not known where this is made
			w.hide()
		case v.Made != nil && !earlier:
			w.changeOne(v.Made, by(v.Shape), certain)
		}
	}
}

func sameThing(vs object.Objects) bool {
	return !slices.ContainsFunc(vs, func(v object.Object) bool { return v.Made != vs[0].Made })
}

func (w *walk) changeOne(m *object.Made, c object.Change, certain bool) {
	followed := w.loops == 0 && w.follows(m)
	if !followed && !m.Loose {
		m.Loose, w.grew = true, true
	}
	if m.Leaked || !followed || m.Scope.Parent == nil {
		w.leak(c.Values)
	}
	w.changing = true
	if m.Change(c, followed, certain) {
		w.grew = true
		if w.settling {
			w.giveUp(m)
		}
	}
}

func (w *walk) giveUp(m *object.Made) {
	if !m.Lost {
		m.Lost, m.Changed, w.grew, w.changing = true, true, true, true
	}
}

// lose notes that values were changed in a way that is not followed, or may be.
func (w *walk) lose(vs object.Objects) {
	for i := range vs {
		m := vs[i].Made
		w.early = w.early || m != nil
		if m != nil && w.named {
			w.giveUp(m)
		}
	}
}

// loseAll is lose for values and what is in them.
func (w *walk) loseAll(vs object.Objects, depth int) {
	if depth > syntax.MaxDepth || !w.spend() {
		return
	}
	w.lose(vs)
	w.loseInside(vs, depth)
}

func (w *walk) loseInside(vs object.Objects, depth int) {
	for _, v := range vs {
		for _, item := range v.Items {
			w.loseAll(item, depth+1)
		}
	}
}

// known are values with what the things among them and in them hold here.
func (w *walk) known(vs object.Objects, depth int) object.Objects {
	if !w.changing {
		return vs
	}
	var out object.Objects
	for i, v := range vs {
		changed := v.Made != nil && (v.Made.Changed || v.Reference)
		if out == nil {
			if !changed && !v.HoldsThings() {
				continue
			}
			out = slices.Clone(vs[:i])
		}
		switch {
		case changed:
			out = out.With(w.contents(v, depth))
		case v.HoldsThings():
			out = out.With(object.Objects{w.withContents(v, depth)})
		default:
			out = out.With(object.Objects{v})
		}
	}
	if out == nil {
		return vs
	}
	return out
}

// contents are what a thing may hold here. One that is lost may hold something else, too.
func (w *walk) contents(v object.Object, depth int) object.Objects {
	m := v.Made
	if m.Busy || depth > 2*maxWithin || !w.spend() {
		return object.Objects{object.UnknownThing(v)}
	}
	m.Busy = true
	holds := m.Holds(w.follows(m))
	if len(holds) == 0 {
		holds = m.Holds(false)
	}
	var out object.Objects
	for _, h := range holds {
		h.Made, h.Open = m, h.Open || m.Lost && h.Shape == object.IsDict
		h.Taint = h.Taint.With(v.Taint)
		out = out.With(object.Objects{w.withContents(h, depth)})
	}
	m.Busy = false
	if m.Lost && v.Shape != object.IsDict {
		out = out.With(object.Objects{object.UnknownThing(v)})
	}
	return out
}

func (w *walk) withContents(v object.Object, depth int) object.Object {
	for i, item := range v.Items {
		if i == 0 {
			v.Items = slices.Clone(v.Items)
		}
		v.Items[i] = w.known(item, depth+1)
	}
	w.steps += len(v.Items) / 16
	return v
}

// handOn notes what code of a name that is not followed may change of its arguments: what they hold, and the attributes of classes and of
// their instances.
func (w *walk) handOn(name string, c *object.Call) {
	if library.KeepsNothing(name) || name == "type" && len(c.Args) == 1 {
		return
	}
	if method, rest, ok := object.Changers(name, c.Args); ok {
		w.change(c.Args[0], func(shape object.Shape) object.Change { return object.ByMethod(shape, method, rest) })
		return
	}
	few := library.GivesItems[name] || strings.HasPrefix(name, "itertools.")
	for _, vs := range c.Args {
		w.handOnOne(vs, c, few)
	}
	for _, vs := range c.Named() {
		w.handOnOne(vs, c, few)
	}
	if c.Self && !few {
		w.attributesChange()
	}
}

// handOnOne is handOn for one argument; few says that the code changes only what is in it.
func (w *walk) handOnOne(vs object.Objects, c *object.Call, few bool) {
	if few {
		w.loseInside(vs, 0)
	} else {
		w.loseAll(vs, 0)
	}
	w.openAttributes(vs, c, 0)
}

// openAttributes notes that code which is not followed was given a class of the program, an instance of one, or the name of one.
func (w *walk) openAttributes(vs object.Objects, c *object.Call, depth int) {
	if depth > syntax.MaxDepth || !w.spend() {
		return
	}
	for _, v := range vs {
		switch {
		case v.Shape == object.IsCallable && v.Function.Class, v.Shape == object.IsInstance && strings.HasPrefix(v.Text, "."):
			w.attributesChange()
		case v.Shape == object.IsString && strings.HasPrefix(v.Text, "__main__."):
			w.hide()
		}
		for _, item := range v.Items {
			w.openAttributes(item, c, depth+1)
		}
	}
}

// attributesChange notes that attributes may hold what nothing in the program assigns to them by their names.
func (w *walk) attributesChange() {
	w.early = true
	if !w.attributesOpen && w.named {
		w.attributesOpen, w.grew = true, true
	}
}
