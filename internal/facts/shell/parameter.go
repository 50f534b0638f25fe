package shell

import (
	"cmp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// mention notes a variable that the text takes from its environment.
func (a *analysis) mention(name string) { a.variables = append(a.variables, name) }

// list is the fields of "$@", "$*" and "${a[@]}", if that is what p is and they are known.
func (a *analysis) list(p *syntax.ParamExp, sc *scope) ([]word, bool) {
	if p.Param == nil || p.Excl || p.Length || p.Exp != nil || p.Repl != nil || p.Slice != nil {
		return nil, false
	}
	name := p.Param.Value
	if p.Index == nil && (name == "@" || name == "*") {
		if !sc.argsKnown {
			return []word{{text: "$@"}}, true
		}
		return sc.args, true
	}
	if w, ok := p.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		v, ok := sc.vars[name]
		if !ok || v.lost {
			a.noteUnset(name, ok)
			return []word{{text: "$" + name}}, true
		}
		return v.list, true
	}
	return nil, false
}

func (a *analysis) noteUnset(name string, assigned bool) {
	if !assigned {
		a.mention(name)
	}
}

// parameter is what "$x" or "${x…}" stands for, as one word.
func (a *analysis) parameter(p *syntax.ParamExp, sc *scope) word {
	if p.Param == nil {
		return word{text: "$…"}
	}
	a.innerWords(p, sc)
	name := p.Param.Value
	value, set := a.value(name, sc)
	if w, ok := a.picked(p, sc); ok {
		element := *p
		element.Index = nil
		if bare(&element) {
			return w
		}
		value, p = w, &element
	}
	if p.Exp != nil && !p.Excl && p.Index == nil {
		if w, ok := a.fallback(p, value, set, sc); ok {
			return w
		}
	}
	if !set {
		a.mention(name)
	}
	if bare(p) {
		return value
	}
	return a.operated(p, value, sc)
}

// bare says that p is a name and nothing else.
func bare(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// value is a variable's value; set is false for a name the text did not assign.
func (a *analysis) value(name string, sc *scope) (w word, set bool) {
	if v, ok := sc.vars[name]; ok {
		if v.lost || len(v.list) == 0 && !v.array {
			return word{text: "$" + name}, true
		}
		if len(v.list) == 0 {
			return known(""), true
		}
		return v.list[0], true
	}
	if sc.full {
		a.hide()
		return word{text: "$" + name}, true
	}
	switch name {
	case "HOME":
		return word{text: "~", known: true, home: true}, false
	case "IFS":
		return known(" \t\n"), true
	case "PWD":
		return word{text: cmp.Or(sc.cwd, "$PWD"), known: sc.cwd != ""}, false
	case "SHELL", "BASH":
		return known("/bin/bash"), false
	}
	return special(name, sc)
}

// special is the value of $1, $#, $? and their like.
func special(name string, sc *scope) (w word, set bool) {
	shown := word{text: "$" + name}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0 && sc.name.text != "":
			return sc.name, true
		case n == 0:
			return known("bash"), true
		case !sc.argsKnown:
			return shown, true
		case n <= len(sc.args):
			return sc.args[n-1], true
		}
		return known(""), true
	}
	switch name {
	case "@", "*":
		if !sc.argsKnown {
			return shown, true
		}
		return join(sc.args, " "), true
	case "#":
		return word{text: strconv.Itoa(len(sc.args)), known: sc.argsKnown}, true
	case "?", "$", "!", "-", "_", "RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "OLDPWD", "REPLY", "OPTARG", "OPTIND":
		return shown, true
	}
	return shown, false
}

// fallback is ${x:-word} and its like where that alone decides the value.
func (a *analysis) fallback(p *syntax.ParamExp, value word, set bool, sc *scope) (word, bool) {
	missing := !set && !value.known
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		empty := value.known && value.text == "" &&
			(p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnsetOrNull || sc.vars[p.Param.Value].gone)
		if !missing && !empty {
			return value, true
		}
		if missing {
			a.mention(p.Param.Value)
		}
		w := a.single(p.Exp.Word, sc)
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			a.assign(p.Param.Value, variable{list: []word{w}}, sc)
		}
		return w, true
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		a.noteUnset(p.Param.Value, set)
		return value, true
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return a.alternate(p, value, set, sc), true
	}
	return word{}, false
}

// alternate is ${x:+word}: the word if x is set. What only the environment
// tells stays unknown, unless there is nothing to choose.
func (a *analysis) alternate(p *syntax.ParamExp, value word, set bool, sc *scope) word {
	a.noteUnset(p.Param.Value, set)
	w := a.single(p.Exp.Word, sc)
	switch {
	case value.known && value.text == "" && set && (p.Exp.Op == syntax.AlternateUnsetOrNull || sc.vars[p.Param.Value].gone):
		return known("")
	case value.known:
		return w
	}
	return word{text: "$" + p.Param.Value, Taint: w.Taint}
}

// innerWords reads the commands that the words inside ${…} substitute.
func (a *analysis) innerWords(p *syntax.ParamExp, sc *scope) {
	if p.Repl != nil {
		a.single(p.Repl.Orig, sc)
		a.single(p.Repl.With, sc)
	}
	if p.Exp != nil && p.Exp.Op >= syntax.RemSmallSuffix {
		a.single(p.Exp.Word, sc)
	}
	if p.Index != nil {
		a.operands(p.Index, sc)
	}
	if p.Slice != nil {
		a.slice(p.Slice, sc)
	}
}

func (a *analysis) slice(s *syntax.Slice, sc *scope) {
	for _, x := range []syntax.ArithmExpr{s.Offset, s.Length} {
		if x != nil {
			a.operands(x, sc)
		}
	}
}

// operated lets the shell library apply ${x%…}, ${x//a/b}, ${x:1:2} … to what is known.
func (a *analysis) operated(p *syntax.ParamExp, held word, sc *scope) word {
	name := p.Param.Value
	shown := word{text: "$" + name, Taint: held.Taint}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word.Lit() == "P" {
		a.hide() // the value is expanded once more, commands in it included
		return shown
	}
	if _, index, ok := strings.Cut(held.text, "["); ok && p.Excl && strings.ContainsAny(index, "$`") { // which is evaluated
		a.hide()
		return shown
	}
	env := environ{scope: sc, home: cmp.Or(a.at.Home, homeMark)}
	if !p.Excl && p.Index == nil && !p.Length {
		env.name, env.held = name, held
	}
	if !env.Get(name).Set {
		return shown
	}
	if len(held.text) > maxOperated || p.Repl != nil && len(a.single(p.Repl.With, sc).text) > maxOperated || !a.spend(1+len(held.text)) {
		a.hide()
		return shown
	}
	w := &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{p}}}}
	text, err := expand.Literal(&expand.Config{Env: env, NoUnset: true}, w)
	if err == nil && len(text) > maxValue {
		a.hide()
	}
	text = strings.ReplaceAll(text, homeMark, "~")
	if err != nil || len(text) > maxValue || strings.Contains(text, "\x01") {
		return shown
	}
	return word{text: text, known: held.known || p.Excl || p.Length, home: held.home && strings.HasPrefix(text, "~"), Taint: held.Taint}
}

// homeMark stands for a home folder that is not known while the shell library changes a
// value.
const homeMark = "/home/\x01"

// environ shows the library the variables of a scope, and one as it is held: parts that
// are not known as they are written.
type environ struct {
	*scope
	home string
	name string
	held word
}

func (e environ) Get(name string) expand.Variable {
	v := e.scope.Get(name)
	if name == e.name && (e.held.known || strings.Contains(e.held.text, "/")) {
		v = expand.Variable{Set: true, Kind: expand.String, Str: e.held.text}
	} else if _, ok := e.vars[name]; !ok && name == "HOME" {
		v = expand.Variable{Set: true, Kind: expand.String, Str: "~"}
	}
	if rest, ok := strings.CutPrefix(v.Str, "~"); ok && v.Kind == expand.String && (rest == "" || rest[0] == '/') {
		v.Str = e.home + rest
	}
	return v
}
