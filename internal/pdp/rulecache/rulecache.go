// Package rulecache remembers what rules and functions of policies are from one evaluation to the next. Policies are evaluated as
// they are written: what is remembered is given to the evaluation by OPA's own cache of rules.
//
// Most of what is known of a text says the same of many texts: that it names no host, sets no variable, calls "ls" alone. Which
// backend, limits and network there are does not depend on the text at all. A rule that reads nothing of the input document but such
// parts has one value wherever these parts are the same, and is remembered by them; a rule that reads data alone has one value. What
// nearly every text has for itself is left out, such as its calls. A function that reads nothing but its arguments and data, such as
// what a path is or what a call of a program does, is remembered by its arguments.
//
// Promised: only what a sound evaluation found is remembered, and only what package dependencies is sure of. Where "with" replaces
// the input document or data, nothing is taken from here. What is remembered is bounded, and goes with its policies.
package rulecache

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/dependencies"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// These bound what is remembered of rules, which is at most twice as much. largestValue is the size of the largest value that is
// remembered at all.
const (
	mostValues     = 16384
	mostValueBytes = 8 << 20
	largestValue   = 64 << 10
)

// ofOneText are the parts that differ from nearly every text to the next: where one is there, no rule is remembered that reads it.
// A name alone stands for all that is below it, too.
var ofOneText = map[string]bool{
	"command.": true, "command.text": true, "command.calls": true, "command.supposed": true, "command.code": true,
	"code.": true, "code.command": true, "code.strings": true, "code.calls": true,
	"args.": true, "args.command": true, "args.code": true, "args.data": true, "args.arguments": true,
	"connection.": true, "request.": true,
}

// isOfOneShellText says whether a part is in every document about a shell text, and differs from text to text.
func isOfOneShellText(p dependencies.InputPart) bool {
	return ofOneText[p.String()] && (p.Name == "command" && p.Below != "supposed" && p.Below != "code" || p.Name == "args" && p.Below == "")
}

// Cache remembers what the rules behind one document are, by the parts of the input document that they read, and what
// functions are. It is safe for concurrent use.
type Cache struct {
	rules     dependencies.Numbers // all that are behind the document
	sites     sites
	byRule    [][]int // by the number of the rule, the numbers of the parts; nil where the rule is not remembered
	parts     []dependencies.InputPart
	names     [][2]*ast.Term // of the parts
	ofOneText []bool         // by the numbers of the parts
	values    *recent.Map[uint64, *ruleValue]
	functions *functions
}

// ruleValue is the value of one rule for some parts. Nothing of it changes.
type ruleValue struct {
	rule  int
	parts []*ast.Term // nil where a part is missing
	value *ast.Term
	size  int
}

// New is an empty one for the rules behind a document.
func New(analysis *dependencies.Analysis, document ast.Ref) *Cache {
	c := &Cache{functions: &functions{map[ast.String][]ast.Ref{}, newCallValues()}, values: newValues()}
	behind := analysis.Behind(analysis.RulesOf(document)...)
	for _, group := range dependencies.Groups(behind) {
		read, sure := analysis.Of(group.Name)
		switch isFunction := group.IsFunction(); {
		case isFunction && sure && len(read) == 0:
			c.functions.add(group.Name)
		case !isFunction && c.rules.Add(group.Name):
			c.byRule = append(c.byRule, c.remembered(read.Parts(), sure))
		}
	}
	c.sites = sitesIn(behind, &c.rules)
	return c
}

// Empty is one for the same rules that remembers nothing.
func (c *Cache) Empty() *Cache {
	empty := *c
	empty.values, empty.functions = newValues(), &functions{c.functions.byName, newCallValues()}
	return &empty
}

func newValues() *recent.Map[uint64, *ruleValue] {
	return recent.NewSized[uint64](mostValues, mostValueBytes, func(v *ruleValue) int { return v.size })
}

// remembered are the numbers of the parts by which a rule is remembered, nil where it is not.
func (c *Cache) remembered(parts []dependencies.InputPart, sure bool) []int {
	if !sure || slices.ContainsFunc(parts, isOfOneShellText) {
		return nil
	}
	numbers := make([]int, len(parts))
	for i, part := range parts {
		if numbers[i] = slices.Index(c.parts, part); numbers[i] < 0 {
			numbers[i] = len(c.parts)
			c.parts = append(c.parts, part)
			c.names = append(c.names, [2]*ast.Term{ast.NewTerm(part.Name), ast.NewTerm(part.Below)})
			c.ofOneText = append(c.ofOneText, ofOneText[part.String()])
		}
	}
	return numbers
}

// numberOf is the number of a rule, if it has one.
func (c *Cache) numberOf(key ast.Ref) (number int, ok bool) {
	if number, ok = c.sites.numberOf(key); ok {
		return number, true
	}
	return c.rules.Of(key)
}

// Begin is the cache of an evaluation about a document.
func (c *Cache) Begin(document ast.Value) *Evaluation {
	return newEvaluation(c, document)
}

// End remembers what a sound evaluation found.
func (c *Cache) End(cache *Evaluation) {
	c.functions.remember(cache.calls)
	for i, value := range cache.found {
		c.values.Put(cache.hashes[i], value)
	}
}
