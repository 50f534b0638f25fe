package python

// pyAct is the kind of a statement.
type pyAct uint8

const (
	pyCompute pyAct = iota // exprs
	pyAssign               // targets, exprs[0]; text: "+" of "+="
	pyImport               // modules
	pyFrom                 // text: module; modules: names in it
	pyDefine               // text: name; params, body
	pyClass                // text: name; exprs: bases; body
	pyIf                   // exprs: tests; targets get something unknown; body may run
	pyRepeat               // like pyIf, but the body may run again
	pyFor                  // targets[0] runs through exprs[0]
	pyWith                 // targets[i] gets exprs[i]; the body runs
	pyReturn               // exprs
	pyGlobal               // names
)

// pyStatement is a statement with what is nested in it.
type pyStatement struct {
	act     pyAct
	text    string
	exprs   []*pyExpr
	targets []*pyExpr
	modules []pyModule
	names   []string
	params  pyParameters
	body    []*pyStatement
	// decorated says that something else may call a function.
	decorated bool
}

// pyModule is an imported name; as is what the program calls it, "*" for all names.
type pyModule struct{ name, as string }

// parsePython reads a whole program.
func parsePython(tokens []pyToken) (program []*pyStatement, err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case errPython:
			err = errPython
		default:
			panic(cause)
		}
	}()
	p := &pyParser{tokens: tokens}
	if p.tokens[p.at+1].kind == pyEnd {
		return nil, nil
	}
	program = p.block(p.next().column)
	if p.peek().kind != pyEnd {
		p.fail()
	}
	return program, nil
}

// block reads the statements at one indentation.
func (p *pyParser) block(column int) []*pyStatement {
	defer p.enter()()
	var all []*pyStatement
	for {
		all = append(all, p.statement(column)...)
		t := p.peek()
		if t.kind == pyEnd || t.kind == pyNewline && (t.column < column || p.tokens[p.at+1].kind == pyEnd) {
			if t.kind == pyNewline && p.tokens[p.at+1].kind == pyEnd {
				p.at++
			}
			return all
		}
		if t.kind != pyNewline || t.column > column {
			p.fail()
		}
		p.next()
	}
}

// suite reads what follows a colon: the rest of the line, or a block.
func (p *pyParser) suite(column int) []*pyStatement {
	p.expect(":")
	t := p.peek()
	if t.kind != pyNewline {
		return p.line()
	}
	if t.column <= column {
		p.fail()
	}
	p.next()
	return p.block(t.column)
}

// again reads a keyword at the start of the next line, if that is at the same
// indentation, as "else" of an "if".
func (p *pyParser) again(column int, words ...string) bool {
	t := p.peek()
	if t.kind != pyNewline || t.column != column || p.at+1 >= len(p.tokens) {
		return false
	}
	p.at++
	if p.is(words...) {
		return true
	}
	p.at--
	return false
}

// line reads simple statements up to the end of the line.
func (p *pyParser) line() []*pyStatement {
	var all []*pyStatement
	for {
		all = append(all, p.simple()...)
		if !p.accept(";") {
			break
		}
		if k := p.peek().kind; k == pyNewline || k == pyEnd {
			break
		}
	}
	if k := p.peek().kind; k != pyNewline && k != pyEnd {
		p.fail()
	}
	return all
}

func (p *pyParser) statement(column int) []*pyStatement {
	if p.is("@") {
		return p.decorated(column)
	}
	if p.is("async") {
		p.next()
		if !p.is("def", "for", "with") {
			p.fail()
		}
	}
	switch {
	case p.is("def"):
		return []*pyStatement{p.define(column)}
	case p.is("class"):
		return []*pyStatement{p.class(column)}
	case p.is("if", "while"):
		return p.conditional(column)
	case p.is("for"):
		return p.loop(column)
	case p.is("try"):
		return p.try(column)
	case p.is("with"):
		return []*pyStatement{p.with(column)}
	case p.is("match") && p.isMatch():
		return p.match(column)
	}
	return p.line()
}

func (p *pyParser) decorated(column int) []*pyStatement {
	p.expect("@")
	decorator := p.expression()
	if t := p.next(); t.kind != pyNewline || t.column != column {
		p.fail()
	}
	if !p.is("@", "def", "class", "async") {
		p.fail()
	}
	all := append([]*pyStatement{{act: pyCompute, exprs: []*pyExpr{decorator}}}, p.statement(column)...)
	all[len(all)-1].decorated = true
	return all
}

func (p *pyParser) define(column int) *pyStatement {
	p.expect("def")
	s := &pyStatement{act: pyDefine, text: p.name()}
	p.typeParameters()
	p.expect("(")
	s.params = p.parameters(")")
	p.expect(")")
	if p.accept("->") {
		s.params.computed = append(s.params.computed, p.list())
	}
	s.body = p.suite(column)
	return s
}

func (p *pyParser) typeParameters() {
	if p.accept("[") {
		for !p.accept("]") {
			p.next()
			if p.peek().kind == pyEnd {
				p.fail()
			}
		}
	}
}

func (p *pyParser) class(column int) *pyStatement {
	p.expect("class")
	s := &pyStatement{act: pyClass, text: p.name()}
	p.typeParameters()
	if p.accept("(") {
		s.exprs = p.arguments(other()).kids[1:]
	}
	s.body = p.suite(column)
	return s
}

// conditional reads if … elif … else and while … else.
func (p *pyParser) conditional(column int) []*pyStatement {
	act := pyIf
	if p.is("while") {
		act = pyRepeat
	}
	p.next()
	test := p.list()
	all := []*pyStatement{{act: act, exprs: []*pyExpr{test}, body: p.suite(column)}}
	for p.again(column, "elif") {
		p.next()
		test := p.list()
		all = append(all, &pyStatement{act: pyIf, exprs: []*pyExpr{test}, body: p.suite(column)})
	}
	return append(all, p.otherwise(column)...)
}

func (p *pyParser) otherwise(column int) []*pyStatement {
	if !p.again(column, "else") {
		return nil
	}
	p.next()
	return []*pyStatement{{act: pyIf, body: p.suite(column)}}
}

func (p *pyParser) loop(column int) []*pyStatement {
	p.expect("for")
	s := &pyStatement{act: pyFor, targets: []*pyExpr{p.targets()}}
	p.expect("in")
	s.exprs = []*pyExpr{p.list()}
	s.body = p.suite(column)
	return append([]*pyStatement{s}, p.otherwise(column)...)
}

func (p *pyParser) try(column int) []*pyStatement {
	p.expect("try")
	all := []*pyStatement{{act: pyIf, body: p.suite(column)}}
	for p.again(column, "except", "else", "finally") {
		s := &pyStatement{act: pyIf}
		if p.next().text == "except" && !p.is(":") {
			p.accept("*")
			s.exprs = []*pyExpr{p.list()}
			if p.accept("as") {
				s.targets = []*pyExpr{{form: pyNameForm, text: p.name()}}
			}
		}
		s.body = p.suite(column)
		all = append(all, s)
	}
	if len(all) == 1 {
		p.fail()
	}
	return all
}

func (p *pyParser) with(column int) *pyStatement {
	p.expect("with")
	s := &pyStatement{act: pyWith}
	start := p.at
	if !p.withItems(s, p.accept("(")) {
		p.at = start
		s.exprs, s.targets = nil, nil
		p.withItems(s, false)
	}
	s.body = p.suite(column)
	return s
}

// withItems reads "a as b, c"; it is false if what looked like brackets around
// all of it were brackets around an expression.
func (p *pyParser) withItems(s *pyStatement, bracketed bool) bool {
	for !bracketed || !p.is(")") {
		if bracketed && (p.is("*", "yield") || !p.startsExpression()) {
			return false
		}
		s.exprs = append(s.exprs, p.expression())
		var target *pyExpr
		if p.accept("as") {
			target = p.target()
		}
		s.targets = append(s.targets, target)
		if !p.accept(",") {
			break
		}
	}
	if !bracketed {
		return true
	}
	return p.accept(")") && p.is(":")
}

// isMatch tells the statement from a variable of that name: its line ends in a
// colon, and a "case" follows.
func (p *pyParser) isMatch() bool {
	for i := p.at + 1; i+1 < len(p.tokens); i++ {
		if p.tokens[i].kind != pyNewline {
			continue
		}
		return i > p.at+2 && p.tokens[i-1].text == ":" && p.tokens[i-1].kind == pyOperator && p.tokens[i+1].text == "case"
	}
	return false
}

func (p *pyParser) match(column int) []*pyStatement {
	p.expect("match")
	all := []*pyStatement{{act: pyCompute, exprs: []*pyExpr{p.list()}}}
	p.expect(":")
	t := p.next()
	if t.kind != pyNewline || t.column <= column {
		p.fail()
	}
	for {
		all = append(all, p.matchCase(t.column))
		if !p.again(t.column, "case") {
			return all
		}
	}
}

func (p *pyParser) matchCase(column int) *pyStatement {
	p.expect("case")
	s := &pyStatement{act: pyIf}
	for depth := 0; depth > 0 || !p.is(":", "if"); {
		t := p.next()
		switch {
		case t.kind == pyEnd || t.kind == pyNewline:
			p.fail()
		case t.kind == pyName && !pyKeywords[t.text]:
			s.targets = append(s.targets, &pyExpr{form: pyNameForm, text: t.text})
		case t.kind == pyOperator && (t.text == "(" || t.text == "[" || t.text == "{"):
			depth++
		case t.kind == pyOperator && (t.text == ")" || t.text == "]" || t.text == "}"):
			depth--
		}
	}
	if p.accept("if") {
		s.exprs = []*pyExpr{p.expression()}
	}
	s.body = p.suite(column)
	return s
}

func (p *pyParser) simple() []*pyStatement {
	switch {
	case p.is("import"):
		return []*pyStatement{p.imports()}
	case p.is("from"):
		return []*pyStatement{p.from()}
	case p.is("pass", "break", "continue"):
		p.next()
		return nil
	case p.is("global", "nonlocal"):
		return []*pyStatement{p.global()}
	case p.is("return"):
		p.next()
		if !p.startsExpression() {
			return nil
		}
		return []*pyStatement{{act: pyReturn, exprs: []*pyExpr{p.list()}}}
	case p.is("del", "assert", "raise"):
		return p.keyword()
	}
	return p.assignment()
}

func (p *pyParser) keyword() []*pyStatement {
	word := p.next().text
	if word == "raise" && !p.startsExpression() {
		return nil
	}
	s := &pyStatement{act: pyCompute, exprs: []*pyExpr{p.list()}}
	if word == "raise" && p.accept("from") {
		s.exprs = append(s.exprs, p.expression())
	}
	return []*pyStatement{s}
}

func (p *pyParser) dotted() string {
	name := p.name()
	for p.accept(".") {
		name += "." + p.name()
	}
	return name
}

func (p *pyParser) imports() *pyStatement {
	p.expect("import")
	s := &pyStatement{act: pyImport}
	for {
		m := pyModule{name: p.dotted()}
		if p.accept("as") {
			m.as = p.name()
		}
		s.modules = append(s.modules, m)
		if !p.accept(",") {
			return s
		}
	}
}

func (p *pyParser) from() *pyStatement {
	p.expect("from")
	s := &pyStatement{act: pyFrom}
	for p.is(".", "...") {
		s.text += p.next().text
	}
	if s.text == "" || !p.is("import") {
		s.text += p.dotted()
	}
	p.expect("import")
	if p.accept("*") {
		s.modules = []pyModule{{as: "*"}}
		return s
	}
	bracketed := p.accept("(")
	for {
		m := pyModule{name: p.name()}
		m.as = m.name
		if p.accept("as") {
			m.as = p.name()
		}
		s.modules = append(s.modules, m)
		if !p.accept(",") || bracketed && p.is(")") {
			break
		}
	}
	if bracketed {
		p.expect(")")
	}
	return s
}

func (p *pyParser) global() *pyStatement {
	p.next()
	s := &pyStatement{act: pyGlobal, names: []string{p.name()}}
	for p.accept(",") {
		s.names = append(s.names, p.name())
	}
	return s
}

// assignment reads an expression with what is assigned to it, if anything.
func (p *pyParser) assignment() []*pyStatement {
	if p.is("type") && p.tokens[p.at+1].kind == pyName && !pyKeywords[p.tokens[p.at+1].text] {
		p.next()
		target := &pyExpr{form: pyNameForm, text: p.name()}
		p.typeParameters()
		p.expect("=")
		return []*pyStatement{{act: pyAssign, targets: []*pyExpr{target}, exprs: []*pyExpr{p.expression()}}}
	}
	first := p.list()
	if p.accept(":") {
		annotation := &pyStatement{act: pyCompute, exprs: []*pyExpr{p.expression()}}
		if !p.accept("=") {
			return []*pyStatement{annotation}
		}
		return []*pyStatement{annotation, {act: pyAssign, targets: []*pyExpr{first}, exprs: []*pyExpr{p.list()}}}
	}
	if op := p.augmented(); op != "" {
		return []*pyStatement{{act: pyAssign, text: op, targets: []*pyExpr{first}, exprs: []*pyExpr{p.list()}}}
	}
	if !p.is("=") {
		return []*pyStatement{{act: pyCompute, exprs: []*pyExpr{first}}}
	}
	s := &pyStatement{act: pyAssign}
	for p.accept("=") {
		s.targets = append(s.targets, first)
		first = p.list()
	}
	s.exprs = []*pyExpr{first}
	return []*pyStatement{s}
}

// augmented reads the operator of "+=" and the like.
func (p *pyParser) augmented() string {
	t := p.peek()
	if n := len(t.text); t.kind == pyOperator && n > 1 && t.text[n-1] == '=' && !p.is("==", "!=", "<=", ">=", ":=") {
		p.next()
		return t.text[:n-1]
	}
	return ""
}
