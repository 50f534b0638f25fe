package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// lambda reads the body with parameters that may be anything, and what calls give them.
func (w *walk) lambda(e *syntax.Expression) object.Objects {
	for _, kid := range e.Define.Params.Computed {
		w.escape(w.value(kid))
	}
	f := w.functionOf(e.Define)
	f.Scope.Parent, f.Escaped = w.scope, true
	w.body(f, e.Define.Body)
	w.escapeSome(f.Returns)
	return object.Objects{{Shape: object.IsCallable, Function: f}}
}

// apart evaluates in a scope of its own, in which names are not known.
func (w *walk) apart(names []string, body func() object.Objects) object.Objects {
	sc := w.scope
	w.scope = &object.Scope{Vars: map[string]*object.Variable{}, Parent: sc, Brief: true}
	for _, name := range names {
		name = strings.TrimLeft(name, "*")
		w.scope.Vars[name] = &object.Variable{Now: object.Hidden(name, value.Taint{})}
	}
	w.loops++
	vs := body()
	w.loops--
	w.scope = sc
	return vs
}

// comprehension is a list if its single source is known, as in
// [chr(c) for c in (108, 115)].
func (w *walk) comprehension(e *syntax.Expression) object.Objects {
	var out object.Objects
	w.apart(nil, func() object.Objects {
		clauses := e.Kids[e.Count:]
		source := w.value(clauses[1])
		if e.Count == 1 && len(clauses) == 2 && len(e.Extra) == 0 && len(source) == 1 && source[0].Shape == object.IsList &&
			!source[0].Open && len(source[0].Items) <= object.MaxRounds {
			out = w.rounds(e, source[0].Items)
			return nil
		}
		out = w.anyRound(e)
		return nil
	})
	return out
}

func (w *walk) rounds(e *syntax.Expression, items []object.Objects) object.Objects {
	list := object.Object{Shape: object.IsList}
	for _, item := range items {
		w.assign(e.Kids[1], item, nil)
		list.Items = append(list.Items, w.value(e.Kids[0]))
	}
	return object.Objects{list}
}

func (w *walk) anyRound(e *syntax.Expression) object.Objects {
	clauses := e.Kids[e.Count:]
	for i := 0; i+1 < len(clauses); i += 2 {
		source := w.value(clauses[i+1])
		w.escape(source)
		w.assign(clauses[i], object.Elements(source, nameOf(clauses[i])), nil)
	}
	w.computeAll(e.Extra)
	var all object.Objects
	for _, kid := range e.Kids[:e.Count] {
		vs := w.value(kid)
		if e.Count > 1 {
			w.escapeSome(vs)
		}
		all = all.With(vs)
	}
	if e.Count > 1 {
		return object.Objects{{Shape: object.IsDict, Open: true}}
	}
	return object.Objects{{Shape: object.IsList, Items: []object.Objects{all}, Open: true}}
}
