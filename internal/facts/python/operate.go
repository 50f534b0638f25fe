package python

import (
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (w *walk) chainValue(e *syntax.Expression) object.Objects {
	all := w.value(e.Kids[0])
	switch e.Names[1] {
	case "or", "and":
		for _, kid := range e.Kids[1:] {
			all = all.With(w.value(kid))
		}
		return all
	case "in", "not in", "is", "<", ">", "==", ">=", "<=", "!=":
		for _, kid := range e.Kids[1:] {
			if vs := w.value(kid); !object.IsEnviron(vs) && !object.IsLoaded(vs) {
				w.escapeSome(vs)
			}
		}
		return object.Hidden("value", value.Taint{})
	}
	for i, kid := range e.Kids[1:] {
		all = w.operate(e.Names[i+1], all, w.value(kid))
		if !w.copied(all) {
			break
		}
	}
	w.noteTexts(all)
	return all
}

// operate is a op b.
func (w *walk) operate(op string, a, b object.Objects) object.Objects {
	if op == "|" && (object.IsEnviron(a) || object.IsEnviron(b)) {
		return object.SymbolOf("os.environ")
	}
	w.escapeSome(a)
	w.escapeSome(b)
	return object.EachPair(a, b, func(a, b object.Object) object.Object { return object.Operated(op, a, b) })
}

func (w *walk) unaryValue(e *syntax.Expression) object.Objects {
	vs := w.value(e.Kids[0])
	w.escapeSome(vs)
	if e.Text == "-" && len(vs) == 1 && vs[0].Shape == object.IsInt {
		return object.Objects{{Shape: object.IsInt, Number: -vs[0].Number}}
	}
	return object.Hidden("value", value.Taint{})
}
