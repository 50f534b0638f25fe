package python

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// value is what an expression may give; everything in it is noted on the way.
func (w *walk) value(e *expression) objects {
	if e == nil {
		return nil
	}
	if w.depth++; w.depth > 4*maxChain || !w.spend() {
		w.depth--
		w.exhausted = true
		return hidden("value", value.Taint{})
	}
	vs := w.evaluate(e)
	w.depth--
	return w.bounded(slices.Clone(vs))
}

func (w *walk) evaluate(e *expression) objects {
	switch e.form {
	case nameForm:
		return w.nameValue(e.text)
	case numberForm:
		return numberValue(e.text)
	case textForm:
		w.noteURLs(e.text)
		return textOf(e.text)
	case formatForm:
		return w.formatted(e)
	case listForm:
		return w.listValue(e)
	case dictForm:
		return w.dictValue(e)
	case callForm:
		return w.call(e)
	case attributeForm:
		return w.attribute(e)
	case indexForm:
		return w.index(e)
	case chainForm:
		return w.chainValue(e)
	case unaryForm:
		return w.unaryValue(e)
	case choiceForm:
		w.escape(w.value(e.kids[1]))
		return w.value(e.kids[0]).with(w.value(e.kids[2]))
	case namedForm:
		return w.namedValue(e)
	case lambdaForm:
		return w.lambda(e)
	case loopForm:
		return w.comprehension(e)
	}
	return w.otherValue(e)
}

// namedValue is name := value, which assigns outside of comprehensions.
func (w *walk) namedValue(e *expression) objects {
	vs := w.value(e.kids[0])
	sc := w.scope
	w.scope = sc.lasting()
	w.set(e.text, vs)
	w.scope = sc
	return vs
}

func (w *walk) nameValue(name string) objects {
	if vs, ok := w.lookup(name); ok {
		return vs
	}
	if name == "__file__" || name == "__name__" || name == "__doc__" {
		return hidden(name, value.Taint{})
	}
	for _, module := range w.stars {
		if full := canonical(module + "." + name); effective(full) || dangerous(full) || full == "os.environ" {
			return symbolOf(full)
		}
	}
	w.outside(name)
	return symbolOf(name)
}

func numberValue(digits string) objects {
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), 0, 64)
	if err != nil {
		return hidden("number", value.Taint{})
	}
	return objects{{shape: isInt, number: n}}
}

func (w *walk) formatted(e *expression) objects {
	all := textOf("")
	for _, kid := range e.kids {
		piece := textOf(kid.text)
		if kid.form != textForm {
			vs := w.value(kid)
			w.escape(vs)
			piece = named(vs, cmp.Or(nameOf(kid), "value")).strs()
			for i, v := range vs {
				if v.shape == isUnknown && v.text != "" && i < len(piece) {
					piece = vs.strs()
					break
				}
			}
		}
		all = eachPair(all, piece, glue)
	}
	w.noteTexts(all)
	return all
}

func (w *walk) listValue(e *expression) objects {
	lists := objects{{shape: isList}}
	for _, kid := range e.kids {
		vs := w.value(kid)
		if kid.form == otherForm && kid.text == "*" {
			lists = spread(lists, vs)
			continue
		}
		for i := range lists {
			lists[i].items = append(lists[i].items, vs)
		}
	}
	return lists
}

// spread is every list with every one of vs at its end.
func spread(lists, vs objects) objects {
	if len(vs) == 0 {
		return lists
	}
	return eachPair(lists, vs, func(list, v object) object {
		if list.shape != isList {
			return list
		}
		return list.extended(objects{v})
	})
}

// extended is a list with all items of another one at its end.
func (v object) extended(more objects) object {
	v.items = v.items[:len(v.items):len(v.items)]
	if len(more) == 1 && more[0].shape == isList && !more[0].open {
		v.items = append(v.items, more[0].items...)
		return v
	}
	v.items = append(v.items, elements(more, "value"))
	// How many there are is not known, which changes no item before them.
	return v
}

func (w *walk) dictValue(e *expression) objects {
	dict := object{shape: isDict}
	var environment bool
	for i := 0; i+1 < len(e.kids); i += 2 {
		value := w.value(e.kids[i+1])
		if e.kids[i] == nil {
			dict.open = true
			environment = environment || isEnviron(value)
			continue
		}
		key := w.value(e.kids[i])
		w.escape(key)
		dict.items = append(dict.items, key, value)
	}
	if environment {
		return symbolOf("os.environ")
	}
	return objects{dict}
}

func isEnviron(vs objects) bool {
	for _, v := range vs {
		if v.shape == isSymbol && (v.text == "os.environ" || v.text == "os.environb") {
			return true
		}
	}
	return false
}

func (w *walk) attribute(e *expression) objects {
	base := w.value(e.kids[0])
	if revealing[e.text] {
		w.dynamic()
	}
	var out objects
	for _, b := range base {
		out = out.with(w.member(b, e))
	}
	return out
}

func (w *walk) member(b object, e *expression) objects {
	switch {
	case b.shape == isSymbol:
		return symbolOf(b.text + "." + e.text)
	case b.shape == isPath:
		return pathMember(b, e.text)
	case b.shape == isCallable && b.function.class:
		return w.classMember(b.function, e.text)
	}
	if full, ok := throughValue(e); ok {
		return symbolOf(full).with(hidden(e.text, b.allTaint()))
	}
	w.escapeMethods(e.text)
	known, ok := w.attributes[e.text]
	if !ok {
		return hidden(e.text, b.allTaint())
	}
	if own := e.kids[0]; own.form == nameForm && (own.text == "self" || own.text == "cls") {
		return known
	}
	return known.with(hidden(e.text, b.allTaint()))
}

func (w *walk) classMember(f *function, name string) objects {
	if v := f.scope.vars[name]; v != nil {
		return v.ever
	}
	return hidden(name, value.Taint{})
}

// escapeMethods notes that methods of a name were handed on.
func (w *walk) escapeMethods(name string) {
	for _, m := range w.methods[name] {
		w.release(m)
	}
}

func (w *walk) release(f *function) {
	if f.class {
		for _, m := range f.members {
			w.release(m)
		}
	}
	if !f.escaped {
		f.escaped, w.grew = true, true
	}
}

func (w *walk) otherValue(e *expression) objects {
	all := hidden("value", value.Taint{})
	for _, kid := range e.kids {
		vs := w.value(kid)
		if e.text == "*" {
			return vs
		}
		w.yields(e.text, vs)
		w.escape(vs)
		all = all.with(hidden("value", vs.tainted()))
	}
	return all
}
