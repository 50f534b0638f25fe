package python

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// value is what an expression may give; everything in it is noted on the way.
func (w *walk) value(e *syntax.Expression) objects {
	if e == nil {
		return nil
	}
	if w.depth++; w.depth > 4*syntax.MaxChain || !w.spend() {
		w.depth--
		w.exhausted = true
		return hidden("value", value.Taint{})
	}
	vs := w.evaluate(e)
	w.depth--
	return w.bounded(w.known(w.identified(e, slices.Clone(vs)), w.made[e], 0))
}

func (w *walk) evaluate(e *syntax.Expression) objects {
	switch e.Form {
	case syntax.NameForm:
		return w.nameValue(e.Text)
	case syntax.NumberForm:
		return numberValue(e.Text)
	case syntax.TextForm:
		text := unmarked(e.Text)
		w.noteURLs(text)
		return textOf(text)
	case syntax.FormatForm:
		return w.formatted(e)
	case syntax.ListForm:
		return w.listValue(e)
	case syntax.DictForm:
		return w.dictValue(e)
	case syntax.CallForm:
		return w.call(e)
	case syntax.AttributeForm:
		return w.attribute(e)
	case syntax.IndexForm:
		return w.index(e)
	case syntax.ChainForm:
		return w.chainValue(e)
	case syntax.UnaryForm:
		return w.unaryValue(e)
	case syntax.ChoiceForm:
		w.escape(w.value(e.Kids[1]))
		return w.value(e.Kids[0]).with(w.value(e.Kids[2]))
	case syntax.NamedForm:
		return w.namedValue(e)
	case syntax.LambdaForm:
		return w.lambda(e)
	case syntax.LoopForm:
		return w.comprehension(e)
	}
	return w.otherValue(e)
}

// namedValue is name := value, which assigns outside of comprehensions.
func (w *walk) namedValue(e *syntax.Expression) objects {
	vs := w.value(e.Kids[0])
	sc := w.scope
	w.scope = sc.lasting()
	w.set(e.Text, vs)
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

func (w *walk) formatted(e *syntax.Expression) objects {
	all := textOf("")
	for i := 0; i < len(e.Kids); i++ {
		kid := e.Kids[i]
		var piece objects
		if kid.Form == syntax.TextForm {
			var text string
			text, i = literals(e.Kids, i)
			piece = textOf(text)
		} else {
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
		if !w.copied(all) {
			break
		}
	}
	w.noteTexts(all)
	return all
}

// literals are the texts that stand one after the other from a place on, as one, and the place of the last one.
func literals(kids []*syntax.Expression, at int) (text string, last int) {
	var b strings.Builder
	for last = at; ; last++ {
		b.WriteString(unmarked(kids[last].Text))
		if last+1 == len(kids) || kids[last+1].Form != syntax.TextForm {
			return b.String(), last
		}
	}
}

// copied counts the work of joining texts, which copies what was joined before; it is false when the program has had its share.
func (w *walk) copied(vs objects) bool {
	for _, v := range vs {
		w.steps += len(v.text) / 256
	}
	return w.spend()
}

func (w *walk) listValue(e *syntax.Expression) objects {
	lists := objects{{shape: isList}}
	for _, kid := range e.Kids {
		vs := w.value(kid)
		if kid.Form == syntax.OtherForm && kid.Text == "*" {
			lists = spread(lists, vs)
			continue
		}
		share(vs)
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

func (w *walk) dictValue(e *syntax.Expression) objects {
	dict := object{shape: isDict}
	var environment bool
	for i := 0; i+1 < len(e.Kids); i += 2 {
		value := w.value(e.Kids[i+1])
		if e.Kids[i] == nil {
			dict.open = true
			environment = environment || isEnviron(value)
			continue
		}
		key := w.value(e.Kids[i])
		w.escape(key)
		share(value)
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

func (w *walk) attribute(e *syntax.Expression) objects {
	base := w.value(e.Kids[0])
	if revealing[e.Text] {
		w.dynamic()
	}
	var out objects
	for _, b := range base {
		out = out.with(w.member(b, e))
	}
	return out
}

func (w *walk) member(b object, e *syntax.Expression) objects {
	if reveals(b, e.Text) {
		w.dynamic()
	}
	switch {
	case b.shape == isSymbol:
		return symbolOf(b.text + "." + e.Text)
	case b.shape == isPath:
		return pathMember(b, e.Text)
	case b.shape == isCallable && b.function.class:
		return w.classMember(b.function, e.Text)
	}
	if full, ok := throughValue(e); ok {
		return symbolOf(full).with(hidden(e.Text, b.allTaint()))
	}
	if b.changeable() && !lookers[e.Text] {
		w.lose(objects{b})
	}
	if e.Text == "__dict__" {
		w.attributesChange()
	}
	w.libraryMember(b, e.Text)
	w.escapeMethods(e.Text)
	known, ok := w.attributes[e.Text]
	if !ok {
		return hidden(e.Text, b.allTaint())
	}
	if own := e.Kids[0]; own.Form == syntax.NameForm && (own.Text == "self" || own.Text == "cls") && !w.attributesOpen {
		return known
	}
	return known.with(hidden(e.Text, b.allTaint()))
}

func (w *walk) classMember(f *function, name string) objects {
	if v := f.scope.vars[name]; v != nil {
		if w.attributesOpen {
			return v.ever.with(hidden(name, value.Taint{}))
		}
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

func (w *walk) otherValue(e *syntax.Expression) objects {
	all := hidden("value", value.Taint{})
	for _, kid := range e.Kids {
		vs := w.value(kid)
		if e.Text == "*" {
			return vs
		}
		w.yields(e.Text, vs)
		w.escape(vs)
		all = all.with(hidden("value", vs.tainted()))
	}
	return all
}
