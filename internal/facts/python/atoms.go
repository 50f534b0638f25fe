package python

// atom reads a name, a literal or something in brackets.
func (p *pyParser) atom() *pyExpr {
	switch t := p.peek(); {
	case t.kind == pyNumber:
		p.next()
		return &pyExpr{form: pyNumberForm, text: t.text}
	case t.kind == pyText:
		return p.strings()
	case t.kind == pyName:
		return &pyExpr{form: pyNameForm, text: p.name()}
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
func (p *pyParser) strings() *pyExpr {
	all := &pyExpr{form: pyFormatForm}
	for p.peek().kind == pyText {
		t := p.next()
		all.bytes = all.bytes || t.bytes
		if t.parts == nil {
			all.kids = append(all.kids, &pyExpr{form: pyTextForm, text: unmarked(t.text), bytes: t.bytes})
		}
		for _, part := range t.parts {
			all.kids = append(all.kids, p.part(part)...)
		}
	}
	if len(all.kids) == 1 && all.kids[0].form == pyTextForm {
		return all.kids[0]
	}
	return all
}

func (p *pyParser) part(part pyPart) []*pyExpr {
	if part.tokens == nil {
		if part.text == "" {
			return nil
		}
		return []*pyExpr{{form: pyTextForm, text: unmarked(part.text)}}
	}
	inner := &pyParser{tokens: part.tokens, depth: p.depth}
	defer inner.enter()()
	e := inner.list()
	if inner.peek().kind != pyEnd {
		p.fail()
	}
	return []*pyExpr{e}
}

func (p *pyParser) parenthesis() *pyExpr {
	if p.accept(")") {
		return &pyExpr{form: pyListForm}
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
func (p *pyParser) rest(first *pyExpr, closing string) *pyExpr {
	all := &pyExpr{form: pyListForm, kids: []*pyExpr{first}}
	for !p.accept(closing) {
		p.expect(",")
		if !p.is(closing) {
			all.kids = append(all.kids, p.starred())
		}
	}
	return all
}

func (p *pyParser) items(closing string) *pyExpr {
	if p.accept(closing) {
		return &pyExpr{form: pyListForm}
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
func (p *pyParser) braces() *pyExpr {
	all := &pyExpr{form: pyDictForm}
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

func (p *pyParser) set(before *pyExpr, first *pyExpr) *pyExpr {
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

func (p *pyParser) comprehension(elements ...*pyExpr) *pyExpr {
	e := &pyExpr{form: pyLoopForm, kids: elements, count: len(elements)}
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
func (p *pyParser) targets() *pyExpr {
	first := p.target()
	if !p.is(",") {
		return first
	}
	all := &pyExpr{form: pyListForm, kids: []*pyExpr{first}}
	for p.accept(",") && !p.is("in") {
		all.kids = append(all.kids, p.target())
	}
	return all
}

func (p *pyParser) target() *pyExpr {
	p.accept("*")
	return p.primary()
}

// pyParameters are what a function takes.
type pyParameters struct {
	names []string
	// defaults are those of names, nil where there is none; computed are all
	// expressions that are computed with the definition.
	defaults, computed []*pyExpr
}

// parameters reads up to the closing token, which it leaves.
func (p *pyParser) parameters(closing string) pyParameters {
	var all pyParameters
	for !p.is(closing) {
		star := p.accept("*") || p.accept("**")
		var fallback *pyExpr
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
