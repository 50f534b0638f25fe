package policyset

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// OPA follows the graph of the rules anew for each rule to find one that uses itself, which takes half of compiling policies with
// their tests. One walk over the graph finds out whether there is any. Where there is, OPA is to say it in its own words.

// Linear has a compiler find recursive rules in one walk.
func Linear(compiler *ast.Compiler) *ast.Compiler {
	return compiler.WithSkipStages(ast.StageCheckRecursion).WithStageAfterID(ast.StageSetGraph, ast.CompilerStageDefinition{
		Name: "CheckRecursionInOneWalk", MetricName: "check_recursion_in_one_walk", Stage: checkRecursion})
}

// compiledBy compiles modules, by a compiler of which any number can be made.
func compiledBy(newCompiler func() *ast.Compiler, modules map[string]*ast.Module) *ast.Compiler {
	compiler := Linear(newCompiler())
	if compiler.Compile(modules); IsRecursive(compiler.Errors) {
		compiler = newCompiler()
		compiler.Compile(modules)
	}
	return compiler
}

// IsRecursive says whether a compiler found a rule that uses itself.
func IsRecursive(errs ast.Errors) bool {
	return slices.ContainsFunc(errs, func(e *ast.Error) bool { return e.Code == ast.RecursionErr })
}

// checkRecursion is an error where any rule may use itself.
func checkRecursion(compiler *ast.Compiler) *ast.Error {
	w := recursionWalk{compiler.Graph, map[*ast.Rule]bool{}}
	for _, module := range compiler.Modules {
		for _, rule := range module.Rules {
			for ; rule != nil; rule = rule.Else {
				if w.leadsBack(rule) {
					return ast.NewError(ast.RecursionErr, rule.Loc(), "a rule is recursive")
				}
			}
		}
	}
	return nil
}

// recursionWalk is a walk over the graph of rules. Of those that it came to, it knows whether it has left them.
type recursionWalk struct {
	graph *ast.Graph
	left  map[*ast.Rule]bool
}

// leadsBack says whether a rule leads to one from which the walk came.
func (w *recursionWalk) leadsBack(rule *ast.Rule) bool {
	if left, met := w.left[rule]; met {
		return !left
	}
	w.left[rule] = false
	for used := range w.graph.Dependencies(rule) {
		if w.leadsBack(used.(*ast.Rule)) {
			return true
		}
	}
	w.left[rule] = true
	return false
}
