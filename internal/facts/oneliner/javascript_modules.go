package oneliner

import (
	"path"
	"strings"
)

var (
	// testNames are what runners of tests give a test, under these names.
	testNames = set("describe suite test it expect assert beforeEach afterEach beforeAll afterAll before after")
	// testingParts may be used of these, where they are no values to compare.
	testingParts = set("only skip todo each concurrent sequential failing fails skipIf runIf")
	// testingModules have these names, and others that are not listed; checking are those that only compare values.
	testingModules = set("node:test vitest @jest/globals mocha bun:test")
	checking       = set("assert assert/strict")
)

// isOwnFile says that a module is a file beside the program, and one of its language.
func isOwnFile(module string) bool {
	if !strings.HasPrefix(module, "./") && !strings.HasPrefix(module, "../") {
		return false
	}
	switch path.Ext(module) {
	case "", ".js", ".cjs", ".mjs":
		return true
	}
	return false
}

// loads notes a file that the program loads.
func (p *programJS) loads(module string) bool {
	p.Loads = append(p.Loads, module)
	return true
}

// imports reads a statement that imports, and binds its names.
func (p *programJS) imports(i int) {
	if !p.tokens[i].named("import") || !p.tokens[i].first && !at(p.tokens, i-1).is(";") {
		return
	}
	end := i + 1
	for ; end < len(p.tokens) && p.tokens[end].kind != text && end < i+maxImported; end++ {
		if t := p.tokens[end]; t.kind != word && !t.is("{", "}", ",", "*") {
			return
		}
	}
	module, bare := moduleName(at(p.tokens, end)), end == i+1
	if module == "" || !bare && !p.tokens[end-1].named("from") || !p.importsFrom(p.tokens[end].text, p.tokens[i+1:max(end-1, i+1)]) {
		return
	}
	for ; i <= end; i++ {
		p.read[i] = true
	}
}

// maxImported bounds the tokens of a statement that imports.
const maxImported = 256

// importsFrom binds what a statement takes from a module, if that is listed.
func (p *programJS) importsFrom(spelt string, clause []token) bool {
	module := strings.TrimPrefix(spelt, "node:")
	whole := len(clause) == 1 && clause[0].kind == word || len(clause) == 3 && clause[0].is("*") && clause[1].named("as")
	for j, t := range clause {
		name := t.text
		switch {
		case t.kind != word || t.named("as") || at(clause, j+1).named("as"):
			continue
		case isOwnFile(module):
		case whole && modules[module] != nil && module != "Object" && module != "process":
			p.aliases[name] = module
		case !whole && modules[module] != nil && t.kind == word:
			if does, listed := modules[module][imported(clause, j)]; !listed || does != none {
				return false
			}
		case checking[module] && (whole || imported(clause, j) != "default"):
		case testingModules[spelt] && !whole && testNames[imported(clause, j)] && testNames[name]:
		default:
			return false
		}
		p.own[name] = true
	}
	if isOwnFile(module) {
		return p.loads(module)
	}
	return len(clause) > 0
}

// imported is the name in its module of what a clause binds at a place.
func imported(clause []token, j int) string {
	if at(clause, j-1).named("as") {
		return at(clause, j-2).text
	}
	return clause[j].text
}

// exports reads what makes names of the program's own those of a module.
func (p *programJS) exports(i int) bool {
	next := at(p.tokens, i+1)
	if p.tokens[i].named("export") {
		return next.is("{") || next.named("const", "let", "var", "function", "async", "default")
	}
	if p.tokens[i].named("module") && !at(p.tokens, i+2).named("exports") {
		return false
	}
	return next.is(".") && at(p.tokens, i+2).kind == word && at(p.tokens, i+3).is("=", ".")
}

// tests says that a name of a runner of tests is called, or a part of it that is listed.
func (p *programJS) tests(i int) bool {
	next, part := at(p.tokens, i+1), at(p.tokens, i+2)
	return next.is("(") || next.is(".") && (testingParts[part.text] || p.tokens[i].named("expect", "assert")) ||
		next.is(",", "}", "=") && p.isRequired(i)
}

// isRequired says that a name stands in a declaration whose value is required.
func (p *programJS) isRequired(i int) bool {
	for i < len(p.tokens) && !p.tokens[i].is("=", ";", "(", ")") {
		i++
	}
	return at(p.tokens, i).is("=") && at(p.tokens, i+1).named("require")
}

// requiresTests reads "const { test } = require('node:test')" and "const assert = require('assert')".
func (p *programJS) requiresTests(i int, module string) bool {
	if !at(p.tokens, i-1).is("=") {
		return false
	}
	if at(p.tokens, i-2).kind == word {
		return checking[module]
	}
	for j := i - 3; j >= 0 && !p.tokens[j].is("{"); j-- {
		if t := p.tokens[j]; !t.is(",") && !(t.kind == word && (testNames[t.text] || checking[module])) {
			return false
		}
	}
	return true
}
