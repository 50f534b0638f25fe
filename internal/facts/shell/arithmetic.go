package shell

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// arithmetic evaluates an expression as far as its variables are known.
func (ex *expander) arithmetic(x syntax.ArithmExpr, sc *scope) word {
	if x == nil {
		return known("0")
	}
	if !ex.operands(x, sc) {
		return word{text: "$((…))"}
	}
	n, err := expand.Arithm(&expand.Config{Env: sc, NoUnset: true}, x)
	if err != nil {
		return word{text: "$((…))"}
	}
	return known(strconv.Itoa(n))
}

// operands reads what an expression expands and assigns; it is true if the
// expression can be evaluated without either.
func (ex *expander) operands(x syntax.ArithmExpr, sc *scope) bool {
	defer ex.enter()()
	pure := true
	for {
		ex.spend(1)
		switch e := x.(type) {
		case *syntax.BinaryArithm:
			if e.Op >= syntax.Assgn && ex.assigned(e.X, sc) {
				pure = false
			}
			pure = ex.operands(e.Y, sc) && pure
			x = e.X
			continue
		case *syntax.UnaryArithm:
			if (e.Op == syntax.Inc || e.Op == syntax.Dec) && ex.assigned(e.X, sc) {
				pure = false
			}
			x = e.X
			continue
		case *syntax.ParenArithm:
			return ex.operands(e.X, sc) && pure
		case *syntax.Word:
			return ex.operand(e, sc) && pure
		default:
			return pure && x != nil
		}
	}
}

func (ex *expander) operand(w *syntax.Word, sc *scope) bool {
	if name := w.Lit(); name != "" {
		if v, ok := sc.vars[name]; ok {
			return ex.evaluates(v, sc)
		}
		if syntax.ValidName(name) {
			ex.mention(name)
			return false
		}
		return true
	}
	value := ex.single(w, sc)
	ex.calculates(value, sc)
	if slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool { q, ok := p.(*syntax.SglQuoted); return ok && expands(q.Value) }) {
		ex.hide() // these quotes quote nothing here
	}
	return value.known && simpleWord(w)
}

// evaluates says whether a variable can be evaluated: one that holds a number. What else it holds is evaluated in turn, and an
// index in that may hold commands.
func (ex *expander) evaluates(v variable, sc *scope) bool {
	if !v.known() {
		return false
	}
	numbers := true
	for _, w := range v.list {
		if w.text != "" && !isNumber(w.text) {
			numbers = false
			ex.calculates(w, sc)
		}
	}
	return numbers
}

// calculates hides what a text does if, read as arithmetic, it or what one of its names stands for has an index.
func (ex *expander) calculates(w word, sc *scope) {
	ex.again(w)
	defer ex.enter()()
	if names := variableNames.FindAllString(w.text, maxFields); ex.spend(1 + len(names)) {
		for _, name := range names {
			for _, held := range sc.vars[name].list {
				if strings.Contains(held.text, "[") {
					ex.hide()
				} else if !isNumber(held.text) && held.text != name {
					ex.calculates(held, sc)
				}
			}
		}
	}
}

var variableNames = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// expands says that a text has a sign of an expansion.
func expands(text string) bool { return strings.ContainsAny(text, "$`") }

func simpleWord(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
		case *syntax.ParamExp:
			if p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Index != nil || p.Excl {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// assigned forgets a variable that an expression changes.
func (ex *expander) assigned(x syntax.ArithmExpr, sc *scope) bool {
	if w, ok := x.(*syntax.Word); ok {
		if name := w.Lit(); syntax.ValidName(name) {
			ex.assigns = append(ex.assigns, name)
			sc.lose(name)
		}
	}
	return true
}
