package syntax

import "slices"

// parser reads expressions and statements from tokens. It panics with
// errNotPython at the first that is none.
type parser struct {
	tokens []token
	at     int
	depth  int
}

// MaxDepth is how deep expressions may be nested, MaxChain how many operands, calls or
// attributes may follow each other.
const (
	MaxDepth = 700
	MaxChain = 2000
)

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != tokenEnd {
		p.at++
	}
	return t
}

func (p *parser) fail() { panic(errNotPython) }

func (p *parser) enter() func() {
	if p.depth++; p.depth > MaxDepth {
		p.fail()
	}
	return func() { p.depth-- }
}

// is says whether the next token is one of the operators or keywords.
func (p *parser) is(words ...string) bool {
	t := &p.tokens[p.at]
	return (t.kind == tokenOperator || t.kind == tokenName) && slices.Contains(words, t.text)
}

func (p *parser) accept(word string) bool {
	t := &p.tokens[p.at]
	if t.text == word && (t.kind == tokenOperator || t.kind == tokenName) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(word string) {
	if !p.accept(word) {
		p.fail()
	}
}

var keywords = map[string]bool{
	"and": true, "as": true, "assert": true, "async": true, "await": true, "break": true, "class": true,
	"continue": true, "def": true, "del": true, "elif": true, "else": true, "except": true, "finally": true, "for": true,
	"from": true, "global": true, "if": true, "import": true, "in": true, "is": true, "lambda": true, "nonlocal": true,
	"not": true, "or": true, "pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
}

func (p *parser) name() string {
	t := p.next()
	if t.kind != tokenName || keywords[t.text] {
		p.fail()
	}
	return t.text
}

// list reads expressions with commas between them; several are a tuple.
func (p *parser) list() *Expression {
	if p.is("yield") {
		return p.yield()
	}
	first := p.starred()
	if !p.is(",") {
		return first
	}
	all := &Expression{Form: ListForm, Text: tuple, Kids: []*Expression{first}}
	for p.accept(",") && p.startsExpression() {
		all.Kids = append(all.Kids, p.starred())
	}
	return all
}

func (p *parser) startsExpression() bool {
	switch t := p.peek(); t.kind {
	case tokenName:
		return !keywords[t.text] || p.is("not", "lambda", "await")
	case tokenNumber, tokenText:
		return true
	case tokenOperator:
		return p.is("(", "[", "{", "+", "-", "~", "*", "**", "...")
	}
	return false
}

func (p *parser) yield() *Expression {
	p.expect("yield")
	if p.accept("from") {
		e := other(p.expression())
		e.Text = "yield from"
		return e
	}
	e := other()
	if p.startsExpression() {
		e = other(p.list())
	}
	e.Text = "yield"
	return e
}

func other(kids ...*Expression) *Expression { return &Expression{Form: OtherForm, Kids: kids} }

func (p *parser) starred() *Expression {
	if p.accept("*") {
		return &Expression{Form: OtherForm, Text: "*", Kids: []*Expression{p.chain(0)}}
	}
	return p.expression()
}

// expression reads one expression, with its := and its conditional.
func (p *parser) expression() *Expression {
	defer p.enter()()
	if p.is("lambda") {
		return p.lambda()
	}
	e := p.chain(0)
	if e.Form == NameForm && p.accept(":=") {
		return &Expression{Form: NamedForm, Text: e.Text, Kids: []*Expression{p.expression()}}
	}
	if p.accept("if") {
		test := p.chain(0)
		p.expect("else")
		return &Expression{Form: ChoiceForm, Kids: []*Expression{e, test, p.expression()}}
	}
	return e
}

func (p *parser) lambda() *Expression {
	p.expect("lambda")
	params := p.parameters(":")
	p.expect(":")
	body := p.expression()
	define := &Statement{Act: ActDefine, Text: "lambda", Params: params, Body: []*Statement{{Act: ActReturn, Exprs: []*Expression{body}}}}
	return &Expression{Form: LambdaForm, Kids: append(params.Computed[:len(params.Computed):len(params.Computed)], body), Define: define}
}

// levels are the operators between operands, the loosest first.
var levels = [][]string{
	{"or"}, {"and"}, {"not"},
	{"<", ">", "==", ">=", "<=", "!=", "in", "not", "is"},
	{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"},
}

// levelOf is the level of an operator between operands, from 1 on, and 0 for anything else.
func levelOf(text string) int8 {
	if len(text) > longestLeveled {
		return 0
	}
	return levelsByText[text]
}

const longestLeveled = 3

var levelsByText = func() map[string]int8 {
	all := map[string]int8{}
	for i, level := range levels {
		for _, text := range level {
			all[text] = int8(i + 1) // of "not" the later one, between operands
		}
	}
	return all
}()

// levelNot is the level of the prefix "not", levelCompare that of comparisons.
const levelNot, levelCompare = 2, 3

// chain reads operands of one level with its operators between them.
func (p *parser) chain(level int) *Expression {
	if level == len(levels) {
		return p.unary()
	}
	if level == levelNot {
		return p.not()
	}
	first := p.chain(level + 1)
	if int(p.tokens[p.at].level) != level+1 {
		return first
	}
	all := &Expression{Form: ChainForm, Kids: []*Expression{first}, Names: []string{""}}
	for int(p.tokens[p.at].level) == level+1 {
		op := p.next().text
		if level == levelCompare {
			op = p.comparison(op)
		}
		all.Names = append(all.Names, op)
		all.Kids = append(all.Kids, p.chain(level+1))
	}
	return all
}

func (p *parser) comparison(op string) string {
	switch op {
	case "not":
		p.expect("in")
		return "not in"
	case "is":
		p.accept("not")
	}
	return op
}

func (p *parser) not() *Expression {
	if !p.is("not") {
		return p.chain(levelNot + 1)
	}
	defer p.enter()()
	p.next()
	return &Expression{Form: UnaryForm, Text: "not", Kids: []*Expression{p.not()}}
}

func (p *parser) unary() *Expression {
	defer p.enter()()
	if p.is("+", "-", "~") {
		op := p.next().text
		return &Expression{Form: UnaryForm, Text: op, Kids: []*Expression{p.unary()}}
	}
	base := p.awaited()
	if p.accept("**") {
		return &Expression{Form: ChainForm, Kids: []*Expression{base, p.unary()}, Names: []string{"", "**"}}
	}
	return base
}

func (p *parser) awaited() *Expression {
	// What is awaited is what the call gives.
	p.accept("await")
	return p.primary()
}

// primary reads an atom and the calls, attributes and indices after it.
func (p *parser) primary() *Expression {
	e := p.atom()
	for range MaxChain {
		switch {
		case p.accept("."):
			e = &Expression{Form: AttributeForm, Text: p.name(), Kids: []*Expression{e}}
		case p.accept("("):
			e = p.arguments(e)
		case p.accept("["):
			e = &Expression{Form: IndexForm, Kids: []*Expression{e, p.subscript()}}
		default:
			return e
		}
	}
	p.fail()
	return nil
}

func (p *parser) arguments(function *Expression) *Expression {
	call := &Expression{Form: CallForm, Kids: []*Expression{function}}
	for !p.accept(")") {
		name, value := p.argument()
		call.Kids, call.Names = append(call.Kids, value), append(call.Names, name)
		if !p.is(")") {
			p.expect(",")
		}
	}
	return call
}

func (p *parser) argument() (name string, value *Expression) {
	switch {
	case p.accept("*"):
		return "*", p.expression()
	case p.accept("**"):
		return "**", p.expression()
	}
	if t := p.peek(); t.kind == tokenName && p.at+1 < len(p.tokens) && p.tokens[p.at+1].kind == tokenOperator &&
		p.tokens[p.at+1].text == "=" {
		name = p.name()
		p.next()
		return name, p.expression()
	}
	value = p.expression()
	if p.is("for", "async") {
		value = p.comprehension(value)
	}
	return "", value
}

func (p *parser) subscript() *Expression {
	first := p.slice()
	if !p.is(",") {
		p.expect("]")
		return first
	}
	all := &Expression{Form: ListForm, Kids: []*Expression{first}}
	for p.accept(",") && !p.is("]") {
		all.Kids = append(all.Kids, p.slice())
	}
	p.expect("]")
	return all
}

func (p *parser) slice() *Expression {
	var bounds [3]*Expression
	colons := 0
	for {
		switch {
		case p.accept(":"):
			if colons++; colons > 2 {
				p.fail()
			}
			continue
		case p.is("]", ","):
			if colons == 0 {
				if bounds[0] == nil {
					p.fail()
				}
				return bounds[0]
			}
			return &Expression{Form: SliceForm, Kids: bounds[:]}
		case bounds[colons] != nil:
			p.fail()
		}
		bounds[colons] = p.starred()
	}
}

// Mentions says whether an expression reads a name.
func Mentions(e *Expression, name string, depth int) bool {
	if e == nil || depth > MaxDepth {
		return false
	}
	if e.Form == NameForm && e.Text == name {
		return true
	}
	return slices.ContainsFunc(e.Kids, func(kid *Expression) bool { return Mentions(kid, name, depth+1) })
}
