package shell

import (
	"regexp"
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/call"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/state"
	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (a *analysis) conditional(c *syntax.IfClause, sc *state.Scope, in word.Stream) call.Result {
	var all call.Result
	for ; c != nil; c = c.Else {
		all = call.Sequence(all, a.statements(c.Cond, sc, in))
		branch := sc.Fork()
		r := a.statements(c.Then, branch, in)
		all = call.Sequence(all, r)
		if c.ThenPos.IsValid() && c.Else != nil && !c.Else.ThenPos.IsValid() {
			other := sc.Fork()
			o := a.statements(c.Else.Then, other, in)
			a.Settle(sc, branch, r.Ends, other, o.Ends)
			return call.Sequence(all, o)
		}
		if !r.Ends {
			a.Merge(sc, branch)
		}
	}
	return all
}

// loop reads a body, and once more if its first round changed what it sees.
func (a *analysis) loop(sc *state.Scope, body func(*state.Scope) call.Result) call.Result {
	a.Rounds++
	defer func() { a.Rounds-- }()
	before := sc.Fork()
	r := body(sc)
	changed := sc.HasAssigned(before)
	a.Merge(sc, before)
	if changed {
		again := sc.Fork()
		body(again)
		a.Merge(sc, again)
	}
	r.Ends = false
	return r
}

// each reads a for loop: once for every value, as long as those are known and few.
func (a *analysis) each(c *syntax.ForClause, sc *state.Scope, in word.Stream) call.Result {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		a.clauses(c.Loop, sc)
		return a.loop(sc, func(sc *state.Scope) call.Result { return a.statements(c.Do, sc, in) })
	}
	values := sc.Args
	if iter.InPos.IsValid() {
		values = a.items(iter.Items, sc)
	} else if !sc.ArgsKnown {
		values = []word.Word{{Text: "$" + iter.Name.Value}}
	}
	var all call.Result
	for _, v := range values {
		if !a.Spend(1) {
			break
		}
		if c.Select { // which of them is chosen the text does not tell
			v = word.Word{Text: "$" + iter.Name.Value, Items: word.OneOf([]word.Word{v})}
		}
		all = call.Sequence(all, a.loop(sc, func(sc *state.Scope) call.Result {
			a.Assign(iter.Name.Value, state.Variable{List: []word.Word{v}}, sc)
			return a.statements(c.Do, sc, in)
		}))
	}
	return all
}

// items are the values of a for loop. Of a long range of numbers the text does not tell which of them is meant.
func (a *analysis) items(words []*syntax.Word, sc *state.Scope) (all []word.Word) {
	for _, w := range words {
		if isLongRange(w) {
			all = append(all, word.Word{Text: "$(…)"})
		} else {
			all = append(all, a.Fields([]*syntax.Word{w}, sc)...)
		}
	}
	return all
}

var aRange = regexp.MustCompile(`^\{([0-9]{1,9})\.\.([0-9]{1,9})\}$`)

// isLongRange says that a word is a range of more numbers than are read one by one.
func isLongRange(w *syntax.Word) bool {
	ends := aRange.FindStringSubmatch(w.Lit())
	if ends == nil {
		return false
	}
	from, _ := strconv.Atoi(ends[1])
	to, _ := strconv.Atoi(ends[2])
	return max(to-from, from-to) >= word.MaxFields
}

func (a *analysis) clauses(l syntax.Loop, sc *state.Scope) {
	c, ok := l.(*syntax.CStyleLoop)
	if !ok {
		return
	}
	for _, x := range []syntax.ArithmExpr{c.Init, c.Cond, c.Post} {
		if x != nil {
			a.Operands(x, sc)
		}
	}
}

func (a *analysis) cases(c *syntax.CaseClause, sc *state.Scope, in word.Stream) call.Result {
	a.Word(c.Word, sc)
	before := sc.Fork()
	var all call.Result
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			a.Word(p, sc)
		}
		branch := before.Fork()
		r := a.statements(item.Stmts, branch, in)
		all = call.Sequence(all, r)
		if !r.Ends {
			a.Merge(sc, branch)
		}
	}
	return all
}

// test reads what the words of [[ … ]] expand.
func (a *analysis) test(x syntax.TestExpr, sc *state.Scope) {
	defer a.Enter()()
	for x != nil && a.Spend(1) {
		switch e := x.(type) {
		case *syntax.BinaryTest:
			a.test(e.Y, sc)
			if e.Op >= syntax.TsEql && e.Op <= syntax.TsGtr {
				a.number(e.X, sc)
				a.number(e.Y, sc)
			}
			x = e.X
		case *syntax.UnaryTest:
			if e.Op == syntax.TsVarSet || e.Op == syntax.TsRefVar {
				a.number(e.X, sc)
			}
			x = e.X
		case *syntax.ParenTest:
			x = e.X
		case *syntax.Word:
			a.Word(e, sc)
			return
		default:
			return
		}
	}
}

// number reads a word that [[ … ]] takes for arithmetic or a variable's name.
func (a *analysis) number(x syntax.TestExpr, sc *state.Scope) {
	if w, ok := x.(*syntax.Word); ok {
		a.Calculate(a.Word(w, sc), sc)
	}
}

func (a *analysis) define(c *syntax.FuncDecl, sc *state.Scope) {
	a.NoteFeature(value.FeatureFunction)
	if c.Name == nil {
		a.Complete = false
		return
	}
	if a.functions == nil {
		a.functions = map[string]*function{}
	}
	name := c.Name.Value
	if old := a.functions[name]; old != nil && !old.called {
		a.readFunction(old, sc)
	}
	a.functions[name] = &function{body: c.Body}
}
