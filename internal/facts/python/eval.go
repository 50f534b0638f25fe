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
		if full := module + "." + name; effective(full) || dangerous(full) || full == "os.environ" {
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
	case b.shape == isSymbol && e.text == "__dict__":
		return objects{b}
	case b.shape == isSymbol:
		return symbolOf(b.text + "." + e.text)
	case b.shape == isPath:
		return pathMember(b, e.text)
	case b.shape == isCallable && b.function.class:
		return w.classMember(b.function, e.text)
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

func (w *walk) index(e *expression) objects {
	base := w.value(e.kids[0])
	if e.kids[1].form == sliceForm {
		return w.slice(base, e.kids[1])
	}
	keys := w.value(e.kids[1])
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
	switch {
	case name == "os.environ" || name == "os.environb":
		return w.environment(keys)
	case name == "sys.modules" && exact:
		return symbolOf(key)
	case name == "globals()" && exact, name == "locals()" && exact:
		return w.nameValue(key)
	case !exact && (name == "sys.modules" || name == "globals()" || name == "locals()" || dangerousModules[name]):
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

func (w *walk) slice(base objects, e *expression) objects {
	var bounds [3]int64
	known := true
	for i, kid := range e.kids {
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
	backwards := e.kids[0] == nil && e.kids[1] == nil && bounds[2] == -1
	var out objects
	for _, b := range base {
		switch {
		case !known || bounds[2] < 1 && !backwards, b.shape == isString && !literal(b.text), b.open:
			out = out.with(hidden("value", b.allTaint()))
		case b.shape == isString:
			out = out.with(textOf(string(cutOut([]rune(b.text), bounds, backwards))))
		case b.shape == isList:
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

// lambda reads the body with parameters that are not known.
func (w *walk) lambda(e *expression) objects {
	last := len(e.kids) - 1
	for _, kid := range e.kids[:last] {
		w.escape(w.value(kid))
	}
	return w.apart(e.names, func() objects {
		vs := w.value(e.kids[last])
		w.escapeSome(vs)
		return hidden("value", vs.tainted())
	})
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
func (w *walk) comprehension(e *expression) objects {
	var out objects
	w.apart(nil, func() objects {
		clauses := e.kids[e.count:]
		source := w.value(clauses[1])
		if e.count == 1 && len(clauses) == 2 && len(e.extra) == 0 && len(source) == 1 && source[0].shape == isList && !source[0].open && len(source[0].items) <= maxRounds {
			out = w.rounds(e, source[0].items)
			return nil
		}
		out = w.anyRound(e)
		return nil
	})
	return out
}

func (w *walk) rounds(e *expression, items []objects) objects {
	list := object{shape: isList}
	for _, item := range items {
		w.assign(e.kids[1], item, nil)
		list.items = append(list.items, w.value(e.kids[0]))
	}
	return objects{list}
}

func (w *walk) anyRound(e *expression) objects {
	clauses := e.kids[e.count:]
	for i := 0; i+1 < len(clauses); i += 2 {
		source := w.value(clauses[i+1])
		w.escape(source)
		w.assign(clauses[i], elements(source, nameOf(clauses[i])), nil)
	}
	w.computeAll(e.extra)
	var all objects
	for _, kid := range e.kids[:e.count] {
		vs := w.value(kid)
		if e.count > 1 {
			w.escapeSome(vs)
		}
		all = all.with(vs)
	}
	if e.count > 1 {
		return objects{{shape: isDict, open: true}}
	}
	return objects{{shape: isList, items: []objects{all}, open: true}}
}

func (w *walk) otherValue(e *expression) objects {
	all := hidden("value", value.Taint{})
	for _, kid := range e.kids {
		vs := w.value(kid)
		if e.text == "*" {
			return vs
		}
		w.escape(vs)
		all = all.with(hidden("value", vs.tainted()))
	}
	return all
}
