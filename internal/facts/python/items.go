package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (w *walk) index(e *syntax.Expression) objects {
	base := w.value(e.Kids[0])
	if e.Kids[1].Form == syntax.SliceForm {
		return w.slice(base, e.Kids[1])
	}
	keys := w.value(e.Kids[1])
	var out objects
	for _, b := range base {
		out = out.with(w.item(b, keys))
	}
	return out
}

// item is what b[keys] gives.
func (w *walk) item(b object, keys objects) objects {
	switch b.shape {
	case isSymbol:
		return w.symbolItem(b.text, keys)
	case isDict:
		return dictItem(b, keys)
	case isList, isString:
		if len(keys) == 1 && keys[0].shape == isInt {
			return listItem(b, keys[0].number)
		}
		if b.shape == isList {
			return elements(objects{b}, "value")
		}
	}
	return hidden("value", b.allTaint())
}

func listItem(b object, i int64) objects {
	if b.shape == isString {
		if !literal(b.text) {
			return hidden("value", b.Taint)
		}
		letters := []rune(b.text)
		if i < 0 {
			i += int64(len(letters))
		}
		if i >= 0 && i < int64(len(letters)) {
			return textOf(string(letters[i]))
		}
		return nil
	}
	if i < 0 {
		i += int64(len(b.items))
	}
	if b.open || i < 0 || i >= int64(len(b.items)) {
		return elements(objects{b}, "value").with(hidden("value", b.allTaint()))
	}
	return b.items[i]
}

func dictItem(b object, keys objects) objects {
	var out objects
	key, exact := keys.only()
	found := false
	for i := 0; i+1 < len(b.items); i += 2 {
		name, plain := b.items[i].only()
		if exact && plain && name != key {
			continue
		}
		found = found || exact && plain
		out = out.with(b.items[i+1])
	}
	if b.open || !found {
		out = out.with(hidden("value", b.allTaint()))
	}
	return out
}

// symbolItem is what indexing something imported or built in gives.
func (w *walk) symbolItem(name string, keys objects) objects {
	key, exact := keys.only()
	module, _ := strings.CutSuffix(name, ".__dict__")
	if module == name {
		module = ""
	}
	switch {
	case name == "os.environ" || name == "os.environb":
		return w.environment(keys)
	case name == "sys.modules" && exact:
		return symbolOf(key)
	case module != "" && exact:
		return symbolOf(module + "." + key)
	case name == "globals()" && exact, name == "locals()" && exact:
		return w.nameValue(key)
	case !exact && dangerous(name), strings.HasPrefix(name, "plumbum.local.") || strings.HasPrefix(name, "plumbum.cmd."):
		w.dynamic()
	case exact && (dangerousModules[name] || name == "__builtins__"):
		return symbolOf(name + "." + key)
	}
	w.escape(keys)
	return hidden("value", value.Taint{})
}

// environment reads variables of the environment.
func (w *walk) environment(names objects) objects {
	var out objects
	for _, n := range names {
		if n.shape != isString || !literal(n.text) {
			w.note(&w.notes.variables, "*")
			out = out.with(hidden("value", value.Taint{}))
			continue
		}
		w.note(&w.notes.variables, n.text)
		out = out.with(textOf(variableHole + unmarked(n.text) + holeEnd))
	}
	return out
}

func (w *walk) slice(base objects, e *syntax.Expression) objects {
	var bounds [3]int64
	known := true
	for i, kid := range e.Kids {
		bounds[i] = []int64{0, 1 << 40, 1}[i]
		if kid == nil {
			continue
		}
		vs := w.value(kid)
		if len(vs) != 1 || vs[0].shape != isInt {
			known = false
			continue
		}
		bounds[i] = vs[0].number
	}
	backwards := e.Kids[0] == nil && e.Kids[1] == nil && bounds[2] == -1
	var out objects
	for _, b := range base {
		switch {
		case !known || bounds[2] < 1 && !backwards, b.shape == isString && !literal(b.text), b.open:
			out = out.with(hidden("value", b.allTaint()))
		case b.shape == isString:
			out = out.with(textOf(string(cutOut([]rune(b.text), bounds, backwards))))
		case b.shape == isList:
			for _, item := range b.items {
				share(item)
			}
			out = out.with(objects{{shape: isList, items: cutOut(b.items, bounds, backwards), Taint: b.Taint}})
		default:
			out = out.with(hidden("value", b.allTaint()))
		}
	}
	return out
}

// cutOut is list[from:to:step].
func cutOut[T any](list []T, bounds [3]int64, backwards bool) []T {
	n := int64(len(list))
	from, to := bounds[0], bounds[1]
	if from < 0 {
		from = max(0, from+n)
	}
	if to < 0 {
		to += n
	}
	to = min(to, n)
	var out []T
	if backwards {
		for i := n - 1; i >= 0; i-- {
			out = append(out, list[i])
		}
		return out
	}
	for i := from; i < to; i += bounds[2] {
		out = append(out, list[i])
		if bounds[2] > n {
			break
		}
	}
	return out
}
