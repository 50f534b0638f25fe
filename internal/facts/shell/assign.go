package shell

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// declare reads export, local, declare, readonly and typeset.
func (a *analysis) declare(c *syntax.DeclClause, sc *scope, files redirections) {
	argv := []word{known(c.Variant.Value)}
	exports := c.Variant.Value == "export"
	fixed, number := c.Variant.Value == "readonly", false
	array, global := false, exports || fixed
	for _, as := range c.Args {
		if as.Name == nil {
			w := a.single(as.Value, sc)
			a.again(w)
			flag := w.text
			argv = append(argv, w)
			exports = exports || strings.HasPrefix(flag, "-") && strings.Contains(flag, "x")
			if c.Variant.Value != "export" && strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "nluc") {
				a.hide() // one name then stands for another, or for another text than was assigned
			}
			fixed = fixed || strings.HasPrefix(flag, "-") && strings.Contains(flag, "r")
			number = number || strings.HasPrefix(flag, "-") && strings.Contains(flag, "i")
			global = global || strings.HasPrefix(flag, "-") && strings.Contains(flag, "g")
			array = array || strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "aA")
			if name, value, ok := strings.Cut(flag, "="); ok && syntax.ValidName(name) {
				a.assign(name, variable{list: []word{known(value)}}, sc)
				a.setting(name, value)
				a.chosen(name, part(w, value), sc, exports)
			}
			continue
		}
		if !global {
			a.locals.own(as.Name.Value, sc)
		}
		argv = append(argv, a.declared(as, sc))
		if !as.Naked {
			a.chooses(as.Name.Value, sc, exports)
		} else if c.Variant.Value != "export" && c.Variant.Value != "readonly" && sc.vars[as.Name.Value].list == nil {
			a.assign(as.Name.Value, empty(array), sc)
		}
		if fixed || number {
			a.restrict(as.Name.Value, fixed, number, sc)
		}
		if exports && !slices.Contains(sc.exported, as.Name.Value) {
			sc.exported = append(sc.exported, as.Name.Value)
		}
	}
	inv := invocation{argv: argv, wrappers: a.wrappers, sc: sc, files: files}
	a.record(&inv, c.Variant.Value, a.argumentsOf(c.Variant.Value, argv[1:]))
}

// restrict makes a variable read-only, or one that takes numbers only.
func (a *analysis) restrict(name string, fixed, number bool, sc *scope) {
	v := sc.vars[name]
	if v.list == nil && !v.array {
		v.lost = true
	}
	if number {
		a.evaluates(v, sc)
	}
	v.fixed, v.number = v.fixed || fixed, v.number || number
	sc.unset(name)
	sc.set(name, v)
}

// declared assigns what one word of a declaration does, and is that word.
func (a *analysis) declared(as *syntax.Assign, sc *scope) word {
	name := as.Name.Value
	if as.Naked && as.Index != nil {
		a.key(as.Index, sc)
	}
	if as.Naked {
		return known(name)
	}
	a.assignment(as, sc)
	if as.Value != nil && len(a.braces(as.Value)) > 1 { // each of them is assigned
		sc.lose(name)
	}
	v, _ := a.value(name, sc)
	return part(v, name+"="+v.text)
}

// assignment reads name=value, name+=value, name=(…) and name[i]=value.
func (a *analysis) assignment(as *syntax.Assign, sc *scope) {
	name := as.Name.Value
	a.assigns = append(a.assigns, name)
	switch {
	case as.Index != nil:
		a.element(as, sc)
	case as.Array != nil:
		sc.set(name, a.array(as, sc))
	default:
		w := a.single(as.Value, sc)
		if as.Append {
			old, _ := a.value(name, sc)
			w = join([]word{old, w}, "")
		}
		if len(w.text) > maxValue {
			a.hide()
			w = word{text: "$" + name, Taint: w.Taint}
		}
		w = shownAs(w, name)
		if indexRuns.MatchString(w.text) { // which the shell runs wherever it evaluates the variable
			a.hide()
		}
		if sc.vars[name].number {
			a.calculates(w, sc)
		}
		a.setting(name, w.text)
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

func (a *analysis) array(as *syntax.Assign, sc *scope) variable {
	v := variable{array: true}
	if as.Append {
		old := sc.vars[as.Name.Value]
		v.list, v.lost = slices.Clone(old.list), old.lost
	}
	for _, e := range as.Array.Elems {
		if len(v.list) >= maxFields {
			a.hide()
			break
		}
		if e.Index != nil {
			v = v.with(a.key(e.Index, sc), a.single(e.Value, sc))
			continue
		}
		if e.Value != nil {
			v.list = append(v.list, a.fields([]*syntax.Word{e.Value}, sc)...)
		}
	}
	return v
}

// assign gives a variable a value, and notes that the text did.
func (facts *sink) assign(name string, v variable, sc *scope) {
	facts.assigns = append(facts.assigns, name)
	sc.set(name, v)
}
