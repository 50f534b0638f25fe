package rulecache

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/bailiff-dev/bailiff/internal/pdp/document"
)

// documentParts are the parts of one input document that rules read.
type documentParts struct {
	cache    *Cache
	document ast.Object
	terms    []*ast.Term // by the numbers of the parts
	looked   []bool
}

func partsOf(cache *Cache, document ast.Object) *documentParts {
	return &documentParts{cache, document, make([]*ast.Term, len(cache.parts)), make([]bool, len(cache.parts))}
}

// term is a part of the document, nil where it is missing.
func (d *documentParts) term(number int) *ast.Term {
	if !d.looked[number] {
		name, below := d.cache.names[number][0], d.cache.names[number][1]
		term := d.document.Get(name)
		if term != nil && d.cache.parts[number].Below != "" {
			if within, ok := term.Value.(ast.Object); ok {
				term = within.Get(below)
			}
		}
		d.terms[number], d.looked[number] = term, true
	}
	return d.terms[number]
}

// key is what a rule is remembered by; it is false where it is not.
func (d *documentParts) key(rule int) (hash uint64, ok bool) {
	numbers := d.cache.byRule[rule]
	if numbers == nil || slices.ContainsFunc(numbers, d.isOfOneText) {
		return 0, false
	}
	for _, n := range numbers {
		hash *= 31
		if term := d.term(n); term != nil {
			hash += uint64(term.Hash())
		}
	}
	return hash*31 + uint64(rule), true
}

func (d *documentParts) isOfOneText(number int) bool {
	return d.cache.ofOneText[number] && d.term(number) != nil
}

// valueOf is what is remembered of a rule, nil if nothing is.
func (d *documentParts) valueOf(rule int) *ast.Term {
	hash, ok := d.key(rule)
	if !ok {
		return nil
	}
	known, _ := d.cache.values.Get(hash)
	if known == nil || known.rule != rule || !d.equal(d.cache.byRule[rule], known.parts) {
		return nil
	}
	return known.value
}

// equal says whether parts of the document are the same as others, where both may be missing.
func (d *documentParts) equal(numbers []int, others []*ast.Term) bool {
	for i, n := range numbers {
		if term := d.term(n); (term == nil) != (others[i] == nil) || term != nil && !term.Equal(others[i]) {
			return false
		}
	}
	return true
}

// remember is what is to be remembered of a rule with its key, nil where nothing is.
func (d *documentParts) remember(rule int, value *ast.Term) (one *ruleValue, hash uint64) {
	hash, ok := d.key(rule)
	if !ok {
		return nil, 0
	}
	numbers := d.cache.byRule[rule]
	one = &ruleValue{rule: rule, value: value, parts: make([]*ast.Term, len(numbers)), size: document.SizeOf(value)}
	for i, n := range numbers {
		if one.parts[i] = d.term(n); one.parts[i] != nil {
			one.size += document.SizeOf(one.parts[i])
		}
	}
	if one.size > largestValue {
		return nil, 0
	}
	return one, hash
}
