package explain

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// tracer follows an evaluation of the decision.
type tracer struct {
	Policies
	Question
	rules  map[uint64]*ast.Rule // by the queries that are their bodies
	fired  map[*ast.Rule]bool
	said   []contribution
	failed map[*ast.Rule]failure
	source map[*ast.Rule]*ast.Rule // rules as their files have them
	// fault is why some rules that nearly held may be missing.
	fault string
	// parents are the queries that asked others, last is the latest of all, and broken the
	// rule that was followed when the policies failed.
	parents map[uint64]uint64
	last    uint64
	broken  *ast.Rule
}

func newTracer(p Policies, q Question) *tracer {
	return &tracer{Policies: p, Question: q, rules: map[uint64]*ast.Rule{}, fired: map[*ast.Rule]bool{},
		failed: map[*ast.Rule]failure{}, source: map[*ast.Rule]*ast.Rule{}, parents: map[uint64]uint64{}}
}

type contribution struct {
	Fired
	value ast.Value
	// passed says that the rule names nothing itself but passes on what others found.
	passed bool
}

// failure is the furthest condition at which a rule failed.
type failure struct {
	at     int
	locals []string
	// maker is the function that makes what the rule adds, if one does, of the arguments.
	maker     ast.Ref
	arguments []*ast.Term
}

// follow judges once more; it says why that was not to the end, if it was not.
func (t *tracer) follow(ctx context.Context) (fault string) {
	answer, err := t.Evaluate(ctx, t.Input, t.At, t.Limit,
		rego.EvalQueryTracer(t), rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
	switch {
	case err != nil:
		if of := (*topdown.Error)(nil); errors.As(err, &of) {
			t.broken = t.followed()
		}
		return strings.Join(strings.Fields(err.Error()), " ")
	case answer == nil:
		return "the decision is undefined"
	}
	return ""
}

// followed is the rule with a say that the latest query was for.
func (t *tracer) followed() *ast.Rule {
	for id := t.last; ; id = t.parents[id] {
		if t.rules[id] != nil || t.parents[id] >= id {
			return t.rules[id]
		}
	}
}

// Enabled, with Config and TraceEvent, makes it a tracer of queries.
func (t *tracer) Enabled() bool { return true }

// Config says that values are looked up as they are needed.
func (t *tracer) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent is called for each step.
func (t *tracer) TraceEvent(e topdown.Event) {
	t.parents[e.QueryID], t.last = e.ParentID, e.QueryID
	switch node := e.Node.(type) {
	case *ast.Rule:
		if set, ok := t.SetOf(node); ok {
			t.seen(e, node, set)
		}
	case *ast.Expr:
		rule := t.rules[e.QueryID]
		if rule == nil || e.Op != topdown.FailOp {
			return
		}
		t.failedAt(e, rule, node)
	}
}

// failedAt keeps the furthest condition at which a rule failed.
func (t *tracer) failedAt(e topdown.Event, rule *ast.Rule, condition *ast.Expr) {
	at := t.conditionOf(rule, condition)
	if known, ok := t.failed[rule]; at < 0 || ok && at <= known.at {
		return
	}
	maker, arguments := maker(rule)
	for i := range arguments {
		arguments[i] = e.Plug(arguments[i])
	}
	t.failed[rule] = failure{at, t.locals(e, condition), maker, arguments}
}

// seen follows a rule that contributes.
func (t *tracer) seen(e topdown.Event, rule *ast.Rule, set string) {
	switch e.Op {
	case topdown.EnterOp:
		t.rules[e.QueryID] = rule
	case topdown.ExitOp:
		t.fired[rule] = true
		value := e.Plug(rule.Head.Key).Value
		written := t.written(rule)
		_, passed := written.Head.Key.Value.(ast.Var)
		one := contribution{firedAt(rule, set, value, t.shown(value)), value, passed}
		for _, expr := range written.Body {
			one.Where = append(one.Where, t.facts(expr)...)
		}
		one.Where = firstFacts(append(one.Where, t.locals(e, rule.Body)...))
		t.said = append(t.said, one)
	}
}

// firedAt is the contribution of a rule, whose value is shown as a text.
func firedAt(rule *ast.Rule, set string, value ast.Value, shown string) Fired {
	return Fired{File: rule.Location.File, Line: rule.Location.Row, Rule: entryOf(value, "rule"),
		Severity: entryOf(value, "severity"), Attack: textsOf(value, "attack"), Set: set, Value: shown}
}

// written is a rule as its file has it.
func (t *tracer) written(rule *ast.Rule) *ast.Rule {
	if known := t.source[rule]; known != nil {
		return known
	}
	found := rule
	if module := t.Compiler.ParsedModules()[rule.Location.File]; module != nil {
		same := func(one *ast.Rule) bool {
			return one.Location.Offset == rule.Location.Offset && (one.Head.Key != nil) == (rule.Head.Key != nil)
		}
		if i := slices.IndexFunc(module.Rules, same); i >= 0 {
			found = module.Rules[i]
		}
	}
	t.source[rule] = found
	return found
}

// conditionOf is the condition of a rule's body as it is written to which a compiled
// expression belongs; -1 for what belongs to none, such as a part of the head.
func (t *tracer) conditionOf(rule *ast.Rule, expr *ast.Expr) int {
	if expr.Location == nil {
		return -1
	}
	body, at := t.written(rule).Body, -1
	for i, condition := range body {
		if condition.Location.Offset <= expr.Location.Offset {
			at = i
		}
	}
	return at
}
