package shell

import (
	"cmp"
	"regexp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// restrict makes a variable read-only, or one that takes numbers only.
func (ex *expander) restrict(name string, fixed, number bool, sc *scope) {
	v := sc.vars[name]
	if v.list == nil && !v.array {
		v.lost = true
	}
	if number {
		ex.evaluates(v, sc)
	}
	v.fixed, v.number = v.fixed || fixed, v.number || number
	sc.unset(name)
	sc.set(name, v)
}

// declared assigns what one word of a declaration does, and is that word.
func (ex *expander) declared(as *syntax.Assign, sc *scope) word {
	name := as.Name.Value
	if as.Naked && as.Index != nil {
		ex.key(as.Index, sc)
	}
	if as.Naked {
		return known(name)
	}
	ex.assignment(as, sc)
	if as.Value != nil && len(ex.braces(as.Value)) > 1 { // each of them is assigned
		sc.lose(name)
	}
	v, _ := ex.value(name, sc)
	return part(v, name+"="+v.text)
}

// assignment reads name=value, name+=value, name=(…) and name[i]=value.
func (ex *expander) assignment(as *syntax.Assign, sc *scope) {
	name := as.Name.Value
	ex.assigns = append(ex.assigns, name)
	switch {
	case as.Index != nil:
		ex.element(as, sc)
	case as.Array != nil:
		sc.set(name, ex.array(as, sc))
	default:
		w := ex.single(as.Value, sc)
		if as.Append {
			old, _ := ex.value(name, sc)
			w = join([]word{old, w}, "")
		}
		if len(w.text) > maxValue {
			ex.hide()
			w = word{text: "$" + name, Taint: w.Taint}
		}
		w = shownAs(w, name)
		if indexRuns.MatchString(w.text) { // which the shell runs wherever it evaluates the variable
			ex.hide()
		}
		if sc.vars[name].number {
			ex.calculates(w, sc)
		}
		ex.setting(name, w.text)
		sc.set(name, variable{list: []word{w}})
	}
}

// indexRuns is the index of an element with a command in it.
var indexRuns = regexp.MustCompile("\\w\\[[^\\]\n]*(\\$\\(|`)")

// shownAs names an unknown value after its variable, unless it is what a file holds.
func shownAs(w word, name string) word {
	if !w.known && !(w.Read && w.text == "$(…)") {
		w.text = cmp.Or(partly(w.text), "$"+name)
	}
	return w
}

// partly keeps a text that tells more than that something is substituted.
func partly(text string) string {
	if text == "$(…)" || text == "$((…))" {
		return ""
	}
	return text
}

func (ex *expander) array(as *syntax.Assign, sc *scope) variable {
	v := variable{array: true}
	if as.Append {
		old := sc.vars[as.Name.Value]
		v.list, v.lost = slices.Clone(old.list), old.lost
	}
	for _, e := range as.Array.Elems {
		if len(v.list) >= maxFields {
			ex.hide()
			break
		}
		if e.Index != nil {
			v = v.with(ex.key(e.Index, sc), ex.single(e.Value, sc))
			continue
		}
		if e.Value != nil {
			v.list = append(v.list, ex.fields([]*syntax.Word{e.Value}, sc)...)
		}
	}
	return v
}
