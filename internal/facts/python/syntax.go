package python

import "slices"

// form is the form of an expression.
type form uint8

const (
	nameForm form = iota
	numberForm
	textForm      // text, bytes
	formatForm    // kids: pieces of text and expressions
	listForm      // kids: items, also of tuples and sets
	dictForm      // kids: key, value, key, value …; a nil key before **value
	callForm      // kids: function, arguments; names: a keyword, "*", "**" or "" for each argument
	attributeForm // kids: object; text: name
	indexForm     // kids: object, index
	sliceForm     // kids: from, to, step; each may be nil
	chainForm     // kids: operands; names: the operator before each
	unaryForm     // text: operator; kids: operand
	choiceForm    // kids: then, test, else
	lambdaForm    // kids: defaults, body last; define
	loopForm      // kids: elements, then for each clause target and source; count: elements; conditions in extra
	namedForm     // text: name; kids: value
	otherForm     // kids: all that is computed, such as by await, yield, *x
)

// expression is an expression.
type expression struct {
	form  form
	text  string
	bytes bool
	kids  []*expression
	names []string
	// define is the function that a lambdaForm makes.
	define *statement
	// count and extra belong to loopForm.
	count int
	extra []*expression
}

// parser reads expressions and statements from tokens. It panics with
// errNotPython at the first that is none.
type parser struct {
	tokens []token
	at     int
	depth  int
}

const (
	maxDepth = 700
	maxChain = 2000
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
	if p.depth++; p.depth > maxDepth {
		p.fail()
	}
	return func() { p.depth-- }
}

// is says whether the next token is one of the operators or keywords.
func (p *parser) is(words ...string) bool {
	t := p.peek()
	return (t.kind == tokenOperator || t.kind == tokenName) && slices.Contains(words, t.text)
}

func (p *parser) accept(word string) bool {
	if p.is(word) {
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
func (p *parser) list() *expression {
	if p.is("yield") {
		return p.yield()
	}
	first := p.starred()
	if !p.is(",") {
		return first
	}
	all := &expression{form: listForm, kids: []*expression{first}}
	for p.accept(",") && p.startsExpression() {
		all.kids = append(all.kids, p.starred())
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

func (p *parser) yield() *expression {
	p.expect("yield")
	if p.accept("from") {
		e := other(p.expression())
		e.text = "yield from"
		return e
	}
	e := other()
	if p.startsExpression() {
		e = other(p.list())
	}
	e.text = "yield"
	return e
}

func other(kids ...*expression) *expression { return &expression{form: otherForm, kids: kids} }

func (p *parser) starred() *expression {
	if p.accept("*") {
		return &expression{form: otherForm, text: "*", kids: []*expression{p.chain(0)}}
	}
	return p.expression()
}

// expression reads one expression, with its := and its conditional.
func (p *parser) expression() *expression {
	defer p.enter()()
	if p.is("lambda") {
		return p.lambda()
	}
	e := p.chain(0)
	if e.form == nameForm && p.accept(":=") {
		return &expression{form: namedForm, text: e.text, kids: []*expression{p.expression()}}
	}
	if p.accept("if") {
		test := p.chain(0)
		p.expect("else")
		return &expression{form: choiceForm, kids: []*expression{e, test, p.expression()}}
	}
	return e
}

func (p *parser) lambda() *expression {
	p.expect("lambda")
	params := p.parameters(":")
	p.expect(":")
	body := p.expression()
	define := &statement{act: actDefine, text: "lambda", params: params, body: []*statement{{act: actReturn, exprs: []*expression{body}}}}
	return &expression{form: lambdaForm, kids: append(params.computed[:len(params.computed):len(params.computed)], body), define: define}
}

// levels are the operators between operands, the loosest first.
var levels = [][]string{
	{"or"}, {"and"}, {"not"},
	{"<", ">", "==", ">=", "<=", "!=", "in", "not", "is"},
	{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"},
}

// levelNot is the level of the prefix "not", levelCompare that of comparisons.
const levelNot, levelCompare = 2, 3

// chain reads operands of one level with its operators between them.
func (p *parser) chain(level int) *expression {
	if level == len(levels) {
		return p.unary()
	}
	if level == levelNot {
		return p.not()
	}
	first := p.chain(level + 1)
	if !p.is(levels[level]...) {
		return first
	}
	all := &expression{form: chainForm, kids: []*expression{first}, names: []string{""}}
	for p.is(levels[level]...) {
		op := p.next().text
		if level == levelCompare {
			op = p.comparison(op)
		}
		all.names = append(all.names, op)
		all.kids = append(all.kids, p.chain(level+1))
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

func (p *parser) not() *expression {
	if !p.is("not") {
		return p.chain(levelNot + 1)
	}
	defer p.enter()()
	p.next()
	return &expression{form: unaryForm, text: "not", kids: []*expression{p.not()}}
}

func (p *parser) unary() *expression {
	defer p.enter()()
	if p.is("+", "-", "~") {
		op := p.next().text
		return &expression{form: unaryForm, text: op, kids: []*expression{p.unary()}}
	}
	base := p.awaited()
	if p.accept("**") {
		return &expression{form: chainForm, kids: []*expression{base, p.unary()}, names: []string{"", "**"}}
	}
	return base
}

func (p *parser) awaited() *expression {
	// What is awaited is what the call gives.
	p.accept("await")
	return p.primary()
}

// primary reads an atom and the calls, attributes and indices after it.
func (p *parser) primary() *expression {
	e := p.atom()
	for range maxChain {
		switch {
		case p.accept("."):
			e = &expression{form: attributeForm, text: p.name(), kids: []*expression{e}}
		case p.accept("("):
			e = p.arguments(e)
		case p.accept("["):
			e = &expression{form: indexForm, kids: []*expression{e, p.subscript()}}
		default:
			return e
		}
	}
	p.fail()
	return nil
}

func (p *parser) arguments(function *expression) *expression {
	call := &expression{form: callForm, kids: []*expression{function}}
	for !p.accept(")") {
		name, value := p.argument()
		call.kids, call.names = append(call.kids, value), append(call.names, name)
		if !p.is(")") {
			p.expect(",")
		}
	}
	return call
}

func (p *parser) argument() (name string, value *expression) {
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

func (p *parser) subscript() *expression {
	first := p.slice()
	if !p.is(",") {
		p.expect("]")
		return first
	}
	all := &expression{form: listForm, kids: []*expression{first}}
	for p.accept(",") && !p.is("]") {
		all.kids = append(all.kids, p.slice())
	}
	p.expect("]")
	return all
}

func (p *parser) slice() *expression {
	var bounds [3]*expression
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
			return &expression{form: sliceForm, kids: bounds[:]}
		case bounds[colons] != nil:
			p.fail()
		}
		bounds[colons] = p.starred()
	}
}
