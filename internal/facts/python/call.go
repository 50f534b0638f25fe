package python

import (
	"cmp"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
)

func (w *walk) call(e *syntax.Expression) object.Objects {
	callee := e.Kids[0]
	if callee.Form == syntax.AttributeForm {
		return w.callMember(callee, e)
	}
	callees := w.value(callee)
	c := w.arguments(e)
	var out object.Objects
	for _, v := range callees {
		out = out.With(w.callValue(v, c))
	}
	return out
}

func (w *walk) callMember(callee, e *syntax.Expression) object.Objects {
	base := w.value(callee.Kids[0])
	if library.Revealing[callee.Text] {
		w.dynamic()
	}
	c := w.arguments(e)
	defer w.mutate(base, callee.Text, c)
	var out object.Objects
	for _, b := range base {
		if reveals(b, callee.Text) {
			w.dynamic()
		}
		switch {
		case b.Shape == object.IsSymbol:
			out = out.With(w.callSymbol(library.Canonical(b.Text+"."+callee.Text), c))
		case b.Shape == object.IsCallable && b.Function.Class && b.Function.Scope.Vars[callee.Text] != nil:
			for _, m := range w.classMember(b.Function, callee.Text) {
				out = out.With(w.callValue(m, c))
			}
		default:
			out = out.With(w.method(b, callee, c))
		}
	}
	return out
}

func (w *walk) callValue(v object.Object, c *object.Call) object.Objects {
	switch {
	case v.Shape == object.IsSymbol:
		return w.callSymbol(v.Text, c)
	case v.Shape == object.IsCallable:
		return w.apply(v.Function, c)
	case v.Shape == object.IsInstance && v.Text == "getattr":
		w.dynamic()
	}
	w.suppose(cmp.Or(v.Text, "value"), c)
	w.escapeAll(c)
	w.handOn("", c)
	return object.Hidden("value", v.Taint.With(c.Tainted()))
}

func (w *walk) arguments(e *syntax.Expression) *object.Call {
	c := &object.Call{Args: make([]object.Objects, 0, len(e.Names))}
	for i, name := range e.Names {
		kid := e.Kids[i+1]
		c.Self = c.Self || kid.Form == syntax.NameForm && (kid.Text == "self" || kid.Text == "cls")
		vs := w.value(kid)
		switch name {
		case "":
			c.Args = append(c.Args, vs)
		case "*":
			c.Spread(vs)
		case "**":
			w.spreadNamed(c, vs)
		default:
			c.Give(name, vs)
		}
	}
	return c
}

// callSymbol is a call of something imported or built in.
func (w *walk) callSymbol(name string, c *object.Call) object.Objects {
	c.Name = name
	w.note(&w.notes.calls, name)
	if vs, ok := w.namespaceMethod(name, c); ok {
		return vs
	}
	w.network(c)
	w.harm(c)
	w.fillOpen(c)
	d, known := library.Behaviours()[name]
	if !known {
		d = w.likely(name, c)
	}
	if d.Kind != library.DoesNothing && d.Kind > library.DoesRunPathRest {
		for _, vs := range c.Named() {
			w.escapeSome(vs)
		}
	}
	return w.do(d, c)
}

// escapeAll notes that all arguments went into code that is not followed.
func (w *walk) escapeAll(c *object.Call) {
	for _, vs := range c.Args {
		w.escape(vs)
	}
	for _, vs := range c.Named() {
		w.escape(vs)
	}
}

func (w *walk) spreadNamed(c *object.Call, vs object.Objects) {
	for _, v := range vs {
		if v.Shape != object.IsDict || v.Open {
			c.Open = true
		}
		for i := 0; v.Shape == object.IsDict && i+1 < len(v.Items); i += 2 {
			if name, ok := v.Items[i].Only(); ok {
				c.Give(name, c.Keywords[name].With(v.Items[i+1]))
			} else {
				c.Open = true
			}
		}
		if v.Shape == object.IsSymbol {
			w.escape(vs)
		}
	}
}

// likely is what a call of a name does that no table has.
func (w *walk) likely(name string, c *object.Call) library.Behaviour {
	d := library.BehaviourOfModule(name)
	if d.Kind != library.DoesNothing || library.Describes(name) || isTool(name) {
		return d
	}
	w.suppose(name, c)
	w.wordsTell(name, c)
	d, like := library.Alike(name)
	if like != name {
		c.Name = like
		w.note(&w.notes.calls, like)
	}
	return d
}
