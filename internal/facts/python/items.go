package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (w *walk) index(e *syntax.Expression) object.Objects {
	base := w.value(e.Kids[0])
	if e.Kids[1].Form == syntax.SliceForm {
		return w.slice(base, e.Kids[1])
	}
	keys := w.value(e.Kids[1])
	var out object.Objects
	for _, b := range base {
		out = out.With(w.item(b, keys))
	}
	return out
}

// item is what b[keys] gives.
func (w *walk) item(b object.Object, keys object.Objects) object.Objects {
	switch b.Shape {
	case object.IsSymbol:
		return w.symbolItem(b.Text, keys)
	case object.IsDict:
		return object.DictItem(b, keys)
	case object.IsList, object.IsString:
		if len(keys) == 1 && keys[0].Shape == object.IsInt {
			return object.ListItem(b, keys[0].Number)
		}
		if b.Shape == object.IsList {
			return object.Elements(object.Objects{b}, "value")
		}
	}
	return object.Hidden("value", b.AllTaint())
}

// symbolItem is what indexing something imported or built in gives.
func (w *walk) symbolItem(name string, keys object.Objects) object.Objects {
	key, exact := keys.Only()
	module, _ := strings.CutSuffix(name, ".__dict__")
	if module == name {
		module = ""
	}
	switch {
	case name == "os.environ" || name == "os.environb":
		return w.environment(keys)
	case name == "sys.modules" && exact:
		return object.SymbolOf(key)
	case module != "" && exact:
		return object.SymbolOf(module + "." + key)
	case name == "globals()" && exact, name == "locals()" && exact:
		return w.nameValue(key)
	case !exact && library.Dangerous(name), strings.HasPrefix(name, "plumbum.local.") || strings.HasPrefix(name, "plumbum.cmd."):
		w.dynamic()
	case exact && (library.DangerousModules[name] || name == "__builtins__"):
		return object.SymbolOf(name + "." + key)
	}
	w.escape(keys)
	return object.Hidden("value", value.Taint{})
}

// environment reads variables of the environment.
func (w *walk) environment(names object.Objects) object.Objects {
	var out object.Objects
	for _, n := range names {
		if n.Shape != object.IsString || !object.Literal(n.Text) {
			w.note(&w.notes.variables, "*")
			out = out.With(object.Hidden("value", value.Taint{}))
			continue
		}
		w.note(&w.notes.variables, n.Text)
		out = out.With(object.TextOf(object.VariableHole + object.Unmarked(n.Text) + object.HoleEnd))
	}
	return out
}

func (w *walk) slice(base object.Objects, e *syntax.Expression) object.Objects {
	var bounds [3]int64
	known := true
	for i, kid := range e.Kids {
		bounds[i] = []int64{0, 1 << 40, 1}[i]
		if kid == nil {
			continue
		}
		vs := w.value(kid)
		if len(vs) != 1 || vs[0].Shape != object.IsInt {
			known = false
			continue
		}
		bounds[i] = vs[0].Number
	}
	backwards := e.Kids[0] == nil && e.Kids[1] == nil && bounds[2] == -1
	var out object.Objects
	for _, b := range base {
		switch {
		case !known || bounds[2] < 1 && !backwards, b.Shape == object.IsString && !object.Literal(b.Text), b.Open:
			out = out.With(object.Hidden("value", b.AllTaint()))
		case b.Shape == object.IsString:
			out = out.With(object.TextOf(string(object.CutOut([]rune(b.Text), bounds, backwards))))
		case b.Shape == object.IsList:
			out = out.With(object.Objects{{Shape: object.IsList, Items: object.CutOut(b.Items, bounds, backwards), Taint: b.Taint}})
		default:
			out = out.With(object.Hidden("value", b.AllTaint()))
		}
	}
	return out
}
