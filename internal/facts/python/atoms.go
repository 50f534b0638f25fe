package python

// atom reads a name, a literal or something in brackets.
func (p *parser) atom() *expression {
	switch t := p.peek(); {
	case t.kind == tokenNumber:
		p.next()
		return &expression{form: numberForm, text: t.text}
	case t.kind == tokenText:
		return p.strings()
	case t.kind == tokenName:
		return &expression{form: nameForm, text: p.name()}
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
func (p *parser) strings() *expression {
	all := &expression{form: formatForm}
	for p.peek().kind == tokenText {
		t := p.next()
		all.bytes = all.bytes || t.bytes
		if t.parts == nil {
			all.kids = append(all.kids, &expression{form: textForm, text: unmarked(t.text), bytes: t.bytes})
		}
		for _, part := range t.parts {
			all.kids = append(all.kids, p.part(part)...)
		}
	}
	if len(all.kids) == 1 && all.kids[0].form == textForm {
		return all.kids[0]
	}
	return all
}

func (p *parser) part(part part) []*expression {
	if part.tokens == nil {
		if part.text == "" {
			return nil
		}
		return []*expression{{form: textForm, text: unmarked(part.text)}}
	}
	inner := &parser{tokens: part.tokens, depth: p.depth}
	defer inner.enter()()
	e := inner.list()
	if inner.peek().kind != tokenEnd {
		p.fail()
	}
	return []*expression{e}
}

func (p *parser) parenthesis() *expression {
	if p.accept(")") {
		return &expression{form: listForm}
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
	return p.rest(first, ")")
}

// rest reads what follows the first item up to the closing bracket.
func (p *parser) rest(first *expression, closing string) *expression {
	all := &expression{form: listForm, kids: []*expression{first}}
	for !p.accept(closing) {
		p.expect(",")
		if !p.is(closing) {
			all.kids = append(all.kids, p.starred())
		}
	}
	return all
}

func (p *parser) items(closing string) *expression {
	if p.accept(closing) {
		return &expression{form: listForm}
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
func (p *parser) braces() *expression {
	all := &expression{form: dictForm}
	for !p.accept("}") {
		if p.accept("**") {
			all.kids = append(all.kids, nil, p.chain(0))
		} else {
			key := p.starred()
			if !p.accept(":") {
				return p.set(all, key)
			}
			value := p.expression()
			all.kids = append(all.kids, key, value)
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

func (p *parser) set(before *expression, first *expression) *expression {
	if len(before.kids) > 0 {
		p.fail()
	}
	if p.is("for", "async") {
		e := p.comprehension(first)
		p.expect("}")
		return e
	}
	return p.rest(first, "}")
}

func (p *parser) comprehension(elements ...*expression) *expression {
	e := &expression{form: loopForm, kids: elements, count: len(elements)}
	for p.is("for", "async") {
		p.accept("async")
		p.expect("for")
		target := p.targets()
		p.expect("in")
		e.kids = append(e.kids, target, p.chain(0))
		for p.accept("if") {
			e.extra = append(e.extra, p.chain(0))
		}
	}
	return e
}

// targets reads what a loop assigns, up to its "in".
func (p *parser) targets() *expression {
	first := p.target()
	if !p.is(",") {
		return first
	}
	all := &expression{form: listForm, kids: []*expression{first}}
	for p.accept(",") && !p.is("in") {
		all.kids = append(all.kids, p.target())
	}
	return all
}

func (p *parser) target() *expression {
	p.accept("*")
	return p.primary()
}

// parameters are what a function takes.
type parameters struct {
	names []string
	// defaults are those of names, nil where there is none; computed are all
	// expressions that are computed with the definition.
	defaults, computed []*expression
}

// parameters reads up to the closing token, which it leaves.
func (p *parser) parameters(closing string) parameters {
	var all parameters
	for !p.is(closing) {
		star := p.accept("*") || p.accept("**")
		var fallback *expression
		switch {
		case p.accept("/"), star && p.is(","):
		default:
			name := p.name()
			if star {
				name = "*" + name
			}
			if closing == ")" && p.accept(":") {
				all.computed = append(all.computed, p.starred())
			}
			if p.accept("=") {
				fallback = p.expression()
				all.computed = append(all.computed, fallback)
			}
			all.names, all.defaults = append(all.names, name), append(all.defaults, fallback)
		}
		if !p.is(closing) {
			p.expect(",")
		}
	}
	return all
}
