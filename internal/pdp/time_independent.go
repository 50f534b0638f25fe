package pdp

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// inputParts are those of the input document that policies read, by the names at its
// top: all of a part where there are no names in it.
type inputParts map[string]map[string]bool

func (p inputParts) add(ref ast.Ref) {
	name := string(ref[1].Value.(ast.String))
	within, known := p[name]
	if known && within == nil {
		return
	}
	if len(ref) > 2 {
		if below, fixed := ref[2].Value.(ast.String); fixed {
			if !known {
				p[name] = map[string]bool{}
			}
			p[name][string(below)] = true
			return
		}
	}
	p[name] = nil
}

// behind are the rules that a document may depend on, those of the document included.
func behind(compiler *ast.Compiler, document ast.Ref) map[*ast.Rule]bool {
	return behindAll(compiler, compiler.GetRulesDynamicWithOpts(document, ast.RulesOptions{IncludeHiddenModules: true}))
}

// behindAll are the rules that others may depend on, those included.
func behindAll(compiler *ast.Compiler, rules []*ast.Rule) map[*ast.Rule]bool {
	found := map[*ast.Rule]bool{}
	var reach func(*ast.Rule)
	reach = func(rule *ast.Rule) {
		if rule == nil || found[rule] {
			return
		}
		found[rule] = true
		reach(rule.Else) // the graph has what it uses as its own
		for next := range compiler.Graph.Dependencies(rule) {
			reach(next.(*ast.Rule))
		}
	}
	for _, rule := range rules {
		reach(rule)
	}
	return found
}

var inputRoot = ast.InputRootDocument.Value.(ast.Var)

// isTimeIndependentPart says whether a reference begins with a fixed name in the input
// document that is not the time's.
func isTimeIndependentPart(ref ast.Ref) bool {
	if len(ref) < 2 || !ref[0].Equal(ast.InputRootDocument) {
		return false
	}
	_, fixed := ref[1].Value.(ast.String)
	return fixed && !ref[1].Equal(keyTime)
}
