package shell

import (
	"regexp"
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func (a *analysis) conditional(c *syntax.IfClause, sc *scope, in stream) result {
	var all result
	for ; c != nil; c = c.Else {
		all = following(all, a.statements(c.Cond, sc, in))
		branch := sc.fork()
		r := a.statements(c.Then, branch, in)
		all = following(all, r)
		if c.ThenPos.IsValid() && c.Else != nil && !c.Else.ThenPos.IsValid() {
			other := sc.fork()
			o := a.statements(c.Else.Then, other, in)
			a.settle(sc, branch, r.ends, other, o.ends)
			return following(all, o)
		}
		if !r.ends {
			a.merge(sc, branch)
		}
	}
	return all
}

// settle puts sc where one of two branches leads.
func (a *analysis) settle(sc, x *scope, xEnds bool, y *scope, yEnds bool) {
	switch {
	case xEnds:
		*sc = *y
	case yEnds:
		*sc = *x
	default:
		*sc = *x
		sc.shared = true
		a.merge(sc, y)
	}
}

// loop reads a body, and once more if its first round changed what it sees.
func (a *analysis) loop(sc *scope, body func(*scope) result) result {
	a.rounds++
	defer func() { a.rounds-- }()
	before := sc.fork()
	r := body(sc)
	changed := sc.version != before.version
	a.merge(sc, before)
	if changed {
		again := sc.fork()
		body(again)
		a.merge(sc, again)
	}
	r.ends = false
	return r
}

// each reads a for loop: once for every value, as long as those are known and few.
func (a *analysis) each(c *syntax.ForClause, sc *scope, in stream) result {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		a.clauses(c.Loop, sc)
		return a.loop(sc, func(sc *scope) result { return a.statements(c.Do, sc, in) })
	}
	values := sc.args
	if iter.InPos.IsValid() {
		values = a.items(iter.Items, sc)
	} else if !sc.argsKnown {
		values = []word{{text: "$" + iter.Name.Value}}
	}
	var all result
	for _, v := range values {
		if !a.spend(1) {
			break
		}
		if c.Select { // which of them is chosen the text does not tell
			v = word{text: "$" + iter.Name.Value, items: oneOf([]word{v})}
		}
		all = following(all, a.loop(sc, func(sc *scope) result {
			a.assign(iter.Name.Value, variable{list: []word{v}}, sc)
			return a.statements(c.Do, sc, in)
		}))
	}
	return all
}

// items are the values of a for loop. Of a long range of numbers the text does not tell which of them is meant.
func (a *analysis) items(words []*syntax.Word, sc *scope) (all []word) {
	for _, w := range words {
		if isLongRange(w) {
			all = append(all, word{text: "$(…)"})
		} else {
			all = append(all, a.fields([]*syntax.Word{w}, sc)...)
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
	return max(to-from, from-to) >= maxFields
}

func (a *analysis) clauses(l syntax.Loop, sc *scope) {
	c, ok := l.(*syntax.CStyleLoop)
	if !ok {
		return
	}
	for _, x := range []syntax.ArithmExpr{c.Init, c.Cond, c.Post} {
		if x != nil {
			a.operands(x, sc)
		}
	}
}

func (a *analysis) cases(c *syntax.CaseClause, sc *scope, in stream) result {
	a.single(c.Word, sc)
	before := sc.fork()
	var all result
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			a.single(p, sc)
		}
		branch := before.fork()
		r := a.statements(item.Stmts, branch, in)
		all = following(all, r)
		if !r.ends {
			a.merge(sc, branch)
		}
	}
	return all
}

// test reads what the words of [[ … ]] expand.
func (a *analysis) test(x syntax.TestExpr, sc *scope) {
	defer a.enter()()
	for x != nil && a.spend(1) {
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
			a.single(e, sc)
			return
		default:
			return
		}
	}
}

// number reads a word that [[ … ]] takes for arithmetic or a variable's name.
func (a *analysis) number(x syntax.TestExpr, sc *scope) {
	if w, ok := x.(*syntax.Word); ok {
		a.calculates(a.single(w, sc), sc)
	}
}

func (a *analysis) define(c *syntax.FuncDecl, sc *scope) {
	a.feature(value.FeatureFunction)
	if c.Name == nil {
		a.complete = false
		return
	}
	if a.functions == nil {
		a.functions = map[string]*function{}
	}
	name := c.Name.Value
	if old := a.functions[name]; old != nil && !old.called {
		a.uncalled(old, sc)
	}
	a.functions[name] = &function{body: c.Body}
}
