package python

import (
	"cmp"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/python/library"
	"github.com/bailiff-dev/bailiff/internal/facts/python/object"
	"github.com/bailiff-dev/bailiff/internal/facts/python/syntax"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// value is what an expression may give; everything in it is noted on the way.
func (w *walk) value(e *syntax.Expression) object.Objects {
	if e == nil {
		return nil
	}
	if w.depth++; w.depth > 4*syntax.MaxChain || !w.spend() {
		w.depth--
		w.exhausted = true
		return object.Hidden("value", value.Taint{})
	}
	vs := w.evaluate(e)
	w.depth--
	vs = w.known(w.bounded(w.identified(e, vs)), 0)
	return vs[:len(vs):len(vs)] // a variable may hold them too
}

func (w *walk) evaluate(e *syntax.Expression) object.Objects {
	switch e.Form {
	case syntax.NameForm:
		return w.nameValue(e.Text)
	case syntax.NumberForm:
		return object.NumberOf(e.Text)
	case syntax.TextForm:
		text := object.Unmarked(e.Text)
		w.noteURLs(text)
		return object.TextOf(text)
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
		return w.value(e.Kids[0]).With(w.value(e.Kids[2]))
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
func (w *walk) namedValue(e *syntax.Expression) object.Objects {
	vs := w.value(e.Kids[0])
	sc := w.scope
	w.scope = sc.Lasting()
	w.set(e.Text, vs)
	w.scope = sc
	return vs
}

func (w *walk) nameValue(name string) object.Objects {
	if vs, ok := w.lookup(name); ok {
		return vs
	}
	if name == "__file__" || name == "__name__" || name == "__doc__" {
		return object.Hidden(name, value.Taint{})
	}
	for _, module := range w.stars {
		if full := library.Canonical(module + "." + name); library.Effective(full) || library.Dangerous(full) || full == "os.environ" {
			return object.SymbolOf(full)
		}
	}
	w.outside(name)
	if len(w.stars) > 0 && !library.Builtins[name] {
		return object.SymbolOf(w.stars[len(w.stars)-1] + "." + name)
	}
	return object.SymbolOf(name)
}

func (w *walk) formatted(e *syntax.Expression) object.Objects {
	all := object.TextOf("")
	for i := 0; i < len(e.Kids); i++ {
		kid := e.Kids[i]
		var piece object.Objects
		if kid.Form == syntax.TextForm {
			var text string
			text, i = literals(e.Kids, i)
			piece = object.TextOf(text)
		} else {
			vs := w.value(kid)
			w.escape(vs)
			piece = object.Named(vs, cmp.Or(nameOf(kid), "value")).Strs()
			for i, v := range vs {
				if v.Shape == object.IsUnknown && v.Text != "" && i < len(piece) {
					piece = vs.Strs()
					break
				}
			}
		}
		all = object.EachPair(all, piece, object.Glue)
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
		b.WriteString(object.Unmarked(kids[last].Text))
		if last+1 == len(kids) || kids[last+1].Form != syntax.TextForm {
			return b.String(), last
		}
	}
}

// copied counts the work of joining texts, which copies what was joined before; it is false when the program has had its share.
func (w *walk) copied(vs object.Objects) bool {
	for _, v := range vs {
		w.steps += len(v.Text) / 256
	}
	return w.spend()
}

func (w *walk) listValue(e *syntax.Expression) object.Objects {
	lists := object.Objects{{Shape: object.IsList, Tuple: e.Text != ""}}
	for _, kid := range e.Kids {
		vs := w.value(kid)
		if kid.Form == syntax.OtherForm && kid.Text == "*" {
			lists = object.Spread(lists, vs)
			continue
		}
		for i := range lists {
			lists[i].Items = append(lists[i].Items, vs)
		}
	}
	return lists
}

func (w *walk) dictValue(e *syntax.Expression) object.Objects {
	dict := object.Object{Shape: object.IsDict}
	var environment bool
	for i := 0; i+1 < len(e.Kids); i += 2 {
		value := w.value(e.Kids[i+1])
		if e.Kids[i] == nil {
			dict.Open = true
			environment = environment || object.IsEnviron(value)
			continue
		}
		key := w.value(e.Kids[i])
		w.escape(key)
		dict.Items = append(dict.Items, key, value)
	}
	if environment {
		return object.SymbolOf("os.environ")
	}
	return object.Objects{dict}
}

func (w *walk) attribute(e *syntax.Expression) object.Objects {
	base := w.value(e.Kids[0])
	if library.Revealing[e.Text] {
		w.dynamic()
	}
	var out object.Objects
	for _, b := range base {
		out = out.With(w.member(b, e))
	}
	return out
}

func (w *walk) member(b object.Object, e *syntax.Expression) object.Objects {
	if reveals(b, e.Text) {
		w.dynamic()
	}
	switch {
	case b.Shape == object.IsSymbol:
		return object.SymbolOf(b.Text + "." + e.Text)
	case b.Shape == object.IsPath:
		return object.PathMember(b, e.Text)
	case b.Shape == object.IsCallable && b.Function.Class:
		return w.classMember(b.Function, e.Text)
	}
	if full, ok := library.ThroughValue(e); ok {
		return object.SymbolOf(full).With(object.Hidden(e.Text, b.AllTaint()))
	}
	if b.Changeable() && !library.Lookers[e.Text] {
		w.lose(object.Objects{b})
	}
	if e.Text == "__dict__" {
		w.attributesChange()
	}
	w.libraryMember(b, e.Text)
	w.escapeMethods(e.Text)
	known, ok := w.attributes[e.Text]
	if !ok {
		return object.Hidden(e.Text, b.AllTaint())
	}
	if own := e.Kids[0]; own.Form == syntax.NameForm && (own.Text == "self" || own.Text == "cls") && !w.attributesOpen {
		return known
	}
	return known.With(object.Hidden(e.Text, b.AllTaint()))
}

func (w *walk) classMember(f *object.Function, name string) object.Objects {
	if v := f.Scope.Vars[name]; v != nil {
		if w.attributesOpen {
			return v.Ever.With(object.Hidden(name, value.Taint{}))
		}
		return v.Ever
	}
	return object.Hidden(name, value.Taint{})
}

// escapeMethods notes that methods of a name were handed on.
func (w *walk) escapeMethods(name string) {
	for _, m := range w.methods[name] {
		w.release(m)
	}
}

func (w *walk) release(f *object.Function) {
	if f.Class {
		for _, m := range f.Members {
			w.release(m)
		}
	}
	if !f.Escaped {
		f.Escaped, w.grew = true, true
	}
}

func (w *walk) otherValue(e *syntax.Expression) object.Objects {
	all := object.Hidden("value", value.Taint{})
	for _, kid := range e.Kids {
		vs := w.value(kid)
		if e.Text == "*" {
			return vs
		}
		w.yields(e.Text, vs)
		w.escape(vs)
		all = all.With(object.Hidden("value", vs.Tainted()))
	}
	return all
}
