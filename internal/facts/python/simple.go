package python

func (p *parser) simple() []*statement {
	switch {
	case p.is("import"):
		return []*statement{p.imports()}
	case p.is("from"):
		return []*statement{p.from()}
	case p.is("pass", "break", "continue"):
		p.next()
		return nil
	case p.is("global", "nonlocal"):
		return []*statement{p.global()}
	case p.is("return"):
		p.next()
		if !p.startsExpression() {
			return nil
		}
		return []*statement{{act: actReturn, exprs: []*expression{p.list()}}}
	case p.is("del", "assert", "raise"):
		return p.keyword()
	}
	return p.assignment()
}

func (p *parser) keyword() []*statement {
	word := p.next().text
	if word == "raise" && !p.startsExpression() {
		return nil
	}
	s := &statement{act: actCompute, exprs: []*expression{p.list()}}
	if word == "raise" && p.accept("from") {
		s.exprs = append(s.exprs, p.expression())
	}
	return []*statement{s}
}

func (p *parser) dotted() string {
	name := p.name()
	for p.accept(".") {
		name += "." + p.name()
	}
	return name
}

func (p *parser) imports() *statement {
	p.expect("import")
	s := &statement{act: actImport}
	for {
		m := module{name: p.dotted()}
		if p.accept("as") {
			m.as = p.name()
		}
		s.modules = append(s.modules, m)
		if !p.accept(",") {
			return s
		}
	}
}

func (p *parser) from() *statement {
	p.expect("from")
	s := &statement{act: actFrom}
	for p.is(".", "...") {
		s.text += p.next().text
	}
	if s.text == "" || !p.is("import") {
		s.text += p.dotted()
	}
	p.expect("import")
	if p.accept("*") {
		s.modules = []module{{as: "*"}}
		return s
	}
	bracketed := p.accept("(")
	for {
		m := module{name: p.name()}
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

func (p *parser) global() *statement {
	p.next()
	s := &statement{act: actGlobal, names: []string{p.name()}}
	for p.accept(",") {
		s.names = append(s.names, p.name())
	}
	return s
}

// assignment reads an expression with what is assigned to it, if anything.
func (p *parser) assignment() []*statement {
	if p.is("type") && p.tokens[p.at+1].kind == tokenName && !keywords[p.tokens[p.at+1].text] {
		p.next()
		target := &expression{form: nameForm, text: p.name()}
		p.typeParameters()
		p.expect("=")
		return []*statement{{act: actAssign, targets: []*expression{target}, exprs: []*expression{p.expression()}}}
	}
	first := p.list()
	if p.accept(":") {
		annotation := &statement{act: actCompute, exprs: []*expression{p.expression()}}
		if !p.accept("=") {
			return []*statement{annotation}
		}
		return []*statement{annotation, {act: actAssign, targets: []*expression{first}, exprs: []*expression{p.list()}}}
	}
	if op := p.augmented(); op != "" {
		return []*statement{{act: actAssign, text: op, targets: []*expression{first}, exprs: []*expression{p.list()}}}
	}
	if !p.is("=") {
		return []*statement{{act: actCompute, exprs: []*expression{first}}}
	}
	s := &statement{act: actAssign}
	for p.accept("=") {
		s.targets = append(s.targets, first)
		first = p.list()
	}
	s.exprs = []*expression{first}
	return []*statement{s}
}

// augmented reads the operator of "+=" and the like.
func (p *parser) augmented() string {
	t := p.peek()
	if n := len(t.text); t.kind == tokenOperator && n > 1 && t.text[n-1] == '=' && !p.is("==", "!=", "<=", ">=", ":=") {
		p.next()
		return t.text[:n-1]
	}
	return ""
}
