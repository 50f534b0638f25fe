package syntax

// atom reads a name, a literal or something in brackets.
func (p *parser) atom() *Expression {
	switch t := p.peek(); {
	case t.kind == tokenNumber:
		p.next()
		return &Expression{Form: NumberForm, Text: t.text}
	case t.kind == tokenText:
		return p.strings()
	case t.kind == tokenName:
		return &Expression{Form: NameForm, Text: p.name()}
	case p.accept("..."):
		return other()
	case p.accept("("):
		return p.parenthesis()
	case p.accept("["):
		return p.items("]")
	case p.accept("{"):
		return p.braces()
	}
	p.fail()
	return nil
}

// strings reads adjacent literals as one.
func (p *parser) strings() *Expression {
	all := &Expression{Form: FormatForm}
	for p.peek().kind == tokenText {
		t := p.next()
		if t.parts == nil {
			all.Kids = append(all.Kids, &Expression{Form: TextForm, Text: t.text})
			continue
		}
		for _, part := range *t.parts {
			all.Kids = append(all.Kids, p.part(part)...)
		}
	}
	if len(all.Kids) == 1 && all.Kids[0].Form == TextForm {
		return all.Kids[0]
	}
	return all
}

func (p *parser) part(part part) []*Expression {
	if part.tokens == nil {
		if part.text == "" {
			return nil
		}
		return []*Expression{{Form: TextForm, Text: part.text}}
	}
	inner := &parser{tokens: part.tokens, depth: p.depth}
	defer inner.enter()()
	e := inner.list()
	if inner.peek().kind != tokenEnd {
		p.fail()
	}
	return []*Expression{e}
}

func (p *parser) parenthesis() *Expression {
	if p.accept(")") {
		return &Expression{Form: ListForm, Text: tuple}
	}
	if p.is("yield") {
		e := p.yield()
		p.expect(")")
		return e
	}
	first := p.starred()
	if p.is("for", "async") {
		e := p.comprehension(first)
		p.expect(")")
		return e
	}
	if p.accept(")") {
		return first
	}
	all := p.rest(first, ")")
	all.Text = tuple
	return all
}

// tuple marks the lists that nothing can change.
const tuple = "tuple"

// rest reads what follows the first item up to the closing bracket.
func (p *parser) rest(first *Expression, closing string) *Expression {
	all := &Expression{Form: ListForm, Kids: []*Expression{first}}
	for !p.accept(closing) {
		p.expect(",")
		if !p.is(closing) {
			all.Kids = append(all.Kids, p.starred())
		}
	}
	return all
}

func (p *parser) items(closing string) *Expression {
	if p.accept(closing) {
		return &Expression{Form: ListForm}
	}
	first := p.starred()
	if p.is("for", "async") {
		e := p.comprehension(first)
		p.expect(closing)
		return e
	}
	return p.rest(first, closing)
}

// braces reads a dictionary or a set.
func (p *parser) braces() *Expression {
	all := &Expression{Form: DictForm}
	for !p.accept("}") {
		if p.accept("**") {
			all.Kids = append(all.Kids, nil, p.chain(0))
		} else {
			key := p.starred()
			if !p.accept(":") {
				return p.set(all, key)
			}
			value := p.expression()
			all.Kids = append(all.Kids, key, value)
			if p.is("for", "async") {
				e := p.comprehension(key, value)
				p.expect("}")
				return e
			}
		}
		if !p.is("}") {
			p.expect(",")
		}
	}
	return all
}

func (p *parser) set(before *Expression, first *Expression) *Expression {
	if len(before.Kids) > 0 {
		p.fail()
	}
	if p.is("for", "async") {
		e := p.comprehension(first)
		p.expect("}")
		return e
	}
	return p.rest(first, "}")
}

func (p *parser) comprehension(elements ...*Expression) *Expression {
	e := &Expression{Form: LoopForm, Kids: elements, Count: len(elements)}
	for p.is("for", "async") {
		p.accept("async")
		p.expect("for")
		target := p.targets()
		p.expect("in")
		e.Kids = append(e.Kids, target, p.chain(0))
		for p.accept("if") {
			e.Extra = append(e.Extra, p.chain(0))
		}
	}
	return e
}

// targets reads what a loop assigns, up to its "in".
func (p *parser) targets() *Expression {
	first := p.target()
	if !p.is(",") {
		return first
	}
	all := &Expression{Form: ListForm, Kids: []*Expression{first}}
	for p.accept(",") && !p.is("in") {
		all.Kids = append(all.Kids, p.target())
	}
	return all
}

func (p *parser) target() *Expression {
	p.accept("*")
	return p.primary()
}

// Parameters are what a function takes.
type Parameters struct {
	Names []string
	// Defaults are those of Names, nil where there is none; Computed are all
	// expressions that are computed with the definition.
	Defaults, Computed []*Expression
}

// parameters reads up to the closing token, which it leaves.
func (p *parser) parameters(closing string) Parameters {
	var all Parameters
	for !p.is(closing) {
		star := p.accept("*") || p.accept("**")
		var fallback *Expression
		switch {
		case p.accept("/"), star && p.is(","):
		default:
			name := p.name()
			if star {
				name = "*" + name
			}
			if closing == ")" && p.accept(":") {
				all.Computed = append(all.Computed, p.starred())
			}
			if p.accept("=") {
				fallback = p.expression()
				all.Computed = append(all.Computed, fallback)
			}
			all.Names, all.Defaults = append(all.Names, name), append(all.Defaults, fallback)
		}
		if !p.is(closing) {
			p.expect(",")
		}
	}
	return all
}
