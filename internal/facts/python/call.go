package python

import (
	"maps"
	"slices"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// call is what a call is given.
type call struct {
	name     string
	args     []objects
	keywords map[string]objects
	// open says that there may be more arguments.
	open bool
	// self says that a method hands on its own object, or class.
	self bool
}

// all are all arguments.
func (c *call) all() []objects {
	return slices.AppendSeq(slices.Clone(c.args), maps.Values(c.keywords))
}

// arg is the argument at a place or under a name.
func (c *call) arg(i int, name string) (objects, bool) {
	if vs, ok := c.keywords[name]; ok && name != "" {
		return vs, true
	}
	if i >= 0 && i < len(c.args) {
		return c.args[i], true
	}
	if c.open {
		return hidden("value", value.Taint{}), true
	}
	return nil, false
}

// first is the argument that a call is about.
func (c *call) first() objects {
	if len(c.args) > 0 {
		return c.args[0]
	}
	return nil
}

func (c *call) tainted() value.Taint {
	var all value.Taint
	for _, vs := range c.args {
		all = all.With(vs.tainted())
	}
	for _, vs := range c.keywords {
		all = all.With(vs.tainted())
	}
	return all
}

// escapeAll notes that all arguments went into code that is not followed.
func (c *call) escapeAll(w *walk) {
	for _, vs := range c.args {
		w.escape(vs)
	}
	for _, vs := range c.keywords {
		w.escape(vs)
	}
}

func (w *walk) call(e *syntax.Expression) objects {
	callee := e.Kids[0]
	if callee.Form == syntax.AttributeForm {
		return w.callMember(callee, e)
	}
	callees := w.value(callee)
	c := w.arguments(e)
	var out objects
	for _, v := range callees {
		out = out.with(w.callValue(v, c))
	}
	return out
}

func (w *walk) callMember(callee, e *syntax.Expression) objects {
	base := w.value(callee.Kids[0])
	if revealing[callee.Text] {
		w.dynamic()
	}
	c := w.arguments(e)
	var out objects
	for _, b := range base {
		if reveals(b, callee.Text) {
			w.dynamic()
		}
		switch {
		case b.shape == isSymbol:
			out = out.with(w.callSymbol(canonical(b.text+"."+callee.Text), c))
		case b.shape == isCallable && b.function.class && b.function.scope.vars[callee.Text] != nil:
			for _, m := range w.classMember(b.function, callee.Text) {
				out = out.with(w.callValue(m, c))
			}
		default:
			out = out.with(w.method(b, callee, c))
		}
	}
	return out
}

func (w *walk) callValue(v object, c *call) objects {
	switch {
	case v.shape == isSymbol:
		return w.callSymbol(v.text, c)
	case v.shape == isCallable:
		return w.apply(v.function, c)
	case v.shape == isInstance && v.text == "getattr":
		w.dynamic()
	}
	c.escapeAll(w)
	w.handOn(&call{args: c.args, keywords: c.keywords, self: c.self})
	return hidden("value", v.Taint.With(c.tainted()))
}

func (w *walk) arguments(e *syntax.Expression) *call {
	c := &call{keywords: map[string]objects{}}
	for i, name := range e.Names {
		kid := e.Kids[i+1]
		c.self = c.self || kid.Form == syntax.NameForm && (kid.Text == "self" || kid.Text == "cls")
		vs := w.value(kid)
		switch name {
		case "":
			c.args = append(c.args, vs)
		case "*":
			c.spread(vs)
		case "**":
			c.spreadNamed(w, vs)
		default:
			c.keywords[name] = vs
		}
	}
	return c
}

func (c *call) spread(vs objects) {
	if len(vs) == 1 && vs[0].shape == isList && !vs[0].open {
		c.args = append(c.args, vs[0].items...)
		return
	}
	c.args = append(c.args, elements(vs, "value"))
	c.open = true
}

func (c *call) spreadNamed(w *walk, vs objects) {
	for _, v := range vs {
		if v.shape != isDict || v.open {
			c.open = true
		}
		for i := 0; v.shape == isDict && i+1 < len(v.items); i += 2 {
			if name, ok := v.items[i].only(); ok {
				c.keywords[name] = c.keywords[name].with(v.items[i+1])
			} else {
				c.open = true
			}
		}
		if v.shape == isSymbol {
			w.escape(vs)
		}
	}
}

// callSymbol is a call of something imported or built in.
func (w *walk) callSymbol(name string, c *call) objects {
	c.name = name
	w.note(&w.notes.calls, name)
	if vs, ok := w.namespaceMethod(name, c); ok {
		return vs
	}
	w.network(c)
	w.harm(c)
	d, known := behaviours()[name]
	if !known {
		d = behaviourOfModule(name)
	}
	if d.kind != doesNothing && d.kind > doesRunPathRest {
		for _, vs := range c.keywords {
			w.escapeSome(vs)
		}
	}
	return w.do(d, c)
}
