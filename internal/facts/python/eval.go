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
func (w *pyWalk) value(e *pyExpr) pyValues {
	if e == nil {
		return nil
	}
	if w.depth++; w.depth > 4*maxPyChain || !w.spend() {
		w.depth--
		w.exhausted = true
		return pyHidden("value", value.Taint{})
	}
	vs := w.evaluate(e)
	w.depth--
	return w.bounded(slices.Clone(vs))
}

func (w *pyWalk) evaluate(e *pyExpr) pyValues {
	switch e.form {
	case pyNameForm:
		return w.nameValue(e.text)
	case pyNumberForm:
		return numberValue(e.text)
	case pyTextForm:
		w.noteURLs(e.text)
		return pyTexts(e.text)
	case pyFormatForm:
		return w.formatted(e)
	case pyListForm:
		return w.listValue(e)
	case pyDictForm:
		return w.dictValue(e)
	case pyCallForm:
		return w.call(e)
	case pyAttributeForm:
		return w.attribute(e)
	case pyIndexForm:
		return w.index(e)
	case pyChainForm:
		return w.chainValue(e)
	case pyUnaryForm:
		return w.unaryValue(e)
	case pyChoiceForm:
		w.escape(w.value(e.kids[1]))
		return w.value(e.kids[0]).with(w.value(e.kids[2]))
	case pyNamedForm:
		return w.namedValue(e)
	case pyLambdaForm:
		return w.lambda(e)
	case pyLoopForm:
		return w.comprehension(e)
	}
	return w.otherValue(e)
}

// namedValue is name := value, which assigns outside of comprehensions.
func (w *pyWalk) namedValue(e *pyExpr) pyValues {
	vs := w.value(e.kids[0])
	sc := w.scope
	w.scope = sc.lasting()
	w.set(e.text, vs)
	w.scope = sc
	return vs
}

func (w *pyWalk) nameValue(name string) pyValues {
	if vs, ok := w.lookup(name); ok {
		return vs
	}
	if name == "__file__" || name == "__name__" || name == "__doc__" {
		return pyHidden(name, value.Taint{})
	}
	for _, module := range w.stars {
		if full := module + "." + name; effective(full) || dangerous(full) || full == "os.environ" {
			return pySymbols(full)
		}
	}
	w.outside(name)
	return pySymbols(name)
}

func numberValue(digits string) pyValues {
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), 0, 64)
	if err != nil {
		return pyHidden("number", value.Taint{})
	}
	return pyValues{{shape: pyInt, number: n}}
}

func (w *pyWalk) formatted(e *pyExpr) pyValues {
	all := pyTexts("")
	for _, kid := range e.kids {
		piece := pyTexts(kid.text)
		if kid.form != pyTextForm {
			vs := w.value(kid)
			w.escape(vs)
			piece = named(vs, cmp.Or(nameOf(kid), "value")).strs()
			for i, v := range vs {
				if v.shape == pyUnknown && v.text != "" && i < len(piece) {
					piece = vs.strs()
					break
				}
			}
		}
		all = pyEach(all, piece, glue)
	}
	w.noteTexts(all)
	return all
}

func (w *pyWalk) listValue(e *pyExpr) pyValues {
	lists := pyValues{{shape: pyList}}
	for _, kid := range e.kids {
		vs := w.value(kid)
		if kid.form == pyOtherForm && kid.text == "*" {
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
func spread(lists, vs pyValues) pyValues {
	if len(vs) == 0 {
		return lists
	}
	return pyEach(lists, vs, func(list, v pyValue) pyValue {
		if list.shape != pyList {
			return list
		}
		return list.extended(pyValues{v})
	})
}

// extended is a list with all items of another one at its end.
func (v pyValue) extended(more pyValues) pyValue {
	v.items = v.items[:len(v.items):len(v.items)]
	if len(more) == 1 && more[0].shape == pyList && !more[0].open {
		v.items = append(v.items, more[0].items...)
		return v
	}
	v.items = append(v.items, elements(more, "value"))
	// How many there are is not known, which changes no item before them.
	return v
}

func (w *pyWalk) dictValue(e *pyExpr) pyValues {
	dict := pyValue{shape: pyDict}
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
		return pySymbols("os.environ")
	}
	return pyValues{dict}
}

func isEnviron(vs pyValues) bool {
	for _, v := range vs {
		if v.shape == pySymbol && (v.text == "os.environ" || v.text == "os.environb") {
			return true
		}
	}
	return false
}

func (w *pyWalk) attribute(e *pyExpr) pyValues {
	base := w.value(e.kids[0])
	if revealing[e.text] {
		w.dynamic()
	}
	var out pyValues
	for _, b := range base {
		out = out.with(w.member(b, e))
	}
	return out
}

func (w *pyWalk) member(b pyValue, e *pyExpr) pyValues {
	switch {
	case b.shape == pySymbol && e.text == "__dict__":
		return pyValues{b}
	case b.shape == pySymbol:
		return pySymbols(b.text + "." + e.text)
	case b.shape == pyPath:
		return pathMember(b, e.text)
	case b.shape == pyCallable && b.function.class:
		return w.classMember(b.function, e.text)
	}
	w.escapeMethods(e.text)
	known, ok := w.attributes[e.text]
	if !ok {
		return pyHidden(e.text, b.allTaint())
	}
	if own := e.kids[0]; own.form == pyNameForm && (own.text == "self" || own.text == "cls") {
		return known
	}
	return known.with(pyHidden(e.text, b.allTaint()))
}

func (w *pyWalk) classMember(f *pyFunction, name string) pyValues {
	if v := f.scope.vars[name]; v != nil {
		return v.ever
	}
	return pyHidden(name, value.Taint{})
}

// escapeMethods notes that methods of a name were handed on.
func (w *pyWalk) escapeMethods(name string) {
	for _, m := range w.methods[name] {
		w.release(m)
	}
}

func (w *pyWalk) release(f *pyFunction) {
	if f.class {
		for _, m := range f.members {
			w.release(m)
		}
	}
	if !f.escaped {
		f.escaped, w.grew = true, true
	}
}

func (w *pyWalk) index(e *pyExpr) pyValues {
	base := w.value(e.kids[0])
	if e.kids[1].form == pySliceForm {
		return w.slice(base, e.kids[1])
	}
	keys := w.value(e.kids[1])
	var out pyValues
	for _, b := range base {
		out = out.with(w.item(b, keys))
	}
	return out
}

// item is what b[keys] gives.
func (w *pyWalk) item(b pyValue, keys pyValues) pyValues {
	switch b.shape {
	case pySymbol:
		return w.symbolItem(b.text, keys)
	case pyDict:
		return dictItem(b, keys)
	case pyList, pyString:
		if len(keys) == 1 && keys[0].shape == pyInt {
			return listItem(b, keys[0].number)
		}
		if b.shape == pyList {
			return elements(pyValues{b}, "value")
		}
	}
	return pyHidden("value", b.allTaint())
}

func listItem(b pyValue, i int64) pyValues {
	if b.shape == pyString {
		if !pyLiteral(b.text) {
			return pyHidden("value", b.Taint)
		}
		letters := []rune(b.text)
		if i < 0 {
			i += int64(len(letters))
		}
		if i >= 0 && i < int64(len(letters)) {
			return pyTexts(string(letters[i]))
		}
		return nil
	}
	if i < 0 {
		i += int64(len(b.items))
	}
	if b.open || i < 0 || i >= int64(len(b.items)) {
		return elements(pyValues{b}, "value").with(pyHidden("value", b.allTaint()))
	}
	return b.items[i]
}

func dictItem(b pyValue, keys pyValues) pyValues {
	var out pyValues
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
		out = out.with(pyHidden("value", b.allTaint()))
	}
	return out
}

// symbolItem is what indexing something imported or built in gives.
func (w *pyWalk) symbolItem(name string, keys pyValues) pyValues {
	key, exact := keys.only()
	switch {
	case name == "os.environ" || name == "os.environb":
		return w.environment(keys)
	case name == "sys.modules" && exact:
		return pySymbols(key)
	case name == "globals()" && exact, name == "locals()" && exact:
		return w.nameValue(key)
	case !exact && (name == "sys.modules" || name == "globals()" || name == "locals()" || dangerousModules[name]):
		w.dynamic()
	case exact && (dangerousModules[name] || name == "__builtins__"):
		return pySymbols(name + "." + key)
	}
	w.escape(keys)
	return pyHidden("value", value.Taint{})
}

// environment reads variables of the environment.
func (w *pyWalk) environment(names pyValues) pyValues {
	var out pyValues
	for _, n := range names {
		if n.shape != pyString || !pyLiteral(n.text) {
			w.note(&w.notes.variables, "*")
			out = out.with(pyHidden("value", value.Taint{}))
			continue
		}
		w.note(&w.notes.variables, n.text)
		out = out.with(pyTexts(variableHole + unmarked(n.text) + holeEnd))
	}
	return out
}

func (w *pyWalk) slice(base pyValues, e *pyExpr) pyValues {
	var bounds [3]int64
	known := true
	for i, kid := range e.kids {
		bounds[i] = []int64{0, 1 << 40, 1}[i]
		if kid == nil {
			continue
		}
		vs := w.value(kid)
		if len(vs) != 1 || vs[0].shape != pyInt {
			known = false
			continue
		}
		bounds[i] = vs[0].number
	}
	backwards := e.kids[0] == nil && e.kids[1] == nil && bounds[2] == -1
	var out pyValues
	for _, b := range base {
		switch {
		case !known || bounds[2] < 1 && !backwards, b.shape == pyString && !pyLiteral(b.text), b.open:
			out = out.with(pyHidden("value", b.allTaint()))
		case b.shape == pyString:
			out = out.with(pyTexts(string(cutOut([]rune(b.text), bounds, backwards))))
		case b.shape == pyList:
			out = out.with(pyValues{{shape: pyList, items: cutOut(b.items, bounds, backwards), Taint: b.Taint}})
		default:
			out = out.with(pyHidden("value", b.allTaint()))
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
func (w *pyWalk) lambda(e *pyExpr) pyValues {
	last := len(e.kids) - 1
	for _, kid := range e.kids[:last] {
		w.escape(w.value(kid))
	}
	return w.apart(e.names, func() pyValues {
		vs := w.value(e.kids[last])
		w.escapeSome(vs)
		return pyHidden("value", vs.tainted())
	})
}

// apart evaluates in a scope of its own, in which names are not known.
func (w *pyWalk) apart(names []string, body func() pyValues) pyValues {
	sc := w.scope
	w.scope = &pyScope{vars: map[string]*pyVariable{}, parent: sc, brief: true}
	for _, name := range names {
		name = strings.TrimLeft(name, "*")
		w.scope.vars[name] = &pyVariable{now: pyHidden(name, value.Taint{})}
	}
	vs := body()
	w.scope = sc
	return vs
}

// maxPyRounds is how many rounds of a comprehension are followed.
const maxPyRounds = 1000

// comprehension is a list if its single source is known, as in
// [chr(c) for c in (108, 115)].
func (w *pyWalk) comprehension(e *pyExpr) pyValues {
	var out pyValues
	w.apart(nil, func() pyValues {
		clauses := e.kids[e.count:]
		source := w.value(clauses[1])
		if e.count == 1 && len(clauses) == 2 && len(e.extra) == 0 && len(source) == 1 && source[0].shape == pyList && !source[0].open && len(source[0].items) <= maxPyRounds {
			out = w.rounds(e, source[0].items)
			return nil
		}
		out = w.anyRound(e)
		return nil
	})
	return out
}

func (w *pyWalk) rounds(e *pyExpr, items []pyValues) pyValues {
	list := pyValue{shape: pyList}
	for _, item := range items {
		w.assign(e.kids[1], item, nil)
		list.items = append(list.items, w.value(e.kids[0]))
	}
	return pyValues{list}
}

func (w *pyWalk) anyRound(e *pyExpr) pyValues {
	clauses := e.kids[e.count:]
	for i := 0; i+1 < len(clauses); i += 2 {
		source := w.value(clauses[i+1])
		w.escape(source)
		w.assign(clauses[i], elements(source, nameOf(clauses[i])), nil)
	}
	w.computeAll(e.extra)
	var all pyValues
	for _, kid := range e.kids[:e.count] {
		vs := w.value(kid)
		if e.count > 1 {
			w.escapeSome(vs)
		}
		all = all.with(vs)
	}
	if e.count > 1 {
		return pyValues{{shape: pyDict, open: true}}
	}
	return pyValues{{shape: pyList, items: []pyValues{all}, open: true}}
}

func (w *pyWalk) otherValue(e *pyExpr) pyValues {
	all := pyHidden("value", value.Taint{})
	for _, kid := range e.kids {
		vs := w.value(kid)
		if e.text == "*" {
			return vs
		}
		w.escape(vs)
		all = all.with(pyHidden("value", vs.tainted()))
	}
	return all
}
