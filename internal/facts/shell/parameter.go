package shell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// list is the fields of "$@", "$*" and "${a[@]}", or those that an operation makes of each of them, and its sign.
func (ex *expander) list(p *syntax.ParamExp, sc *scope) (items []word, sign string, ok bool) {
	if p.Param == nil {
		return nil, "", false
	}
	if array, ok := ex.indirect(p, sc); ok {
		p = array
	}
	if sign = allOf(p); p.Excl || p.Length || sign == "" {
		return nil, "", false
	}
	items = ex.all(p, sc)
	if p.Exp == nil && p.Repl == nil && p.Slice == nil {
		return items, sign, true
	}
	items, ok = ex.listOperated(p, items, sc)
	return items, sign, ok
}

// indirect is "${a[@]}" for "${!x}" where x holds "a[@]".
func (ex *expander) indirect(p *syntax.ParamExp, sc *scope) (*syntax.ParamExp, bool) {
	if !p.Excl || p.Index != nil || p.Names != 0 || p.Exp != nil || p.Repl != nil || p.Slice != nil {
		return nil, false
	}
	held, _ := ex.value(p.Param.Value, sc)
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
func (ex *expander) all(p *syntax.ParamExp, sc *scope) []word {
	name := p.Param.Value
	if p.Index == nil {
		if !sc.argsKnown {
			return []word{{text: "$@"}}
		}
		return sc.args
	}
	v, ok := sc.vars[name]
	if !ok || v.lost {
		ex.noteUnset(name, ok)
		return []word{{text: "$" + name}}
	}
	return v.list
}

// parameter is what "$x" or "${x…}" stands for, as one word.
func (ex *expander) parameter(p *syntax.ParamExp, sc *scope) word {
	if p.Param == nil {
		return word{text: "$…"}
	}
	if list, sign, ok := ex.list(p, sc); ok {
		return sc.joined(list, sign)
	}
	ex.innerWords(p, sc)
	if p.Exp != nil && p.Exp.Word != nil && slices.ContainsFunc(p.Exp.Word.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && hasProcess(lit.Value)
	}) {
		ex.hide() // a process substitution, to bash
	}
	name := p.Param.Value
	value, set := ex.value(name, sc)
	if w, ok := ex.picked(p, sc); ok {
		element := *p
		element.Param, element.Index = &syntax.Lit{Value: "_"}, nil
		if bare(&element) {
			return w
		}
		value, p = w, &element
	}
	if p.Exp != nil && !p.Excl && p.Index == nil {
		if w, ok := ex.fallback(p, value, set, sc); ok {
			return w
		}
	} else if p.Exp != nil && p.Exp.Op < syntax.RemSmallSuffix {
		ex.single(p.Exp.Word, sc)
	}
	if !set {
		ex.mention(name)
	}
	if bare(p) {
		return value
	}
	return ex.operated(p, value, sc)
}

// bare says that p is a name and nothing else.
func bare(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// fallback is ${x:-word} and its like where that alone decides the value.
func (ex *expander) fallback(p *syntax.ParamExp, value word, set bool, sc *scope) (word, bool) {
	missing := !set && !value.known
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		empty := value.known && value.text == "" &&
			(p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnsetOrNull || sc.vars[p.Param.Value].gone)
		if !missing && !empty {
			if !value.known {
				value.Taint = value.Taint.With(ex.single(p.Exp.Word, sc).Taint)
			}
			return value, true
		}
		if missing {
			ex.mention(p.Param.Value)
		}
		w := ex.single(p.Exp.Word, sc)
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			ex.assign(p.Param.Value, variable{list: []word{w}}, sc)
		}
		return w, true
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		ex.noteUnset(p.Param.Value, set)
		if !value.known || value.text == "" {
			ex.single(p.Exp.Word, sc)
		}
		return value, true
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return ex.alternate(p, value, set, sc), true
	}
	return word{}, false
}

// alternate is ${x:+word}: the word if x is set. What only the environment
// tells stays unknown, unless there is nothing to choose.
func (ex *expander) alternate(p *syntax.ParamExp, value word, set bool, sc *scope) word {
	ex.noteUnset(p.Param.Value, set)
	w := ex.single(p.Exp.Word, sc)
	switch {
	case value.known && value.text == "" && set && (p.Exp.Op == syntax.AlternateUnsetOrNull || sc.vars[p.Param.Value].gone):
		return known("")
	case value.known:
		return w
	}
	return word{text: "$" + p.Param.Value, Taint: w.Taint}
}

// innerWords reads the commands that the words inside ${…} substitute.
func (ex *expander) innerWords(p *syntax.ParamExp, sc *scope) {
	if p.Repl != nil {
		ex.single(p.Repl.Orig, sc)
		ex.single(p.Repl.With, sc)
	}
	if p.Exp != nil && p.Exp.Op >= syntax.RemSmallSuffix {
		ex.single(p.Exp.Word, sc)
	}
	if p.Index != nil {
		ex.operands(p.Index, sc)
	}
	if p.Slice != nil {
		ex.slice(p.Slice, sc)
	}
}

func (ex *expander) slice(s *syntax.Slice, sc *scope) {
	for _, x := range []syntax.ArithmExpr{s.Offset, s.Length} {
		if x != nil {
			ex.operands(x, sc)
		}
	}
}

// hasProcess says that a text has the beginning of a process substitution.
func hasProcess(text string) bool { return substitutes.MatchString(text) }

var substitutes = regexp.MustCompile(`[<>]\(`)
