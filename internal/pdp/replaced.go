package pdp

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// replacements finds what "with" replaces in policies and their tests, and which rules that may change. Targets are what is
// replaced, such as "data.bailiff.tables.env"; the input document is none of them.
type replacements struct {
	graph   *ast.Graph
	targets []ast.Ref
	rules   map[*ast.Rule]*replacing
}

// replacing says of a rule with all that it uses, by the numbers of the targets, which of them are replaced there, and which
// are read.
type replacing struct{ replaced, read []bool }

func newReplacements(compiler *ast.Compiler, rules map[*ast.Rule]bool) *replacements {
	r := &replacements{graph: compiler.Graph, rules: map[*ast.Rule]*replacing{}}
	for rule := range rules {
		for _, target := range targetsIn(rule) {
			if r.numberOf(target) < 0 {
				r.targets = append(r.targets, target)
			}
		}
	}
	for rule := range rules {
		r.of(rule)
	}
	return r
}

func targetsIn(rule *ast.Rule) (all []ast.Ref) {
	ast.WalkWiths(rule, func(with *ast.With) bool {
		if target := with.Target.Value.(ast.Ref); !target[0].Equal(ast.InputRootDocument) {
			all = append(all, target)
		}
		return false
	})
	return all
}

func (r *replacements) numberOf(target ast.Ref) int {
	for n, one := range r.targets {
		if one.Equal(target) {
			return n
		}
	}
	return -1
}

// of finds a rule's. No rule uses itself, which compiling would refuse.
func (r *replacements) of(rule *ast.Rule) *replacing {
	if known := r.rules[rule]; known != nil {
		return known
	}
	all := &replacing{make([]bool, len(r.targets)), make([]bool, len(r.targets))}
	r.rules[rule] = all
	for _, target := range targetsIn(rule) {
		all.replaced[r.numberOf(target)] = true
	}
	r.noteRead(all, rule.Ref())
	ast.WalkRefs(rule, func(ref ast.Ref) bool {
		r.noteRead(all, ref)
		return false
	})
	for used := range r.graph.Dependencies(rule) {
		all.add(r.of(used.(*ast.Rule)))
	}
	if rule.Else != nil {
		all.add(r.of(rule.Else)) // the graph has what it uses as its own
	}
	return all
}

func (r *replacements) noteRead(by *replacing, ref ast.Ref) {
	for n, target := range r.targets {
		by.read[n] = by.read[n] || mayBePartOf(ref, target) || !target[0].Equal(ast.DefaultRootDocument) // a built-in may be anywhere
	}
}

func (r *replacing) add(others *replacing) {
	for n := range r.read {
		r.replaced[n] = r.replaced[n] || others.replaced[n]
		r.read[n] = r.read[n] || others.read[n]
	}
}

// changes says whether what is replaced here may change what reads others.
func (r *replacing) changes(read []bool) bool {
	for n, is := range r.replaced {
		if is && read[n] {
			return true
		}
	}
	return false
}

// mayBePartOf says whether one of two references may be a part of what the other one names.
func mayBePartOf(one, other ast.Ref) bool {
	if !one[0].Equal(other[0]) {
		return false
	}
	for n := 1; n < min(len(one), len(other)); n++ {
		if !one[n].IsGround() || !other[n].IsGround() {
			return true
		}
		if !one[n].Equal(other[n]) {
			return false
		}
	}
	return true
}
