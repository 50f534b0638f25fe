package python

// act is the kind of a statement.
type act uint8

const (
	actCompute act = iota // exprs
	actAssign             // targets, exprs[0]; text: "+" of "+="
	actImport             // modules
	actFrom               // text: module; modules: names in it
	actDefine             // text: name; params, body
	actClass              // text: name; exprs: bases; body
	actIf                 // exprs: tests; targets get something unknown; body may run
	actRepeat             // like actIf, but the body may run again
	actFor                // targets[0] runs through exprs[0]
	actWith               // targets[i] gets exprs[i]; the body runs
	actReturn             // exprs
	actGlobal             // names
)

// statement is a statement with what is nested in it.
type statement struct {
	act     act
	text    string
	exprs   []*expression
	targets []*expression
	modules []module
	names   []string
	params  parameters
	body    []*statement
	// decorated says that something else may call a function.
	decorated bool
}

// module is an imported name; as is what the program calls it, "*" for all names.
type module struct{ name, as string }

// parse reads a whole program.
func parse(tokens []token) (program []*statement, err error) {
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case errNotPython:
			err = errNotPython
		default:
			panic(cause)
		}
	}()
	p := &parser{tokens: tokens}
	if p.tokens[p.at+1].kind == tokenEnd {
		return nil, nil
	}
	program = p.block(p.next().column)
	if p.peek().kind != tokenEnd {
		p.fail()
	}
	return program, nil
}

// block reads the statements at one indentation.
func (p *parser) block(column int) []*statement {
	defer p.enter()()
	var all []*statement
	for {
		all = append(all, p.statement(column)...)
		t := p.peek()
		if t.kind == tokenEnd || t.kind == tokenNewline && (t.column < column || p.tokens[p.at+1].kind == tokenEnd) {
			if t.kind == tokenNewline && p.tokens[p.at+1].kind == tokenEnd {
				p.at++
			}
			return all
		}
		if t.kind != tokenNewline || t.column > column {
			p.fail()
		}
		p.next()
	}
}

// suite reads what follows a colon: the rest of the line, or a block.
func (p *parser) suite(column int) []*statement {
	p.expect(":")
	t := p.peek()
	if t.kind != tokenNewline {
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
func (p *parser) again(column int, words ...string) bool {
	t := p.peek()
	if t.kind != tokenNewline || t.column != column || p.at+1 >= len(p.tokens) {
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
func (p *parser) line() []*statement {
	var all []*statement
	for {
		all = append(all, p.simple()...)
		if !p.accept(";") {
			break
		}
		if k := p.peek().kind; k == tokenNewline || k == tokenEnd {
			break
		}
	}
	if k := p.peek().kind; k != tokenNewline && k != tokenEnd {
		p.fail()
	}
	return all
}

func (p *parser) statement(column int) []*statement {
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
		return []*statement{p.define(column)}
	case p.is("class"):
		return []*statement{p.class(column)}
	case p.is("if", "while"):
		return p.conditional(column)
	case p.is("for"):
		return p.loop(column)
	case p.is("try"):
		return p.try(column)
	case p.is("with"):
		return []*statement{p.with(column)}
	case p.is("match") && p.isMatch():
		return p.match(column)
	}
	return p.line()
}

func (p *parser) decorated(column int) []*statement {
	p.expect("@")
	decorator := p.expression()
	if t := p.next(); t.kind != tokenNewline || t.column != column {
		p.fail()
	}
	if !p.is("@", "def", "class", "async") {
		p.fail()
	}
	all := append([]*statement{{act: actCompute, exprs: []*expression{decorator}}}, p.statement(column)...)
	all[len(all)-1].decorated = true
	return all
}

func (p *parser) define(column int) *statement {
	p.expect("def")
	s := &statement{act: actDefine, text: p.name()}
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

func (p *parser) typeParameters() {
	if p.accept("[") {
		for !p.accept("]") {
			p.next()
			if p.peek().kind == tokenEnd {
				p.fail()
			}
		}
	}
}

func (p *parser) class(column int) *statement {
	p.expect("class")
	s := &statement{act: actClass, text: p.name()}
	p.typeParameters()
	if p.accept("(") {
		s.exprs = p.arguments(other()).kids[1:]
	}
	s.body = p.suite(column)
	return s
}

// conditional reads if … elif … else and while … else.
func (p *parser) conditional(column int) []*statement {
	act := actIf
	if p.is("while") {
		act = actRepeat
	}
	p.next()
	test := p.list()
	all := []*statement{{act: act, exprs: []*expression{test}, body: p.suite(column)}}
	for p.again(column, "elif") {
		p.next()
		test := p.list()
		all = append(all, &statement{act: actIf, exprs: []*expression{test}, body: p.suite(column)})
	}
	return append(all, p.otherwise(column)...)
}

func (p *parser) otherwise(column int) []*statement {
	if !p.again(column, "else") {
		return nil
	}
	p.next()
	return []*statement{{act: actIf, body: p.suite(column)}}
}

func (p *parser) loop(column int) []*statement {
	p.expect("for")
	s := &statement{act: actFor, targets: []*expression{p.targets()}}
	p.expect("in")
	s.exprs = []*expression{p.list()}
	s.body = p.suite(column)
	return append([]*statement{s}, p.otherwise(column)...)
}

func (p *parser) try(column int) []*statement {
	p.expect("try")
	all := []*statement{{act: actIf, body: p.suite(column)}}
	for p.again(column, "except", "else", "finally") {
		s := &statement{act: actIf}
		if p.next().text == "except" && !p.is(":") {
			p.accept("*")
			s.exprs = []*expression{p.list()}
			if p.accept("as") {
				s.targets = []*expression{{form: nameForm, text: p.name()}}
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

func (p *parser) with(column int) *statement {
	p.expect("with")
	s := &statement{act: actWith}
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
func (p *parser) withItems(s *statement, bracketed bool) bool {
	for !bracketed || !p.is(")") {
		if bracketed && (p.is("*", "yield") || !p.startsExpression()) {
			return false
		}
		s.exprs = append(s.exprs, p.expression())
		var target *expression
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
func (p *parser) isMatch() bool {
	for i := p.at + 1; i+1 < len(p.tokens); i++ {
		if p.tokens[i].kind != tokenNewline {
			continue
		}
		return i > p.at+2 && p.tokens[i-1].text == ":" && p.tokens[i-1].kind == tokenOperator && p.tokens[i+1].text == "case"
	}
	return false
}

func (p *parser) match(column int) []*statement {
	p.expect("match")
	all := []*statement{{act: actCompute, exprs: []*expression{p.list()}}}
	p.expect(":")
	t := p.next()
	if t.kind != tokenNewline || t.column <= column {
		p.fail()
	}
	for {
		all = append(all, p.matchCase(t.column))
		if !p.again(t.column, "case") {
			return all
		}
	}
}

func (p *parser) matchCase(column int) *statement {
	p.expect("case")
	s := &statement{act: actIf}
	for depth := 0; depth > 0 || !p.is(":", "if"); {
		t := p.next()
		switch {
		case t.kind == tokenEnd || t.kind == tokenNewline:
			p.fail()
		case t.kind == tokenName && !keywords[t.text]:
			s.targets = append(s.targets, &expression{form: nameForm, text: t.text})
		case t.kind == tokenOperator && (t.text == "(" || t.text == "[" || t.text == "{"):
			depth++
		case t.kind == tokenOperator && (t.text == ")" || t.text == "]" || t.text == "}"):
			depth--
		}
	}
	if p.accept("if") {
		s.exprs = []*expression{p.expression()}
	}
	s.body = p.suite(column)
	return s
}
