package regotest

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// withTargets finds what "with" replaces in policies and their tests, and which rules that may change. Targets are what is
// replaced, such as "data.bailiff.tables.env"; the input document is none of them.
type withTargets struct {
	graph   *ast.Graph
	targets []ast.Ref
	uses    map[*ast.Rule]*targetUse
}

// targetUse says of a rule with all that it uses, by the numbers of the targets, which of them are replaced there, and which
// are read.
type targetUse struct{ replaced, read []bool }

func newWithTargets(compiler *ast.Compiler, rules map[*ast.Rule]bool) *withTargets {
	w := &withTargets{graph: compiler.Graph, uses: map[*ast.Rule]*targetUse{}}
	for rule := range rules {
		for _, target := range targetsIn(rule) {
			if w.numberOf(target) < 0 {
				w.targets = append(w.targets, target)
			}
		}
	}
	for rule := range rules {
		w.usedBy(rule)
	}
	return w
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

func (w *withTargets) numberOf(target ast.Ref) int {
	for n, one := range w.targets {
		if one.Equal(target) {
			return n
		}
	}
	return -1
}

// none is the use of no target.
func (w *withTargets) none() *targetUse {
	return &targetUse{replaced: make([]bool, len(w.targets)), read: make([]bool, len(w.targets))}
}

// usedBy is a rule's use. No rule uses itself, which compiling would refuse.
func (w *withTargets) usedBy(rule *ast.Rule) *targetUse {
	if known := w.uses[rule]; known != nil {
		return known
	}
	all := w.none()
	w.uses[rule] = all
	for _, target := range targetsIn(rule) {
		all.replaced[w.numberOf(target)] = true
	}
	w.noteRead(all, rule.Ref())
	ast.WalkRefs(rule, func(ref ast.Ref) bool {
		w.noteRead(all, ref)
		return false
	})
	for used := range w.graph.Dependencies(rule) {
		all.add(w.usedBy(used.(*ast.Rule)))
	}
	if rule.Else != nil {
		all.add(w.usedBy(rule.Else)) // the graph has what it uses as its own
	}
	return all
}

func (w *withTargets) noteRead(by *targetUse, ref ast.Ref) {
	for n, target := range w.targets {
		by.read[n] = by.read[n] || mayBePartOf(ref, target) || !target[0].Equal(ast.DefaultRootDocument) // a built-in may be anywhere
	}
}

func (u *targetUse) add(other *targetUse) {
	for n := range u.read {
		u.replaced[n] = u.replaced[n] || other.replaced[n]
		u.read[n] = u.read[n] || other.read[n]
	}
}

// mayChange says whether what is replaced here may change what reads these targets.
func (u *targetUse) mayChange(read []bool) bool {
	for n, is := range u.replaced {
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
