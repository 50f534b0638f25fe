package expand

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// list is the fields of "$@", "$*" and "${a[@]}", or those that an operation makes of each of them, and its sign.
func (ex *Expander) list(p *syntax.ParamExp, sc *state.Scope) (items []word.Word, sign string, ok bool) {
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
	items, ok = ex.listOperation(p, items, sc)
	return items, sign, ok
}

// indirect is "${a[@]}" for "${!x}" where x holds "a[@]".
func (ex *Expander) indirect(p *syntax.ParamExp, sc *state.Scope) (*syntax.ParamExp, bool) {
	if !p.Excl || p.Index != nil || p.Names != 0 || p.Exp != nil || p.Repl != nil || p.Slice != nil {
		return nil, false
	}
	held, _ := ex.Value(p.Param.Value, sc)
	name, index, _ := strings.Cut(held.Text, "[")
	if !held.Known || !syntax.ValidName(name) || index != "@]" && index != "*]" {
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
func (ex *Expander) all(p *syntax.ParamExp, sc *state.Scope) []word.Word {
	name := p.Param.Value
	if p.Index == nil {
		if !sc.ArgsKnown {
			return []word.Word{{Text: "$@"}}
		}
		return sc.Args
	}
	v, ok := sc.Variable(name), sc.Has(name)
	if !ok || v.Lost {
		ex.NoteUnset(name, ok)
		return []word.Word{{Text: "$" + name}}
	}
	return v.List
}

// parameter is what "$x" or "${x…}" stands for, as one word.
func (ex *Expander) parameter(p *syntax.ParamExp, sc *state.Scope) word.Word {
	if p.Param == nil {
		return word.Word{Text: "$…"}
	}
	if list, sign, ok := ex.list(p, sc); ok {
		return sc.Join(list, sign)
	}
	ex.innerWords(p, sc)
	if p.Exp != nil && p.Exp.Word != nil && slices.ContainsFunc(p.Exp.Word.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return ok && HasProcess(lit.Value)
	}) {
		ex.Hide() // a process substitution, to bash
	}
	name := p.Param.Value
	value, set := ex.Value(name, sc)
	if w, ok := ex.elementOf(p, sc); ok {
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
		ex.Word(p.Exp.Word, sc)
	}
	if !set {
		ex.Mention(name)
	}
	if bare(p) {
		return value
	}
	return ex.operation(p, value, sc)
}

// bare says that p is a name and nothing else.
func bare(p *syntax.ParamExp) bool {
	return !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// fallback is ${x:-word} and its like where that alone decides the value.
func (ex *Expander) fallback(p *syntax.ParamExp, value word.Word, set bool, sc *state.Scope) (word.Word, bool) {
	missing := !set && !value.Known
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		empty := value.Known && value.Text == "" &&
			(p.Exp.Op == syntax.DefaultUnsetOrNull || p.Exp.Op == syntax.AssignUnsetOrNull || sc.Variable(p.Param.Value).Unset)
		if !missing && !empty {
			if !value.Known {
				value.Taint = value.Taint.With(ex.Word(p.Exp.Word, sc).Taint)
			}
			return value, true
		}
		if missing {
			ex.Mention(p.Param.Value)
		}
		w := ex.Word(p.Exp.Word, sc)
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			ex.Assign(p.Param.Value, state.Variable{List: []word.Word{w}}, sc)
		}
		return w, true
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		ex.NoteUnset(p.Param.Value, set)
		if !value.Known || value.Text == "" {
			ex.Word(p.Exp.Word, sc)
		}
		return value, true
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return ex.alternate(p, value, set, sc), true
	}
	return word.Word{}, false
}

// alternate is ${x:+word}: the word if x is set. What only the environment
// tells stays unknown, unless there is nothing to choose.
func (ex *Expander) alternate(p *syntax.ParamExp, value word.Word, set bool, sc *state.Scope) word.Word {
	ex.NoteUnset(p.Param.Value, set)
	w := ex.Word(p.Exp.Word, sc)
	switch {
	case value.Known && value.Text == "" && set && (p.Exp.Op == syntax.AlternateUnsetOrNull || sc.Variable(p.Param.Value).Unset):
		return word.Of("")
	case value.Known:
		return w
	}
	return word.Word{Text: "$" + p.Param.Value, Taint: w.Taint}
}

// HasProcess says that a text has the beginning of a process substitution.
func HasProcess(text string) bool { return substitutes.MatchString(text) }

var substitutes = regexp.MustCompile(`[<>]\(`)
