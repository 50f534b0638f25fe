package python

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// define reads a function's body with what its parameters may hold.
func (w *walk) define(s *syntax.Statement) {
	w.computeAll(s.Params.Computed)
	f := w.functionOf(s)
	f.Escaped = f.Escaped || s.Decorated && !w.scope.Class
	w.set(s.Text, object.Objects{{Shape: object.IsCallable, Function: f}})
	w.body(f, s.Body)
}

func (w *walk) functionOf(s *syntax.Statement) *object.Function {
	f := w.functions[s]
	if f == nil {
		f = &object.Function{Define: s, Scope: w.newScope(s), Method: w.scope.Class}
		f.Escaped = f.Method && strings.HasPrefix(s.Text, "__") && s.Text != "__init__"
		w.functions[s] = f
		if f.Method {
			w.methods[s.Text] = append(w.methods[s.Text], f)
		}
	}
	return f
}

func (w *walk) newScope(s *syntax.Statement) *object.Scope {
	sc := w.scopes[s]
	if sc == nil {
		sc = &object.Scope{Vars: map[string]*object.Variable{}, Parent: w.scope, Class: s.Act == syntax.ActClass}
		w.scopes[s] = sc
	}
	return sc
}

func (w *walk) body(f *object.Function, body []*syntax.Statement) {
	sc, within, loops, function := w.scope, w.within, w.loops, w.function
	w.scope, w.within, w.loops, w.function = f.Scope, 0, 0, f
	f.Scope.Forget()
	w.parameters(f)
	w.statements(body)
	w.scope, w.within, w.loops, w.function = sc, within, loops, function
}

// parameters give each parameter what the calls in the program give it.
func (w *walk) parameters(f *object.Function) {
	for i, name := range f.Define.Params.Names {
		plain := strings.TrimLeft(name, "*")
		v := w.variable(f.Scope, plain)
		var vs object.Objects
		if fallback := f.Define.Params.Defaults[i]; fallback != nil {
			vs = w.value(fallback)
			w.leak(vs)
		}
		if f.Escaped || strings.HasPrefix(name, "**") || f.Method && i == 0 {
			vs = vs.With(object.Hidden(plain, value.Taint{}))
		}
		w.give(v, vs)
		v.Now = v.Given
	}
}

// give gives a parameter values.
func (w *walk) give(v *object.Variable, vs object.Objects) {
	vs = w.things(maker{v, 0}, vs)
	w.learn(&v.Given, vs)
	w.learn(&v.Ever, vs)
}

// apply calls a function of the program.
func (w *walk) apply(f *object.Function, c *object.Call) object.Objects {
	if f.Class {
		w.construct(f, c)
		return object.Objects{{Shape: object.IsInstance, Text: "." + f.Define.Text}}
	}
	names := f.Define.Params.Names
	if f.Method && len(names) > 0 {
		names = names[1:]
	}
	w.passPlaces(f, names, c.Args)
	for name, vs := range c.Named() {
		w.pass(f, name, vs)
	}
	if c.Open {
		for _, name := range names {
			w.pass(f, strings.TrimLeft(name, "*"), object.Hidden(strings.TrimLeft(name, "*"), value.Taint{}))
		}
	}
	return f.Gives()
}

// construct calls the constructor of a class, which may be that of one from which the class derives. One that the program does
// not define gives its arguments to attributes, as that of a dataclass does.
func (w *walk) construct(f *object.Function, c *object.Call) {
	if init := f.Constructor(0); init != nil {
		w.apply(init, c)
		return
	}
	w.escapeAll(c)
	for name, vs := range c.Named() {
		w.learnAttribute(name, vs)
	}
	if len(c.Args) > 0 || c.Open {
		w.attributesChange()
	}
}

// yields learns what a generator gives; a value that is not known is no news.
func (w *walk) yields(word string, vs object.Objects) {
	if w.function == nil || word != "yield" && word != "yield from" {
		return
	}
	if w.function.Yielding = true; word == "yield from" {
		vs = object.Elements(vs, "value")
	}
	w.leak(vs)
	var known object.Objects
	for _, v := range vs {
		flat := !slices.ContainsFunc(v.Items, func(item object.Objects) bool {
			return slices.ContainsFunc(item, func(o object.Object) bool { return len(o.Items) > 0 })
		})
		if v.Shape != object.IsUnknown && flat {
			known = known.With(object.Objects{v})
		}
	}
	w.learn(&w.function.Yields, known)
}

// passPlaces gives arguments to parameters by their places; *rest gets a list.
func (w *walk) passPlaces(f *object.Function, names []string, args []object.Objects) {
	for i, name := range names {
		switch {
		case strings.HasPrefix(name, "**"):
		case strings.HasPrefix(name, "*"):
			rest := object.Object{Shape: object.IsList, Items: args[min(i, len(args)):]}
			w.pass(f, name[1:], w.bounded(object.Objects{rest}))
			return
		case i < len(args):
			w.pass(f, name, args[i])
		}
	}
	for _, vs := range args[min(len(names), len(args)):] {
		w.escape(vs)
	}
}

func (w *walk) pass(f *object.Function, name string, vs object.Objects) {
	if v := f.Scope.Vars[name]; v != nil {
		w.leak(vs)
		w.give(v, vs)
		return
	}
	w.escape(vs)
}

func (w *walk) defineClass(s *syntax.Statement) {
	derived, base := false, ""
	var classes []*object.Function
	for _, e := range s.Exprs {
		bases := w.value(e)
		w.escape(bases)
		for _, b := range bases {
			if b.Shape == object.IsSymbol {
				base = b.Text
			}
			derived = derived || b.Shape != object.IsCallable && b.Text != "object"
			if b.Shape == object.IsCallable && b.Function.Class {
				classes = append(classes, b.Function)
			}
		}
	}
	f := w.functions[s]
	if f == nil {
		f = &object.Function{Define: s, Scope: w.newScope(s), Class: true, Members: map[string]*object.Function{}}
		w.functions[s] = f
	}
	f.Base, f.Bases = base, classes
	w.set(s.Text, object.Objects{{Shape: object.IsCallable, Function: f}})
	sc := w.scope
	w.scope = f.Scope
	f.Scope.Forget()
	w.statements(s.Body)
	w.scope = sc
	w.members(f, s.Body, derived)
}

// members are a class's methods. Those of a class that derives from something
// unknown may be called by that.
func (w *walk) members(f *object.Function, body []*syntax.Statement, derived bool) {
	for _, s := range body {
		m := w.functions[s]
		if m == nil || m.Class {
			continue
		}
		f.Members[s.Text] = m
		if derived && s.Text != "__init__" && !m.Escaped {
			m.Escaped, w.grew = true, true
		}
	}
}
