package syntax

// Act is the kind of a statement.
type Act uint8

// The kinds of statements.
const (
	ActCompute Act = iota // Exprs; Text: "del", "assert" or "raise"
	ActAssign             // Targets, Exprs[0]; Text: "+" of "+="
	ActImport             // Modules
	ActFrom               // Text: module; Modules: names in it
	ActDefine             // Text: name; Params, Body
	ActClass              // Text: name; Exprs: bases; Body
	ActIf                 // Exprs: tests; Targets get something unknown; body may run
	ActRepeat             // like ActIf, but the body may run again
	ActFor                // Targets[0] runs through Exprs[0]
	ActWith               // Targets[i] gets Exprs[i]; the body runs
	ActReturn             // Exprs
	ActGlobal             // Names; Text: "global" or "nonlocal"
)

// Statement is a statement with what is nested in it.
type Statement struct {
	Act     Act
	Text    string
	Exprs   []*Expression
	Targets []*Expression
	Modules []Module
	Names   []string
	Params  Parameters
	Body    []*Statement
	// Decorated says that something else may call a function.
	Decorated bool
}

// Module is an imported name; As is what the program calls it, "*" for all names.
type Module struct{ Name, As string }

// parse reads a whole program.
func parse(tokens []token) (program []*Statement, err error) {
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
func (p *parser) block(column int32) []*Statement {
	defer p.enter()()
	var all []*Statement
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
func (p *parser) suite(column int32) []*Statement {
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
func (p *parser) again(column int32, words ...string) bool {
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
func (p *parser) line() []*Statement {
	var all []*Statement
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

func (p *parser) statement(column int32) []*Statement {
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
		return []*Statement{p.define(column)}
	case p.is("class"):
		return []*Statement{p.class(column)}
	case p.is("if", "while"):
		return p.conditional(column)
	case p.is("for"):
		return p.loop(column)
	case p.is("try"):
		return p.try(column)
	case p.is("with"):
		return []*Statement{p.with(column)}
	case p.is("match") && p.isMatch():
		return p.match(column)
	}
	return p.line()
}

func (p *parser) decorated(column int32) []*Statement {
	p.expect("@")
	decorator := p.expression()
	if t := p.next(); t.kind != tokenNewline || t.column != column {
		p.fail()
	}
	if !p.is("@", "def", "class", "async") {
		p.fail()
	}
	all := append([]*Statement{{Act: ActCompute, Exprs: []*Expression{decorator}}}, p.statement(column)...)
	all[len(all)-1].Decorated = true
	return all
}

func (p *parser) define(column int32) *Statement {
	p.expect("def")
	s := &Statement{Act: ActDefine, Text: p.name()}
	types := p.typeParameters()
	p.expect("(")
	s.Params = p.parameters(")")
	p.expect(")")
	if p.accept("->") {
		s.Params.Computed = append(s.Params.Computed, p.list())
	}
	s.Body = append(types, p.suite(column)...)
	return s
}

// typeParameters reads what is in brackets behind the name of a function, class or type. Each name stands for its bound or its
// default, which are computed when a program asks for them.
func (p *parser) typeParameters() []*Statement {
	var all []*Statement
	if !p.accept("[") {
		return nil
	}
	for !p.accept("]") {
		if !p.accept("*") {
			p.accept("**")
		}
		name := &Expression{Form: NameForm, Text: p.name()}
		stands := [3]*Expression{{Form: ListForm}, {Form: ListForm}, {Form: ListForm}}
		if p.accept(":") {
			stands[0] = p.expression()
		}
		if p.accept("=") {
			stands[2] = p.expression()
		}
		choice := &Expression{Form: ChoiceForm, Kids: stands[:]}
		all = append(all, &Statement{Act: ActAssign, Targets: []*Expression{name}, Exprs: []*Expression{choice}})
		if !p.accept(",") && !p.is("]") {
			p.fail()
		}
	}
	return all
}

func (p *parser) class(column int32) *Statement {
	p.expect("class")
	s := &Statement{Act: ActClass, Text: p.name()}
	types := p.typeParameters()
	if p.accept("(") {
		s.Exprs = p.arguments(other()).Kids[1:]
	}
	s.Body = append(types, p.suite(column)...)
	return s
}

// conditional reads if … elif … else and while … else.
func (p *parser) conditional(column int32) []*Statement {
	act := ActIf
	if p.is("while") {
		act = ActRepeat
	}
	p.next()
	test := p.list()
	all := []*Statement{{Act: act, Exprs: []*Expression{test}, Body: p.suite(column)}}
	for p.again(column, "elif") {
		p.next()
		test := p.list()
		all = append(all, &Statement{Act: ActIf, Exprs: []*Expression{test}, Body: p.suite(column)})
	}
	return append(all, p.otherwise(column)...)
}

func (p *parser) otherwise(column int32) []*Statement {
	if !p.again(column, "else") {
		return nil
	}
	p.next()
	return []*Statement{{Act: ActIf, Body: p.suite(column)}}
}

func (p *parser) loop(column int32) []*Statement {
	p.expect("for")
	s := &Statement{Act: ActFor, Targets: []*Expression{p.targets()}}
	p.expect("in")
	s.Exprs = []*Expression{p.list()}
	s.Body = p.suite(column)
	return append([]*Statement{s}, p.otherwise(column)...)
}

func (p *parser) try(column int32) []*Statement {
	p.expect("try")
	all := []*Statement{{Act: ActIf, Body: p.suite(column)}}
	for p.again(column, "except", "else", "finally") {
		s := &Statement{Act: ActIf}
		if p.next().text == "except" && !p.is(":") {
			p.accept("*")
			s.Exprs = []*Expression{p.list()}
			if p.accept("as") {
				s.Targets = []*Expression{{Form: NameForm, Text: p.name()}}
			}
		}
		s.Body = p.suite(column)
		all = append(all, s)
	}
	if len(all) == 1 {
		p.fail()
	}
	return all
}

func (p *parser) with(column int32) *Statement {
	p.expect("with")
	s := &Statement{Act: ActWith}
	start := p.at
	if !p.withItems(s, p.accept("(")) {
		p.at = start
		s.Exprs, s.Targets = nil, nil
		p.withItems(s, false)
	}
	s.Body = p.suite(column)
	return s
}

// withItems reads "a as b, c"; it is false if what looked like brackets around
// all of it were brackets around an expression.
func (p *parser) withItems(s *Statement, bracketed bool) bool {
	for !bracketed || !p.is(")") {
		if bracketed && (p.is("*", "yield") || !p.startsExpression()) {
			return false
		}
		s.Exprs = append(s.Exprs, p.expression())
		var target *Expression
		if p.accept("as") {
			target = p.target()
		}
		s.Targets = append(s.Targets, target)
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

func (p *parser) match(column int32) []*Statement {
	p.expect("match")
	all := []*Statement{{Act: ActCompute, Exprs: []*Expression{p.list()}}}
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

func (p *parser) matchCase(column int32) *Statement {
	p.expect("case")
	s := &Statement{Act: ActIf}
	for depth := 0; depth > 0 || !p.is(":", "if"); {
		t := p.next()
		switch {
		case t.kind == tokenEnd || t.kind == tokenNewline:
			p.fail()
		case t.kind == tokenName && !keywords[t.text]:
			s.Targets = append(s.Targets, &Expression{Form: NameForm, Text: t.text})
		case t.kind == tokenOperator && (t.text == "(" || t.text == "[" || t.text == "{"):
			depth++
		case t.kind == tokenOperator && (t.text == ")" || t.text == "]" || t.text == "}"):
			depth--
		}
	}
	if p.accept("if") {
		s.Exprs = []*Expression{p.expression()}
	}
	s.Body = p.suite(column)
	return s
}
