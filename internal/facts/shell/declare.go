package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/grammars"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// declare reads export, local, declare, readonly and typeset.
func (a *analysis) declare(c *syntax.DeclClause, sc *state.Scope, files call.Redirections) {
	argv := []word.Word{word.Of(c.Variant.Value)}
	exports := c.Variant.Value == "export"
	fixed, number := c.Variant.Value == "readonly", false
	array, global := false, exports || fixed
	for _, as := range c.Args {
		if as.Name == nil {
			w := a.Word(as.Value, sc)
			a.CheckIndex(w)
			flag := w.Text
			argv = append(argv, w)
			exports = exports || strings.HasPrefix(flag, "-") && strings.Contains(flag, "x")
			if c.Variant.Value != "export" && strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "nluc") {
				a.Hide() // one name then stands for another, or for another text than was assigned
			}
			fixed = fixed || strings.HasPrefix(flag, "-") && strings.Contains(flag, "r")
			number = number || strings.HasPrefix(flag, "-") && strings.Contains(flag, "i")
			global = global || strings.HasPrefix(flag, "-") && strings.Contains(flag, "g")
			array = array || strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "aA")
			if name, value, ok := strings.Cut(flag, "="); ok && syntax.ValidName(name) {
				a.Assign(name, state.Variable{List: []word.Word{word.Of(value)}}, sc)
				a.NoteSetting(name, value)
				a.runValue(name, word.Part(w, value), sc, exports)
			}
			continue
		}
		if !global {
			a.locals.Own(as.Name.Value, sc)
		}
		argv = append(argv, a.Declaration(as, sc))
		if !as.Naked {
			a.runVariable(as.Name.Value, sc, exports)
		} else if c.Variant.Value != "export" && c.Variant.Value != "readonly" && sc.Variable(as.Name.Value).List == nil {
			a.Assign(as.Name.Value, state.EmptyVariable(array), sc)
		}
		if fixed || number {
			a.Restrict(as.Name.Value, fixed, number, sc)
		}
		if exports && !slices.Contains(sc.Exports, as.Name.Value) {
			sc.Exports = append(sc.Exports, as.Name.Value)
		}
	}
	inv := call.Invocation{Argv: argv, Wrappers: a.wrappers, Scope: sc, Redirections: files}
	a.Record(&inv, c.Variant.Value, grammars.Arguments(a.About(c.Variant.Value), argv[1:]))
}
