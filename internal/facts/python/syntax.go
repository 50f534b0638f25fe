package python

import "slices"

// pyForm is the form of an expression.
type pyForm uint8

const (
	pyNameForm pyForm = iota
	pyNumberForm
	pyTextForm      // text, bytes
	pyFormatForm    // kids: pieces of text and expressions
	pyListForm      // kids: items, also of tuples and sets
	pyDictForm      // kids: key, value, key, value …; a nil key before **value
	pyCallForm      // kids: function, arguments; names: a keyword, "*", "**" or "" for each argument
	pyAttributeForm // kids: object; text: name
	pyIndexForm     // kids: object, index
	pySliceForm     // kids: from, to, step; each may be nil
	pyChainForm     // kids: operands; names: the operator before each
	pyUnaryForm     // text: operator; kids: operand
	pyChoiceForm    // kids: then, test, else
	pyLambdaForm    // kids: defaults, body last; names: parameters
	pyLoopForm      // kids: elements, then for each clause target and source; count: elements; conditions in extra
	pyNamedForm     // text: name; kids: value
	pyOtherForm     // kids: whatever is computed, such as by await, yield, *x
)

// pyExpr is an expression.
type pyExpr struct {
	form  pyForm
	text  string
	bytes bool
	kids  []*pyExpr
	names []string
	// count and extra belong to pyLoopForm.
	count int
	extra []*pyExpr
}

// pyParser reads expressions and statements from tokens. It panics with
// errPython at the first that is none.
type pyParser struct {
	tokens []pyToken
	at     int
	depth  int
}

const (
	maxPyDepth = 700
	maxPyChain = 2000
)

func (p *pyParser) peek() pyToken { return p.tokens[p.at] }

func (p *pyParser) next() pyToken {
	t := p.tokens[p.at]
	if t.kind != pyEnd {
		p.at++
	}
	return t
}

func (p *pyParser) fail() { panic(errPython) }

func (p *pyParser) enter() func() {
	if p.depth++; p.depth > maxPyDepth {
		p.fail()
	}
	return func() { p.depth-- }
}

// is says whether the next token is one of the operators or keywords.
func (p *pyParser) is(words ...string) bool {
	t := p.peek()
	return (t.kind == pyOperator || t.kind == pyName) && slices.Contains(words, t.text)
}

func (p *pyParser) accept(word string) bool {
	if p.is(word) {
		p.at++
		return true
	}
	return false
}

func (p *pyParser) expect(word string) {
	if !p.accept(word) {
		p.fail()
	}
}

var pyKeywords = map[string]bool{
	"and": true, "as": true, "assert": true, "async": true, "await": true, "break": true, "class": true,
	"continue": true, "def": true, "del": true, "elif": true, "else": true, "except": true, "finally": true, "for": true,
	"from": true, "global": true, "if": true, "import": true, "in": true, "is": true, "lambda": true, "nonlocal": true,
	"not": true, "or": true, "pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
}

func (p *pyParser) name() string {
	t := p.next()
	if t.kind != pyName || pyKeywords[t.text] {
		p.fail()
	}
	return t.text
}

// list reads expressions with commas between them; several are a tuple.
func (p *pyParser) list() *pyExpr {
	if p.is("yield") {
		return p.yield()
	}
	first := p.starred()
	if !p.is(",") {
		return first
	}
	all := &pyExpr{form: pyListForm, kids: []*pyExpr{first}}
	for p.accept(",") && p.startsExpression() {
		all.kids = append(all.kids, p.starred())
	}
	return all
}

func (p *pyParser) startsExpression() bool {
	switch t := p.peek(); t.kind {
	case pyName:
		return !pyKeywords[t.text] || p.is("not", "lambda", "await")
	case pyNumber, pyText:
		return true
	case pyOperator:
		return p.is("(", "[", "{", "+", "-", "~", "*", "**", "...")
	}
	return false
}

func (p *pyParser) yield() *pyExpr {
	p.expect("yield")
	if p.accept("from") {
		return other(p.expression())
	}
	if p.startsExpression() {
		return other(p.list())
	}
	return other()
}

func other(kids ...*pyExpr) *pyExpr { return &pyExpr{form: pyOtherForm, kids: kids} }

func (p *pyParser) starred() *pyExpr {
	if p.accept("*") {
		return &pyExpr{form: pyOtherForm, text: "*", kids: []*pyExpr{p.chain(0)}}
	}
	return p.expression()
}

// expression reads one expression, with its := and its conditional.
func (p *pyParser) expression() *pyExpr {
	defer p.enter()()
	if p.is("lambda") {
		return p.lambda()
	}
	e := p.chain(0)
	if e.form == pyNameForm && p.accept(":=") {
		return &pyExpr{form: pyNamedForm, text: e.text, kids: []*pyExpr{p.expression()}}
	}
	if p.accept("if") {
		test := p.chain(0)
		p.expect("else")
		return &pyExpr{form: pyChoiceForm, kids: []*pyExpr{e, test, p.expression()}}
	}
	return e
}

func (p *pyParser) lambda() *pyExpr {
	p.expect("lambda")
	params := p.parameters(":")
	p.expect(":")
	return &pyExpr{form: pyLambdaForm, names: params.names, kids: append(params.computed, p.expression())}
}

// pyLevels are the operators between operands, the loosest first.
var pyLevels = [][]string{
	{"or"}, {"and"}, {"not"},
	{"<", ">", "==", ">=", "<=", "!=", "in", "not", "is"},
	{"|"}, {"^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "//", "%", "@"},
}

// pyNot is the level of the prefix "not", pyCompare that of comparisons.
const pyNot, pyCompare = 2, 3

// chain reads operands of one level with its operators between them.
func (p *pyParser) chain(level int) *pyExpr {
	if level == len(pyLevels) {
		return p.unary()
	}
	if level == pyNot {
		return p.not()
	}
	first := p.chain(level + 1)
	if !p.is(pyLevels[level]...) {
		return first
	}
	all := &pyExpr{form: pyChainForm, kids: []*pyExpr{first}, names: []string{""}}
	for p.is(pyLevels[level]...) {
		op := p.next().text
		if level == pyCompare {
			op = p.comparison(op)
		}
		all.names = append(all.names, op)
		all.kids = append(all.kids, p.chain(level+1))
	}
	return all
}

func (p *pyParser) comparison(op string) string {
	switch op {
	case "not":
		p.expect("in")
		return "not in"
	case "is":
		p.accept("not")
	}
	return op
}

func (p *pyParser) not() *pyExpr {
	if !p.is("not") {
		return p.chain(pyNot + 1)
	}
	defer p.enter()()
	p.next()
	return &pyExpr{form: pyUnaryForm, text: "not", kids: []*pyExpr{p.not()}}
}

func (p *pyParser) unary() *pyExpr {
	defer p.enter()()
	if p.is("+", "-", "~") {
		op := p.next().text
		return &pyExpr{form: pyUnaryForm, text: op, kids: []*pyExpr{p.unary()}}
	}
	base := p.awaited()
	if p.accept("**") {
		return &pyExpr{form: pyChainForm, kids: []*pyExpr{base, p.unary()}, names: []string{"", "**"}}
	}
	return base
}

func (p *pyParser) awaited() *pyExpr {
	// What is awaited is what the call gives.
	p.accept("await")
	return p.primary()
}

// primary reads an atom and the calls, attributes and indices after it.
func (p *pyParser) primary() *pyExpr {
	e := p.atom()
	for range maxPyChain {
		switch {
		case p.accept("."):
			e = &pyExpr{form: pyAttributeForm, text: p.name(), kids: []*pyExpr{e}}
		case p.accept("("):
			e = p.arguments(e)
		case p.accept("["):
			e = &pyExpr{form: pyIndexForm, kids: []*pyExpr{e, p.subscript()}}
		default:
			return e
		}
	}
	p.fail()
	return nil
}

func (p *pyParser) arguments(function *pyExpr) *pyExpr {
	call := &pyExpr{form: pyCallForm, kids: []*pyExpr{function}}
	for !p.accept(")") {
		name, value := p.argument()
		call.kids, call.names = append(call.kids, value), append(call.names, name)
		if !p.is(")") {
			p.expect(",")
		}
	}
	return call
}

func (p *pyParser) argument() (name string, value *pyExpr) {
	switch {
	case p.accept("*"):
		return "*", p.expression()
	case p.accept("**"):
		return "**", p.expression()
	}
	if t := p.peek(); t.kind == pyName && p.at+1 < len(p.tokens) && p.tokens[p.at+1].kind == pyOperator && p.tokens[p.at+1].text == "=" {
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

func (p *pyParser) subscript() *pyExpr {
	first := p.slice()
	if !p.is(",") {
		p.expect("]")
		return first
	}
	all := &pyExpr{form: pyListForm, kids: []*pyExpr{first}}
	for p.accept(",") && !p.is("]") {
		all.kids = append(all.kids, p.slice())
	}
	p.expect("]")
	return all
}

func (p *pyParser) slice() *pyExpr {
	var bounds [3]*pyExpr
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
			return &pyExpr{form: pySliceForm, kids: bounds[:]}
		case bounds[colons] != nil:
			p.fail()
		}
		bounds[colons] = p.starred()
	}
}
