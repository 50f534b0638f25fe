// Package dependencies finds what the rules of compiled policies depend on: which parts of the input document, and which other
// rules.
//
// Promised: [Analysis.Of] is sure of a document only if all rules behind it read the input document by fixed names, without its
// time, and call no built-in whose result differs from one call to the next. What it is not sure of must be evaluated anew.
//
// Not here: what is remembered by that (packages memo, rulecache and regotest).
package dependencies

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// A rule may do no more than stand for a part of the input document, as "_command := input.command if input.tool == "terminal""
// does. Who reads "_command.hosts" reads the hosts and the tool, not all of the command.

// alias is what a document stands for.
type alias struct {
	parts      []ast.Ref
	conditions Input
}

// Analysis finds which parts of the input document are behind documents of compiled policies.
type Analysis struct {
	compiler *ast.Compiler
	aliases  map[string]*alias // by the names of documents, nil for one that does more
	rules    map[*ast.Rule]ruleInput
	wholes   map[*ast.Rule]*closure
}

// closure is what a rule reads by itself and by the rules whose values it uses.
type closure struct {
	parts Input
	sure  bool
}

// ruleInput is what one rule reads by itself, and the rules whose values it uses.
type ruleInput struct {
	parts  Input
	varies bool
	uses   []*ast.Rule
}

// New is an analysis of compiled policies, whose rules are not recursive.
func New(compiler *ast.Compiler) *Analysis {
	return &Analysis{compiler, map[string]*alias{}, map[*ast.Rule]ruleInput{}, map[*ast.Rule]*closure{}}
}

// RulesOf are the rules of a document.
func (p *Analysis) RulesOf(document ast.Ref) []*ast.Rule {
	return p.compiler.GetRulesDynamicWithOpts(document, ast.RulesOptions{IncludeHiddenModules: true})
}

// Behind are the rules that others may depend on, those included.
func (p *Analysis) Behind(rules ...*ast.Rule) map[*ast.Rule]bool {
	all := map[*ast.Rule]bool{}
	var reach func(*ast.Rule)
	reach = func(rule *ast.Rule) {
		if rule == nil || all[rule] {
			return
		}
		all[rule] = true
		reach(rule.Else) // the graph has what it uses as its own
		for next := range p.compiler.Graph.Dependencies(rule) {
			reach(next.(*ast.Rule))
		}
	}
	for _, rule := range rules {
		reach(rule)
	}
	return all
}

// Of says whether a document of compiled policies is sure to depend on nothing but data and the input document without its
// time, and on which parts of that. The rules behind it must read the document by fixed names only, never
// as a whole, and call no built-in whose result differs from one call to the next; what
// others do, such as a mask of the decision log, is no part of it.
func (p *Analysis) Of(document ast.Ref) (read Input, sure bool) {
	read, sure = Input{}, true
	for _, rule := range p.RulesOf(document) {
		whole := p.whole(rule)
		sure = sure && whole.sure
		read.mergeAll(whole.parts)
	}
	return read, sure
}

// whole is what a rule reads. No rule uses itself, which compiling would refuse; of one that seems to, nothing is sure.
func (p *Analysis) whole(rule *ast.Rule) *closure {
	if known := p.wholes[rule]; known != nil {
		return known
	}
	one := p.ofRule(rule)
	p.wholes[rule] = &closure{parts: one.parts}
	all := &closure{parts: Input{}, sure: !one.varies}
	all.parts.mergeAll(one.parts)
	for _, used := range one.uses {
		more := p.whole(used)
		all.sure = all.sure && more.sure
		all.parts.mergeAll(more.parts)
	}
	p.wholes[rule] = all
	return all
}

func (p *Analysis) ofRule(rule *ast.Rule) ruleInput {
	if known, ok := p.rules[rule]; ok {
		return known
	}
	one := ruleInput{parts: Input{}}
	seenThrough, whole, anyName := map[string]bool{}, map[string]bool{}, false
	var visitor *ast.GenericVisitor
	visitor = ast.NewGenericVisitor(func(node any) bool {
		switch node := node.(type) {
		case *ast.Rule:
			visitor.Walk(node.Head.Reference) // which it would pass over
		case ast.Var:
			one.varies = one.varies || node == inputRoot
		case ast.Ref:
			one.varies = one.varies || Varies(node)
			anyName = anyName || namesNoDocument(node)
			if name, through := p.seesThrough(node, one.parts); through {
				seenThrough[name] = true
				walkSteps(visitor, node[3:])
				return true
			} else if name != "" {
				whole[name] = true
			}
			if isTimeIndependentPart(node) {
				one.parts.add(node)
				walkSteps(visitor, node[2:])
				return true
			}
		}
		return one.varies
	})
	visitor.Walk(rule)
	for used := range p.compiler.Graph.Dependencies(rule) {
		used := used.(*ast.Rule)
		if name := used.Ref().String(); !seenThrough[name] || whole[name] || anyName {
			one.uses = append(one.uses, used)
		}
	}
	if rule.Else != nil {
		one.uses = append(one.uses, rule.Else) // the graph has what it uses as its own
	}
	p.rules[rule] = one
	return one
}

func walkSteps(visitor *ast.GenericVisitor, steps []*ast.Term) {
	for _, step := range steps {
		visitor.Walk(step)
	}
}

// namesNoDocument says that a reference to policies leaves open which document it means, so that it may be any.
func namesNoDocument(ref ast.Ref) bool {
	return ref[0].Equal(ast.DefaultRootDocument) && (len(ref) < 3 || !ref[:3].IsGround())
}

// seesThrough adds what a reference reads of the input document through one that stands for a part of it. Where it names
// nothing in that part, only the name of the document is told.
func (p *Analysis) seesThrough(ref ast.Ref, read Input) (name string, through bool) {
	if len(ref) < 3 || !ref[0].Equal(ast.DefaultRootDocument) || !ref[:3].IsGround() {
		return "", false
	}
	name = ref[:3].String()
	target, known := p.aliases[name]
	if !known {
		target = aliasOf(p.compiler.GetRulesExact(ref[:3]))
		p.aliases[name] = target
	}
	if target == nil {
		return "", false
	}
	if len(ref) < 4 {
		return name, false
	}
	if _, fixed := ref[3].Value.(ast.String); !fixed {
		return name, false
	}
	for _, part := range target.parts {
		read.add(part.Concat(ref[3:]))
	}
	for part, within := range target.conditions {
		read.merge(part, within)
	}
	return name, true
}

// aliasOf is what the rules of a document stand for; nil if they do more than that.
func aliasOf(rules []*ast.Rule) *alias {
	if len(rules) == 0 {
		return nil
	}
	target := &alias{conditions: Input{}}
	for _, rule := range rules {
		part, rest := valueOf(rule)
		if part == nil {
			return nil
		}
		target.parts = append(target.parts, part)
		for _, condition := range rest {
			if !readsOnlyParts(condition, target.conditions) {
				return nil
			}
		}
	}
	return target
}

// valueOf is the part of the input document that a rule gives as its value, and the rest of its body.
func valueOf(rule *ast.Rule) (part ast.Ref, rest ast.Body) {
	if rule.Default || rule.Else != nil || len(rule.Head.Args) > 0 || rule.Head.Key != nil || rule.Head.Value == nil {
		return nil, nil
	}
	if ref, ok := rule.Head.Value.Value.(ast.Ref); ok && isFixedPart(ref) {
		return ref, rule.Body
	}
	for i, expression := range rule.Body { // the compiler gives a reference in a head a name
		if !expression.IsEquality() || len(expression.With) > 0 || expression.Negated {
			continue
		}
		name, from := expression.Operand(0), expression.Operand(1)
		if ref, ok := from.Value.(ast.Ref); ok && name.Equal(rule.Head.Value) && isFixedPart(ref) {
			return ref, append(rule.Body[:i:i], rule.Body[i+1:]...)
		}
	}
	return nil, nil
}

// isFixedPart says whether a reference is a part of the input document that fixed names lead to, and not the time.
func isFixedPart(ref ast.Ref) bool { return isTimeIndependentPart(ref) && ref.IsGround() }

// readsOnlyParts adds the parts that an expression reads; it is false where it reads anything else.
func readsOnlyParts(expression *ast.Expr, read Input) bool {
	terms := expression.Operands()
	if term, ok := expression.Terms.(*ast.Term); ok {
		terms = []*ast.Term{term}
	} else if !expression.IsEquality() && !expression.Operator().Equal(ast.NotEqual.Ref()) {
		return false
	}
	for _, term := range terms {
		ref, isRef := term.Value.(ast.Ref)
		switch {
		case isRef && isFixedPart(ref):
			read.add(ref)
		case isRef || !ast.IsConstant(term.Value):
			return false
		}
	}
	return len(expression.With) == 0
}
