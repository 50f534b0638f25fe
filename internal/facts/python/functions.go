package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// define reads a function's body with what its parameters may hold.
func (w *walk) define(s *syntax.Statement) {
	for _, e := range s.Params.Computed {
		w.escape(w.value(e))
	}
	f := w.functionOf(s)
	f.escaped = f.escaped || s.Decorated && !w.scope.class
	w.set(s.Text, objects{{shape: isCallable, function: f}})
	w.body(f, s.Body)
}

func (w *walk) functionOf(s *syntax.Statement) *function {
	f := w.functions[s]
	if f == nil {
		f = &function{define: s, scope: w.newScope(s), method: w.scope.class}
		f.escaped = f.method && strings.HasPrefix(s.Text, "__") && s.Text != "__init__"
		w.functions[s] = f
		if f.method {
			w.methods[s.Text] = append(w.methods[s.Text], f)
		}
	}
	return f
}

func (w *walk) newScope(s *syntax.Statement) *scope {
	sc := w.scopes[s]
	if sc == nil {
		sc = &scope{vars: map[string]*variable{}, parent: w.scope, class: s.Act == syntax.ActClass}
		w.scopes[s] = sc
	}
	return sc
}

func (w *walk) body(f *function, body []*syntax.Statement) {
	sc, nested, loops, function := w.scope, w.nested, w.loops, w.function
	w.scope, w.nested, w.loops, w.function = f.scope, 0, 0, f
	f.scope.forget()
	w.parameters(f)
	w.statements(body)
	w.scope, w.nested, w.loops, w.function = sc, nested, loops, function
}

// parameters give each parameter what the calls in the program give it.
func (w *walk) parameters(f *function) {
	for i, name := range f.define.Params.Names {
		plain := strings.TrimLeft(name, "*")
		v := w.variable(f.scope, plain)
		v.loose = true
		var vs objects
		if fallback := f.define.Params.Defaults[i]; fallback != nil {
			vs = w.value(fallback)
		}
		if f.escaped || strings.HasPrefix(name, "**") || f.method && i == 0 {
			vs = vs.with(hidden(plain, value.Taint{}))
		}
		held(v, vs)
		w.learn(&v.ever, vs)
	}
}

// apply calls a function of the program.
func (w *walk) apply(f *function, c *call) objects {
	if f.class {
		w.construct(f, c)
		return objects{{shape: isInstance, text: "." + f.define.Text}}
	}
	names := f.define.Params.Names
	if f.method && len(names) > 0 {
		names = names[1:]
	}
	w.passPlaces(f, names, c.args)
	for name, vs := range c.keywords {
		w.pass(f, name, vs)
	}
	if c.open {
		for _, name := range names {
			w.pass(f, strings.TrimLeft(name, "*"), hidden(strings.TrimLeft(name, "*"), value.Taint{}))
		}
	}
	return f.gives()
}

// construct calls the constructor of a class, which may be that of one from which the class derives. One that the program does
// not define gives its arguments to attributes, as that of a dataclass does.
func (w *walk) construct(f *function, c *call) {
	if init := f.constructor(0); init != nil {
		w.apply(init, c)
		return
	}
	c.escapeAll(w)
	for name, vs := range c.keywords {
		w.learnAttribute(name, vs)
	}
	if len(c.args) > 0 || c.open {
		w.attributesChange()
	}
}

func (f *function) constructor(depth int) *function {
	if init := f.members["__init__"]; init != nil || depth > maxNested {
		return init
	}
	for _, base := range f.bases {
		if init := base.constructor(depth + 1); init != nil {
			return init
		}
	}
	return nil
}

// gives is what a call of a function returns.
func (f *function) gives() objects {
	if !f.yielding {
		return f.returns
	}
	given := f.yields.with(hidden("value", f.yields.tainted()))
	return f.returns.with(objects{{shape: isList, items: []objects{given}, open: true}})
}

// yields learns what a generator gives; a value that is not known is no news.
func (w *walk) yields(word string, vs objects) {
	if w.function == nil || word != "yield" && word != "yield from" {
		return
	}
	if w.function.yielding = true; word == "yield from" {
		vs = elements(vs, "value")
	}
	share(vs)
	var known objects
	for _, v := range vs {
		flat := !slices.ContainsFunc(v.items, func(item objects) bool {
			return slices.ContainsFunc(item, func(o object) bool { return len(o.items) > 0 })
		})
		if v.shape != isUnknown && flat {
			known = known.with(objects{v})
		}
	}
	w.learn(&w.function.yields, known)
}

// passPlaces gives arguments to parameters by their places; *rest gets a list.
func (w *walk) passPlaces(f *function, names []string, args []objects) {
	for i, name := range names {
		switch {
		case strings.HasPrefix(name, "**"):
		case strings.HasPrefix(name, "*"):
			rest := object{shape: isList, items: args[min(i, len(args)):]}
			for _, vs := range rest.items {
				share(vs)
			}
			w.pass(f, name[1:], w.bounded(objects{rest}))
			return
		case i < len(args):
			w.pass(f, name, args[i])
		}
	}
	for _, vs := range args[min(len(names), len(args)):] {
		w.escape(vs)
	}
}

func (w *walk) pass(f *function, name string, vs objects) {
	if v := f.scope.vars[name]; v != nil {
		held(v, vs)
		w.learn(&v.ever, vs)
		return
	}
	w.escape(vs)
}

func (w *walk) defineClass(s *syntax.Statement) {
	derived, base := false, ""
	var classes []*function
	for _, e := range s.Exprs {
		bases := w.value(e)
		w.escape(bases)
		for _, b := range bases {
			if b.shape == isSymbol {
				base = b.text
			}
			derived = derived || b.shape != isCallable && b.text != "object"
			if b.shape == isCallable && b.function.class {
				classes = append(classes, b.function)
			}
		}
	}
	f := w.functions[s]
	if f == nil {
		f = &function{define: s, scope: w.newScope(s), class: true, members: map[string]*function{}}
		w.functions[s] = f
	}
	f.base, f.bases = base, classes
	w.set(s.Text, objects{{shape: isCallable, function: f}})
	sc := w.scope
	w.scope = f.scope
	f.scope.forget()
	w.statements(s.Body)
	w.scope = sc
	w.members(f, s.Body, derived)
}

// members are a class's methods. Those of a class that derives from something
// unknown may be called by that.
func (w *walk) members(f *function, body []*syntax.Statement, derived bool) {
	for _, s := range body {
		m := w.functions[s]
		if m == nil || m.class {
			continue
		}
		f.members[s.Text] = m
		if derived && s.Text != "__init__" && !m.escaped {
			m.escaped, w.grew = true, true
		}
	}
}
