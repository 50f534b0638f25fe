package shell

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// empty is a variable that is declared without a value.
func empty(array bool) variable {
	if array {
		return variable{array: true}
	}
	return variable{list: []word{known("")}}
}

// element reads name[key]=value.
func (a *analysis) element(as *syntax.Assign, sc *scope) {
	name := as.Name.Value
	key, w := a.key(as.Index, sc), shownAs(a.single(as.Value, sc), name)
	if name == "BASH_ALIASES" || name == "BASH_CMDS" { // which the shell looks commands up in
		a.hide()
	}
	v := sc.vars[name]
	if as.Append || len(v.list) >= maxFields {
		sc.lose(name)
		return
	}
	sc.set(name, v.with(key, w))
}

// key is the key of an element.
func (a *analysis) key(x syntax.ArithmExpr, sc *scope) word {
	w, plain := x.(*syntax.Word)
	if !plain {
		return a.arithmetic(x, sc)
	}
	if w.Lit() != "" {
		a.operands(x, sc)
	}
	key := a.single(w, sc)
	a.again(key)
	if key.known && expands(key.text) { // quotes keep nothing from being expanded once more
		a.hide()
	}
	return key
}

// with is a variable with one element more. Those with the same key are kept, since the
// text may not tell which of them is the last.
func (v variable) with(key, w word) variable {
	keys := slices.Clip(v.keys)
	for i := len(keys); i < len(v.list); i++ {
		keys = append(keys, strconv.Itoa(i))
	}
	if !key.known {
		key.text = "$"
	}
	return variable{list: append(slices.Clip(v.list), w), keys: append(keys, key.text), array: true, lost: v.lost}
}

// picked is the element of an array that a text names, or a word that stands for all.
func (a *analysis) picked(p *syntax.ParamExp, sc *scope) (word, bool) {
	v := sc.vars[p.Param.Value]
	if p.Index == nil || p.Excl || v.lost || len(v.list) == 0 || allOf(p) != "" {
		return word{}, false
	}
	some := word{text: "$" + p.Param.Value, items: oneOf(v.list)}
	if v.keys == nil {
		n, ok := number(a.arithmetic(p.Index, sc))
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
	key := a.key(p.Index, sc)
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
