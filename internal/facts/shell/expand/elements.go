package expand

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// element reads name[key]=value.
func (ex *Expander) element(as *syntax.Assign, sc *state.Scope) {
	name := as.Name.Value
	key, w := ex.key(as.Index, sc), ShownAs(ex.Word(as.Value, sc), name)
	if name == "BASH_ALIASES" || name == "BASH_CMDS" { // which the shell looks commands up in
		ex.Hide()
	}
	v := sc.Variable(name)
	if as.Append || len(v.List) >= word.MaxFields {
		sc.Lose(name)
		return
	}
	sc.Set(name, v.With(key, w))
}

// key is the key of an element.
func (ex *Expander) key(x syntax.ArithmExpr, sc *state.Scope) word.Word {
	w, plain := x.(*syntax.Word)
	if !plain {
		return ex.arithmetic(x, sc)
	}
	if w.Lit() != "" {
		ex.Operands(x, sc)
	}
	key := ex.Word(w, sc)
	ex.CheckIndex(key)
	if key.Known && HasExpansion(key.Text) { // quotes keep nothing from being expanded once more
		ex.Hide()
	}
	return key
}

// elementOf is the element of an array that a text names, or a word that stands for all.
func (ex *Expander) elementOf(p *syntax.ParamExp, sc *state.Scope) (word.Word, bool) {
	v := sc.Variable(p.Param.Value)
	if p.Index == nil || p.Excl || v.Lost || len(v.List) == 0 || allOf(p) != "" {
		return word.Word{}, false
	}
	some := word.Word{Text: "$" + p.Param.Value, Items: word.OneOf(v.List)}
	if v.Keys == nil {
		n, ok := ex.integer(p.Index, sc)
		if n < 0 {
			n += len(v.List)
		}
		switch {
		case !ok || n < 0:
			return some, true
		case n >= len(v.List):
			return word.Of(""), true
		}
		return v.List[n], true
	}
	key := ex.key(p.Index, sc)
	found := -1
	for i, k := range v.Keys {
		if k == key.Text && found < 0 {
			found = i
		} else if k == key.Text || !syntax.ValidName(k) && !word.AllDigits(k) {
			key.Known = false
		}
	}
	if key.Known && found >= 0 && distinctKeys(v.Keys) {
		return v.List[found], true
	}
	return some, true
}

// distinctKeys says that no key may stand for another: in an array, a name stands for
// the number that a variable of that name holds.
func distinctKeys(keys []string) bool {
	named := slices.ContainsFunc(keys, syntax.ValidName)
	return !named || !slices.ContainsFunc(keys, word.AllDigits)
}
