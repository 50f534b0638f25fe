package pdp

import (
	"cmp"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/recent"
)

// Most of what is known of a text says the same of many texts: that it names no host, sets no variable, calls "ls" alone. A rule
// that reads nothing of the input document but such parts has one value wherever these parts are the same, and is remembered by
// them, each rule apart from the others. What nearly every text has for itself is left out, such as its calls.

// These bound what is remembered of rules by parts, which is at most twice as much.
const (
	mostApart      = 8192
	mostApartBytes = 4 << 20
)

// inputPart is one part of the input document, all of it where nothing below is named.
type inputPart struct{ name, below ast.String }

// ofOneText are the parts that differ from nearly every text to the next: where one is there, no rule is remembered that reads it.
// A name alone stands for all that is below it, too.
var ofOneText = map[inputPart]bool{
	{"command", ""}: true, {"command", "text"}: true, {"command", "calls"}: true, {"command", "supposed"}: true,
	{"command", "code"}: true, {"code", ""}: true, {"code", "command"}: true, {"code", "strings"}: true, {"code", "calls"}: true,
	{"args", ""}: true, {"args", "command"}: true, {"args", "code"}: true, {"args", "data"}: true, {"args", "arguments"}: true,
	{"connection", ""}: true, {"request", ""}: true,
}

// isOfOneShellText says whether a part is in every document about a shell text, and differs from text to text.
func (p inputPart) isOfOneShellText() bool {
	return ofOneText[p] && (p.name == "command" && p.below != "supposed" && p.below != "code" || p.name == "args" && p.below == "")
}

// parts are those that are read, in order.
func (p inputParts) parts() (all []inputPart) {
	for name, within := range p {
		if within == nil {
			all = append(all, inputPart{name: ast.String(name)})
		}
		for below := range within {
			all = append(all, inputPart{ast.String(name), ast.String(below)})
		}
	}
	slices.SortFunc(all, func(a, b inputPart) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.below, b.below)) })
	return all
}

// apart remembers rules by the parts of the input document that they read. It is safe for concurrent use.
type apart struct {
	parts     []inputPart
	names     [][2]*ast.Term // of the parts
	ofOneText []bool         // by the numbers of the parts
	byRule    [][]int        // by the number of the rule, the numbers of the parts; nil where the rule is not remembered
	values    *recent.Map[uint64, *apartValue]
}

// apartValue is the value of one rule for some parts. Nothing of it changes.
type apartValue struct {
	rule  int
	parts []*ast.Term // nil where a part is missing
	value *ast.Term
	size  int
}

func newApart() *apart {
	return &apart{values: recent.NewSized[uint64](mostApart, mostApartBytes, func(v *apartValue) int { return v.size })}
}

// add gives the next rule its parts, if it may be remembered by them.
func (a *apart) add(read inputParts, may bool) {
	parts := read.parts()
	if !may || slices.ContainsFunc(parts, inputPart.isOfOneShellText) {
		a.byRule = append(a.byRule, nil)
		return
	}
	a.byRule = append(a.byRule, a.numbersOf(parts))
}

func (a *apart) numbersOf(parts []inputPart) []int {
	numbers := make([]int, len(parts))
	for i, part := range parts {
		if numbers[i] = slices.Index(a.parts, part); numbers[i] < 0 {
			numbers[i] = len(a.parts)
			a.parts = append(a.parts, part)
			a.names = append(a.names, [2]*ast.Term{ast.NewTerm(part.name), ast.NewTerm(part.below)})
			a.ofOneText = append(a.ofOneText, ofOneText[part])
		}
	}
	return numbers
}

// apartCache is what one evaluation has of it.
type apartCache struct {
	*apart
	document ast.Object
	terms    []*ast.Term // by the numbers of the parts
	looked   []bool
	found    []*apartValue
	hashes   []uint64 // of those found
}

func (a *apart) begin(document ast.Object) *apartCache {
	return &apartCache{apart: a, document: document, terms: make([]*ast.Term, len(a.parts)), looked: make([]bool, len(a.parts))}
}

// term is a part of the document, nil where it is missing.
func (c *apartCache) term(number int) *ast.Term {
	if !c.looked[number] {
		name, below := c.names[number][0], c.names[number][1]
		term := c.document.Get(name)
		if term != nil && c.parts[number].below != "" {
			if within, ok := term.Value.(ast.Object); ok {
				term = within.Get(below)
			}
		}
		c.terms[number], c.looked[number] = term, true
	}
	return c.terms[number]
}

// key is what a rule is remembered by; it is false where it is not.
func (c *apartCache) key(rule int) (hash uint64, ok bool) {
	numbers := c.byRule[rule]
	if numbers == nil || slices.ContainsFunc(numbers, c.isOfOneText) {
		return 0, false
	}
	return c.hashOf(numbers)*31 + uint64(rule), true
}

func (c *apartCache) isOfOneText(number int) bool {
	return c.ofOneText[number] && c.term(number) != nil
}

// hashOf is the same for the same parts of a document.
func (c *apartCache) hashOf(numbers []int) (hash uint64) {
	for _, n := range numbers {
		hash *= 31
		if term := c.term(n); term != nil {
			hash += uint64(term.Hash())
		}
	}
	return hash
}

// valueOf is what is remembered of a rule, nil if nothing is.
func (c *apartCache) valueOf(rule int) *ast.Term {
	hash, ok := c.key(rule)
	if !ok {
		return nil
	}
	known, _ := c.values.Get(hash)
	if known == nil || known.rule != rule || !c.have(c.byRule[rule], known.parts) {
		return nil
	}
	return known.value
}

// have says whether parts of the document are the same as others, where both may be missing.
func (c *apartCache) have(numbers []int, others []*ast.Term) bool {
	for i, n := range numbers {
		if term := c.term(n); (term == nil) != (others[i] == nil) || term != nil && !term.Equal(others[i]) {
			return false
		}
	}
	return true
}

// take gives parts of the document, nil for those that are missing, and what they hold in bytes.
func (c *apartCache) take(numbers []int) (parts []*ast.Term, size int) {
	parts = make([]*ast.Term, len(numbers))
	for i, n := range numbers {
		if parts[i] = c.term(n); parts[i] != nil {
			size += sizeOf(parts[i])
		}
	}
	return parts, size
}

// put notes the value that an evaluation found for a rule.
func (c *apartCache) put(rule int, value *ast.Term) {
	hash, ok := c.key(rule)
	if !ok {
		return
	}
	one := &apartValue{rule: rule, value: value}
	one.parts, one.size = c.take(c.byRule[rule])
	if one.size += sizeOf(value); one.size <= maxKept {
		c.found, c.hashes = append(c.found, one), append(c.hashes, hash)
	}
}

// end remembers what a sound evaluation found.
func (c *apartCache) end() {
	for i, one := range c.found {
		c.values.Put(c.hashes[i], one)
	}
}
