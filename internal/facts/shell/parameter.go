package shell

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// mention notes a variable that the text takes from its environment.
func (facts *sink) mention(name string) { facts.variables = append(facts.variables, name) }

// list is the fields of "$@", "$*" and "${a[@]}", or those that an operation makes of each of them, and its sign.
func (a *analysis) list(p *syntax.ParamExp, sc *scope) (items []word, sign string, ok bool) {
	if p.Param == nil {
		return nil, "", false
	}
	if array, ok := a.indirect(p, sc); ok {
		p = array
	}
	if sign = allOf(p); p.Excl || p.Length || sign == "" {
		return nil, "", false
	}
	items = a.all(p, sc)
	if p.Exp == nil && p.Repl == nil && p.Slice == nil {
		return items, sign, true
	}
	items, ok = a.listOperated(p, items, sc)
	return items, sign, ok
}

// indirect is "${a[@]}" for "${!x}" where x holds "a[@]".
func (a *analysis) indirect(p *syntax.ParamExp, sc *scope) (*syntax.ParamExp, bool) {
	if !p.Excl || p.Index != nil || p.Names != 0 || p.Exp != nil || p.Repl != nil || p.Slice != nil {
		return nil, false
	}
	held, _ := a.value(p.Param.Value, sc)
	name, index, _ := strings.Cut(held.text, "[")
	if !held.known || !syntax.ValidName(name) || index != "@]" && index != "*]" {
		return nil, false
	}
	all := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: index[:1]}}}
	return &syntax.ParamExp{Param: &syntax.Lit{Value: name}, Index: all}, true
}

// allOf is "@" or "*" where p stands for all arguments, or for all elements of an array.
func allOf(p *syntax.ParamExp) string {
	sign := p.Param.Value
	if w, ok := p.Index.(*syntax.Word); ok {
		sign = w.Lit()
	} else if p.Index != nil {
		return ""
	}
	if sign == "@" || sign == "*" {
		return sign
	}
	return ""
}

// all are the arguments, or the elements of an array.
func (facts *sink) all(p *syntax.ParamExp, sc *scope) []word {
	name := p.Param.Value
	if p.Index == nil {
		if !sc.argsKnown {
			return []word{{text: "$@"}}
		}
		return sc.args
	}
	v, ok := sc.vars[name]
	if !ok || v.lost {
		facts.noteUnset(name, ok)
		return []word{{text: "$" + name}}
	}
	return v.list
}

// joined is a list as one word, where it is not several: "$*" and "${a[*]}" with the first sign of IFS between.
func (s *scope) joined(list []word, sign string) word {
	if sign == "@" {
		return join(list, " ")
	}
	first, size := utf8.DecodeRuneInString(s.ifs())
	if v := s.vars["IFS"]; v.lost || !v.known() || first == utf8.RuneError && size > 0 {
		w := join(list, " ")
		w.known = false
		return w
	}
	return join(list, s.ifs()[:size])
}

func (facts *sink) noteUnset(name string, assigned bool) {
	if !assigned {
		facts.mention(name)
	}
}

// parameter is what "$x" or "${x…}" stands for, as one word.
func (a *analysis) parameter(p *syntax.ParamExp, sc *scope) word {
	if p.Param == nil {
		return word{text: "$…"}
	}
	if list, sign, ok := a.list(p, sc); ok {
		return sc.joined(list, sign)
	}
	a.innerWords(p, sc)
	if p.Exp != nil && p.Exp.Word != nil && slices.ContainsFunc(p.Exp.Word.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && substitutes.MatchString(lit.Value)
	}) {
		a.hide() // a process substitution, to bash
	}
	name := p.Param.Value
	value, set := a.value(name, sc)
	if w, ok := a.picked(p, sc); ok {
		element := *p
		element.Param, element.Index = &syntax.Lit{Value: "_"}, nil
		if bare(&element) {
			return w
		}
		value, p = w, &element
	}
	if p.Exp != nil && !p.Excl && p.Index == nil {
		if w, ok := a.fallback(p, value, set, sc); ok {
			return w
		}
	} else if p.Exp != nil && p.Exp.Op < syntax.RemSmallSuffix {
		a.single(p.Exp.Word, sc)
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
func (b *budget) value(name string, sc *scope) (w word, set bool) {
	if v, ok := sc.vars[name]; ok {
		if v.lost || len(v.list) == 0 && !v.array {
			return word{text: "$" + name}, true
		}
		if len(v.list) == 0 {
			return known(""), true
		}
		return v.plain(name), true
	}
	if sc.full {
		b.hide()
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

// plain is what the name alone stands for: of an array its first element, which may have been assigned anew.
func (v variable) plain(name string) word {
	first := []word{v.list[0]}
	for i, key := range v.keys {
		if i > 0 && (key == "0" || key == "$") {
			first = append(first, v.list[i])
		}
	}
	if len(first) == 1 {
		return v.list[0]
	}
	return word{text: "$" + name, items: first}
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
			if !value.known {
				value.Taint = value.Taint.With(a.single(p.Exp.Word, sc).Taint)
			}
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
		if !value.known || value.text == "" {
			a.single(p.Exp.Word, sc)
		}
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
