package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// element reads name[key]=value.
func (ex *expander) element(as *syntax.Assign, sc *scope) {
	name := as.Name.Value
	key, w := ex.key(as.Index, sc), shownAs(ex.single(as.Value, sc), name)
	if name == "BASH_ALIASES" || name == "BASH_CMDS" { // which the shell looks commands up in
		ex.hide()
	}
	v := sc.vars[name]
	if as.Append || len(v.list) >= maxFields {
		sc.lose(name)
		return
	}
	sc.set(name, v.with(key, w))
}

// key is the key of an element.
func (ex *expander) key(x syntax.ArithmExpr, sc *scope) word {
	w, plain := x.(*syntax.Word)
	if !plain {
		return ex.arithmetic(x, sc)
	}
	if w.Lit() != "" {
		ex.operands(x, sc)
	}
	key := ex.single(w, sc)
	ex.again(key)
	if key.known && expands(key.text) { // quotes keep nothing from being expanded once more
		ex.hide()
	}
	return key
}

// picked is the element of an array that a text names, or a word that stands for all.
func (ex *expander) picked(p *syntax.ParamExp, sc *scope) (word, bool) {
	v := sc.vars[p.Param.Value]
	if p.Index == nil || p.Excl || v.lost || len(v.list) == 0 || allOf(p) != "" {
		return word{}, false
	}
	some := word{text: "$" + p.Param.Value, items: oneOf(v.list)}
	if v.keys == nil {
		n, ok := number(ex.arithmetic(p.Index, sc))
		if n < 0 {
			n += len(v.list)
		}
		switch {
		case !ok || n < 0:
			return some, true
		case n >= len(v.list):
			return known(""), true
		}
		return v.list[n], true
	}
	key := ex.key(p.Index, sc)
	found := -1
	for i, k := range v.keys {
		if k == key.text && found < 0 {
			found = i
		} else if k == key.text || !syntax.ValidName(k) && !allDigits(k) {
			key.known = false
		}
	}
	if key.known && found >= 0 && distinctKeys(v.keys) {
		return v.list[found], true
	}
	return some, true
}

// distinctKeys says that no key may stand for another: in an array, a name stands for
// the number that a variable of that name holds.
func distinctKeys(keys []string) bool {
	named := slices.ContainsFunc(keys, syntax.ValidName)
	return !named || !slices.ContainsFunc(keys, allDigits)
}
