package pdp

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/profiler"
	"github.com/open-policy-agent/opa/v1/rego"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/evaluation"
)

// Cost is what a rule takes of an evaluation on the average, in microseconds, without the rules that it uses.
type Cost struct {
	File         string  `json:"file"`
	Line         int     `json:"line"`
	Rule         string  `json:"rule"`
	Microseconds float64 `json:"us"`
}

// Costs evaluates policies about requests, each twice: as always, which says how long all of it takes, and by OPA's profiler,
// which says what share of that each rule has. The dearest come first.
func (p *PDP) Costs(ctx context.Context, requests []bailiff.Request, at bailiff.Circumstances) (
	all []Cost, total time.Duration, err error) {
	s := p.inForce.Load()
	rules := rulesByFile(s.compiler)
	shares, sum := map[*ast.Rule]float64{}, 0.0
	for _, req := range requests {
		input := p.facts(req, at, p.config.Home).Document(req, at)
		start := time.Now()
		if _, err := s.decide(ctx, input, at.Time, p.config.EvalTimeout); err != nil {
			return nil, 0, err
		}
		total += time.Since(start)
		cache := s.rules.Begin(input)
		profile := profiler.New()
		if _, err := evaluation.Run(ctx, s.decision, input, at.Time, p.config.EvalTimeout, rego.EvalVirtualCache(cache),
			rego.EvalQueryTracer(profile)); err != nil {
			return nil, 0, err
		}
		for _, expression := range profile.ReportTopNResults(1<<20, []string{"total_time_ns"}) {
			sum += float64(expression.ExprTimeNs)
			if rule := ruleAt(rules[expression.Location.File], expression.Location.Row); rule != nil {
				shares[rule] += float64(expression.ExprTimeNs)
			}
		}
	}
	each := float64(total.Microseconds()) / float64(max(1, len(requests)))
	for rule, share := range shares {
		all = append(all, Cost{rule.Location.File, rule.Location.Row, rule.Head.Ref().GroundPrefix().String(), each * share / sum})
	}
	slices.SortFunc(all, func(a, b Cost) int {
		return cmp.Or(cmp.Compare(b.Microseconds, a.Microseconds), cmp.Compare(a.File, b.File), a.Line-b.Line)
	})
	return all, total / time.Duration(max(1, len(requests))), nil
}

// rulesByFile are the rules in the order in which they stand.
func rulesByFile(compiler *ast.Compiler) map[string][]*ast.Rule {
	all := map[string][]*ast.Rule{}
	for _, module := range compiler.Modules {
		for _, rule := range module.Rules {
			all[rule.Location.File] = append(all[rule.Location.File], rule)
		}
	}
	for _, rules := range all {
		slices.SortFunc(rules, func(a, b *ast.Rule) int { return a.Location.Row - b.Location.Row })
	}
	return all
}

// ruleAt is the rule that a line is a part of.
func ruleAt(rules []*ast.Rule, line int) *ast.Rule {
	at, exact := slices.BinarySearchFunc(rules, line, func(r *ast.Rule, line int) int { return r.Location.Row - line })
	switch {
	case exact:
		return rules[at]
	case at > 0:
		return rules[at-1]
	}
	return nil
}
