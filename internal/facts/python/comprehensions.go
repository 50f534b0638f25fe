package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// lambda reads the body with parameters that may be anything, and what calls give them.
func (w *walk) lambda(e *syntax.Expression) objects {
	for _, kid := range e.Define.Params.Computed {
		w.escape(w.value(kid))
	}
	f := w.functionOf(e.Define)
	f.scope.parent, f.escaped = w.scope, true
	w.body(f, e.Define.Body)
	w.escapeSome(f.returns)
	return objects{{shape: isCallable, function: f}}
}

// apart evaluates in a scope of its own, in which names are not known.
func (w *walk) apart(names []string, body func() objects) objects {
	sc := w.scope
	w.scope = &scope{vars: map[string]*variable{}, parent: sc, brief: true}
	for _, name := range names {
		name = strings.TrimLeft(name, "*")
		w.scope.vars[name] = &variable{now: hidden(name, value.Taint{})}
	}
	vs := body()
	w.scope = sc
	return vs
}

// maxRounds is how many rounds of a comprehension are followed.
const maxRounds = 1000

// comprehension is a list if its single source is known, as in
// [chr(c) for c in (108, 115)].
func (w *walk) comprehension(e *syntax.Expression) objects {
	var out objects
	w.apart(nil, func() objects {
		clauses := e.Kids[e.Count:]
		source := w.value(clauses[1])
		if e.Count == 1 && len(clauses) == 2 && len(e.Extra) == 0 && len(source) == 1 && source[0].shape == isList && !source[0].open &&
			len(source[0].items) <= maxRounds {
			out = w.rounds(e, source[0].items)
			return nil
		}
		out = w.anyRound(e)
		return nil
	})
	return out
}

func (w *walk) rounds(e *syntax.Expression, items []objects) objects {
	list := object{shape: isList}
	for _, item := range items {
		w.assign(e.Kids[1], item, nil)
		list.items = append(list.items, w.value(e.Kids[0]))
	}
	return objects{list}
}

func (w *walk) anyRound(e *syntax.Expression) objects {
	clauses := e.Kids[e.Count:]
	for i := 0; i+1 < len(clauses); i += 2 {
		source := w.value(clauses[i+1])
		w.escape(source)
		w.assign(clauses[i], elements(source, nameOf(clauses[i])), nil)
	}
	w.computeAll(e.Extra)
	var all objects
	for _, kid := range e.Kids[:e.Count] {
		vs := w.value(kid)
		if e.Count > 1 {
			w.escapeSome(vs)
		}
		all = all.with(vs)
	}
	if e.Count > 1 {
		return objects{{shape: isDict, open: true}}
	}
	return objects{{shape: isList, items: []objects{all}, open: true}}
}
