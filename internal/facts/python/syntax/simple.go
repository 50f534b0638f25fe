package syntax

func (p *parser) simple() []*Statement {
	switch {
	case p.is("import"):
		return []*Statement{p.imports()}
	case p.is("from"):
		return []*Statement{p.from()}
	case p.is("pass", "break", "continue"):
		p.next()
		return nil
	case p.is("global", "nonlocal"):
		return []*Statement{p.global()}
	case p.is("return"):
		p.next()
		if !p.startsExpression() {
			return nil
		}
		return []*Statement{{Act: ActReturn, Exprs: []*Expression{p.list()}}}
	case p.is("del", "assert", "raise"):
		return p.keyword()
	}
	return p.assignment()
}

func (p *parser) keyword() []*Statement {
	word := p.next().text
	if word == "raise" && !p.startsExpression() {
		return nil
	}
	s := &Statement{Act: ActCompute, Text: word, Exprs: []*Expression{p.list()}}
	if word == "raise" && p.accept("from") {
		s.Exprs = append(s.Exprs, p.expression())
	}
	return []*Statement{s}
}

func (p *parser) dotted() string {
	name := p.name()
	for p.accept(".") {
		name += "." + p.name()
	}
	return name
}

func (p *parser) imports() *Statement {
	p.expect("import")
	s := &Statement{Act: ActImport}
	for {
		m := Module{Name: p.dotted()}
		if p.accept("as") {
			m.As = p.name()
		}
		s.Modules = append(s.Modules, m)
		if !p.accept(",") {
			return s
		}
	}
}

func (p *parser) from() *Statement {
	p.expect("from")
	s := &Statement{Act: ActFrom}
	for p.is(".", "...") {
		s.Text += p.next().text
	}
	if s.Text == "" || !p.is("import") {
		s.Text += p.dotted()
	}
	p.expect("import")
	if p.accept("*") {
		s.Modules = []Module{{As: "*"}}
		return s
	}
	bracketed := p.accept("(")
	for {
		m := Module{Name: p.name()}
		m.As = m.Name
		if p.accept("as") {
			m.As = p.name()
		}
		s.Modules = append(s.Modules, m)
		if !p.accept(",") || bracketed && p.is(")") {
			break
		}
	}
	if bracketed {
		p.expect(")")
	}
	return s
}

func (p *parser) global() *Statement {
	s := &Statement{Act: ActGlobal, Text: p.next().text, Names: []string{p.name()}}
	for p.accept(",") {
		s.Names = append(s.Names, p.name())
	}
	return s
}

// assignment reads an expression with what is assigned to it, if anything.
func (p *parser) assignment() []*Statement {
	if p.is("type") && p.tokens[p.at+1].kind == tokenName && !keywords[p.tokens[p.at+1].text] {
		p.next()
		target := &Expression{Form: NameForm, Text: p.name()}
		types := p.typeParameters()
		p.expect("=")
		return append(types, &Statement{Act: ActAssign, Targets: []*Expression{target}, Exprs: []*Expression{p.expression()}})
	}
	first := p.list()
	if p.accept(":") {
		annotation := &Statement{Act: ActCompute, Exprs: []*Expression{p.expression()}}
		if !p.accept("=") {
			return []*Statement{annotation}
		}
		return []*Statement{annotation, {Act: ActAssign, Targets: []*Expression{first}, Exprs: []*Expression{p.list()}}}
	}
	if op := p.augmented(); op != "" {
		return []*Statement{{Act: ActAssign, Text: op, Targets: []*Expression{first}, Exprs: []*Expression{p.list()}}}
	}
	if !p.is("=") {
		return []*Statement{{Act: ActCompute, Exprs: []*Expression{first}}}
	}
	s := &Statement{Act: ActAssign}
	for p.accept("=") {
		s.Targets = append(s.Targets, first)
		first = p.list()
	}
	s.Exprs = []*Expression{first}
	return []*Statement{s}
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
