package shell

import (
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
