package expand

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
)

// arithmetic evaluates an expression as far as its variables are known.
func (ex *Expander) arithmetic(x syntax.ArithmExpr, sc *state.Scope) word.Word {
	if x == nil {
		return word.Of("0")
	}
	if !ex.Operands(x, sc) {
		return word.Word{Text: "$((…))"}
	}
	n, err := expand.Arithm(&expand.Config{Env: sc, NoUnset: true}, x)
	if err != nil {
		return word.Word{Text: "$((…))"}
	}
	return word.Of(strconv.Itoa(n))
}

// Operands reads what an expression expands and assigns; it is true if the
// expression can be evaluated without either.
func (ex *Expander) Operands(x syntax.ArithmExpr, sc *state.Scope) bool {
	defer ex.Enter()()
	pure := true
	for {
		ex.Spend(1)
		switch e := x.(type) {
		case *syntax.BinaryArithm:
			if e.Op >= syntax.Assgn && ex.forget(e.X, sc) {
				pure = false
			}
			pure = ex.Operands(e.Y, sc) && pure
			x = e.X
			continue
		case *syntax.UnaryArithm:
			if (e.Op == syntax.Inc || e.Op == syntax.Dec) && ex.forget(e.X, sc) {
				pure = false
			}
			x = e.X
			continue
		case *syntax.ParenArithm:
			return ex.Operands(e.X, sc) && pure
		case *syntax.Word:
			return ex.operand(e, sc) && pure
		default:
			return pure && x != nil
		}
	}
}

func (ex *Expander) operand(w *syntax.Word, sc *state.Scope) bool {
	if name := w.Lit(); name != "" {
		if sc.Has(name) {
			return ex.evaluates(sc.Variable(name), sc)
		}
		if syntax.ValidName(name) {
			ex.Mention(name)
			return false
		}
		return true
	}
	value := ex.Word(w, sc)
	ex.Calculate(value, sc)
	if slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool { q, ok := p.(*syntax.SglQuoted); return ok && HasExpansion(q.Value) }) {
		ex.Hide() // these quotes quote nothing here
	}
	return value.Known && simpleWord(w)
}

// evaluates says whether a variable can be evaluated: one that holds a number. What else it holds is evaluated in turn, and an
// index in that may hold commands.
func (ex *Expander) evaluates(v state.Variable, sc *state.Scope) bool {
	if !v.IsKnown() {
		return false
	}
	numbers := true
	for _, w := range v.List {
		if w.Text != "" && !word.IsNumber(w.Text) {
			numbers = false
			ex.Calculate(w, sc)
		}
	}
	return numbers
}

// Calculate hides what a text does if, read as arithmetic, it or what one of its names stands for has an index.
func (ex *Expander) Calculate(w word.Word, sc *state.Scope) {
	ex.CheckIndex(w)
	defer ex.Enter()()
	if names := variableNames.FindAllString(w.Text, word.MaxFields); ex.Spend(1 + len(names)) {
		for _, name := range names {
			for _, held := range sc.Variable(name).List {
				if strings.Contains(held.Text, "[") {
					ex.Hide()
				} else if !word.IsNumber(held.Text) && held.Text != name {
					ex.Calculate(held, sc)
				}
			}
		}
	}
}

var variableNames = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// HasExpansion says that a text has a sign of an expansion.
func HasExpansion(text string) bool { return strings.ContainsAny(text, "$`") }

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

// forget forgets a variable that an expression changes.
func (ex *Expander) forget(x syntax.ArithmExpr, sc *state.Scope) bool {
	if w, ok := x.(*syntax.Word); ok {
		if name := w.Lit(); syntax.ValidName(name) {
			ex.Assigns = append(ex.Assigns, name)
			sc.Lose(name)
		}
	}
	return true
}

// integer is the number that arithmetic comes to, if it is known.
func (ex *Expander) integer(x syntax.ArithmExpr, sc *state.Scope) (n int, ok bool) {
	w := ex.arithmetic(x, sc)
	n, err := strconv.Atoi(w.Text)
	return n, w.Known && err == nil && n > -word.MaxValue && n < word.MaxValue
}
