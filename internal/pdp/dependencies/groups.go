package dependencies

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Group are the rules that make one document.
type Group struct {
	Name  ast.Ref
	Rules []*ast.Rule
}

// IsFunction says whether the document is a function.
func (g Group) IsFunction() bool {
	return slices.ContainsFunc(g.Rules, func(rule *ast.Rule) bool { return len(rule.Head.Args) > 0 })
}

// nameOf is the document that a rule is a part of: its package and the name after that.
func nameOf(rule *ast.Rule) (ast.Ref, bool) {
	length := len(rule.Module.Package.Path) + 1
	ref := rule.Ref()
	return ref[:min(length, len(ref))], len(ref) >= length && ref[:length].IsGround()
}

// Groups are rules by the documents that they make, in order: where a name has others below it ("_examined.paths"), each of these
// is one by itself if none is computed.
func Groups(rules map[*ast.Rule]bool) (all []Group) {
	byName, computed := map[string][]*ast.Rule{}, map[string]bool{}
	for rule := range rules {
		if name, ok := nameOf(rule); ok {
			byName[name.String()] = append(byName[name.String()], rule)
			computed[name.String()] = computed[name.String()] || !rule.Ref().IsGround()
		}
	}
	for name, rules := range maps.Clone(byName) {
		if computed[name] {
			continue
		}
		delete(byName, name)
		for _, rule := range rules {
			byName[rule.Ref().String()] = append(byName[rule.Ref().String()], rule)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byName)) {
		name := byName[key][0].Ref()
		if name.String() != key {
			name, _ = nameOf(byName[key][0])
		}
		all = append(all, Group{name, byName[key]})
	}
	return all
}
