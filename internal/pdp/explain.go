package pdp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/bailiff-dev/bailiff"
)

// Explanation says which rules made a decision, and which would have had a say if one
// condition of theirs had held.
type Explanation struct {
	Fired  []Fired  `json:"fired"`
	Nearly []Nearly `json:"nearly"`
	// Fault is why this is not all; empty if it is.
	Fault string `json:"fault,omitempty"`
}

// Fired is a contribution of a rule.
type Fired struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Rule is the name in the reason; empty for what has none.
	Rule string `json:"rule,omitempty"`
	// Set is what the rule adds to, such as "findings", or "guards"; Value is what it adds.
	Set   string `json:"set"`
	Value string `json:"value"`
	// Part is what became of it: "denied", "asked", "forwarded", "withheld", "limit",
	// "network", "backend", or "nothing", as of a finding that is allowed.
	Part string `json:"part"`
	// Facts are what the rule looked at.
	Facts []string `json:"facts,omitempty"`
}

// Nearly is a rule of which one condition did not hold.
type Nearly struct {
	File string `json:"file"`
	Line int    `json:"line"` // of the condition
	// Adds is what it would have added, as it is written.
	Adds string `json:"adds"`
	// Condition is the one that did not hold, as it is written.
	Condition string `json:"condition"`
	// Facts are what was there instead, Wants what the condition wants, if that is plain.
	Facts []string `json:"facts,omitempty"`
	Wants string   `json:"wants,omitempty"`
}

const (
	// explainTime bounds an explanation: no rule is left out by an index.
	explainTime = 5 * time.Second
	mostNearly  = 5
	mostFacts   = 6
	// mostShown bounds each text of an explanation.
	mostShown = 200
)

// Explain tells how a decision about a request came about, which is the one that the
// policies gave or the enforcer made of it. It judges once more, following every rule.
// Scrub takes secrets out of a text.
func (p *PDP) Explain(ctx context.Context, req bailiff.Request, at bailiff.Circumstances, d bailiff.Decision, scrub func([]byte) []byte) (x Explanation) {
	x = Explanation{Fired: []Fired{}, Nearly: []Nearly{}}
	defer func() {
		if cause := recover(); cause != nil {
			x.Fault = fmt.Sprintf("explaining panicked: %v", cause)
		}
	}()
	s := p.inForce.Load()
	req.Backend = bailiff.BackendName(req.Backend)
	text := read(req, p.config.Home)
	if text.fault != nil {
		x.Fault = text.fault.Error()
		return x
	}
	if p.config.Guard != nil {
		denials, fault := p.config.Guard.Check(ctx, req, text.command, text.code)
		for _, denial := range denials {
			x.Fired = append(x.Fired, Fired{Rule: denial.Rule, Set: "guards", Value: denial.Message, Part: "denied"})
		}
		if len(denials) > 0 || fault != nil {
			x.Fault = "a guard denies, so that the policies are not asked"
			return x
		}
	}
	ctx, stop := context.WithTimeout(ctx, explainTime)
	defer stop()
	w := &witness{snapshot: s, input: text.document(req, at), made: d, scrub: scrub, rules: map[uint64]*ast.Rule{}, fired: map[*ast.Rule]bool{}, failed: map[*ast.Rule]failure{}}
	if err := w.follow(ctx, at.Time); err != nil {
		x.Fault = err.Error()
	}
	x.Fired, x.Nearly = w.contributions(), w.nearly(ctx, at.Time)
	return x
}

// witness sees an evaluation.
type witness struct {
	*snapshot
	input  ast.Object
	made   bailiff.Decision
	scrub  func([]byte) []byte
	rules  map[uint64]*ast.Rule // by the queries that are their bodies
	fired  map[*ast.Rule]bool
	said   []contribution
	failed map[*ast.Rule]failure
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
}

func (w *witness) follow(ctx context.Context, at time.Time) error {
	cancel := topdown.NewCancel()
	defer context.AfterFunc(ctx, cancel.Cancel)()
	results, err := w.decision.Eval(ctx, rego.EvalParsedInput(w.input), rego.EvalTime(at), rego.EvalExternalCancel(cancel),
		rego.EvalQueryTracer(w), rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
	switch {
	case topdown.IsCancel(err):
		return fmt.Errorf("not all rules were looked at within %s", explainTime)
	case err != nil:
		return errors.New("evaluating policies: " + strings.Join(strings.Fields(err.Error()), " "))
	case len(results) == 0:
		return errors.New("the decision is undefined")
	}
	return nil
}

// Enabled, Config and TraceEvent make a witness a tracer.
func (w *witness) Enabled() bool { return true }

// Config says that values are looked up as they are needed.
func (w *witness) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent is called for each step.
func (w *witness) TraceEvent(e topdown.Event) {
	switch node := e.Node.(type) {
	case *ast.Rule:
		if set := contributes(node); set != "" {
			w.seen(e, node, set)
		}
	case *ast.Expr:
		rule := w.rules[e.QueryID]
		if rule == nil || e.Op != topdown.FailOp {
			return
		}
		if at := w.conditionOf(rule, node); at >= 0 {
			if known, ok := w.failed[rule]; !ok || at > known.at {
				w.failed[rule] = failure{at, w.locals(e, node)}
			}
		}
	}
}

func (w *witness) seen(e topdown.Event, rule *ast.Rule, set string) {
	switch e.Op {
	case topdown.EnterOp:
		w.rules[e.QueryID] = rule
	case topdown.ExitOp:
		w.fired[rule] = true
		value := e.Plug(rule.Head.Key).Value
		written := w.written(rule)
		_, passed := written.Head.Key.Value.(ast.Var)
		one := contribution{Fired{File: rule.Location.File, Line: rule.Location.Row, Rule: entryOf(value, "rule"), Set: set, Value: w.shown(value)}, value, passed}
		for _, expr := range written.Body {
			one.Facts = append(one.Facts, w.facts(expr)...)
		}
		one.Facts = bounded(append(one.Facts, w.locals(e, rule.Body)...))
		w.said = append(w.said, one)
	}
}

// sets are what policies contribute to; nothing else a rule makes is a say of its own.
var sets = map[string]bool{"findings": true, "examined": true, "deny": true, "require_approval": true, "forward_env": true,
	"withhold_env": true, "backend_candidates": true, "limits": true, "networks": true}

// contributes is the set that a rule adds to, empty for any other rule.
func contributes(rule *ast.Rule) string {
	path := rule.Ref()
	if rule.Head.RuleKind() != ast.MultiValue || rule.Head.Key == nil || len(path) < 3 || rule.Location == nil || !path.HasPrefix(entrypoint[:2]) {
		return ""
	}
	name, _ := path[2].Value.(ast.String)
	switch {
	case !sets[string(name)]:
		return ""
	case name == "examined":
		return "findings"
	}
	return string(name)
}

// contributions are those that came about, each once.
func (w *witness) contributions() []Fired {
	all := []Fired{}
	for i, one := range w.said {
		same := func(j int) bool {
			other := w.said[j]
			return j != i && other.value.Compare(one.value) == 0 && (one.passed && !other.passed || j < i && other.File == one.File && other.Line == one.Line)
		}
		if slices.ContainsFunc(indices(w.said), same) {
			continue
		}
		if one.Part = w.partOf(one); one.Part != "" {
			all = append(all, one.Fired)
		}
	}
	order := []string{"denied", "asked", "withheld", "forwarded"}
	slices.SortStableFunc(all, func(a, b Fired) int {
		return cmp.Compare(uint(slices.Index(order, a.Part)), uint(slices.Index(order, b.Part)))
	})
	return all
}

func indices[T any](list []T) []int {
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	return all
}

// partOf is what became of a contribution; empty if it is of no interest.
func (w *witness) partOf(c contribution) string {
	d := w.made
	is := func(r bailiff.Reason) bool { return r.Rule == c.Rule && r.Match == entryOf(c.value, "match") }
	switch c.Set {
	case "limits":
		return "limit"
	case "networks":
		return "network"
	case "backend_candidates":
		if bailiff.BackendName(entryOf(c.value, "name")) == d.Backend.Name {
			return "backend"
		}
		return ""
	case "withhold_env":
		return "withheld"
	case "forward_env":
		if name, ok := c.value.(ast.String); ok && slices.Contains(d.Env.Forward, string(name)) {
			return "forwarded"
		}
		return "nothing"
	}
	switch {
	case slices.ContainsFunc(d.Denials, is):
		return "denied"
	case slices.ContainsFunc(d.Reasons(), is):
		return "asked"
	}
	return "nothing"
}

// nearly are the rules that one condition kept from saying anything. Those come first
// that want a plain value of the input, and then those of which most held.
func (w *witness) nearly(ctx context.Context, at time.Time) []Nearly {
	all := []likely{}
	for rule, f := range w.failed {
		if !w.fired[rule] && hasSay(rule) && w.wouldHold(ctx, at, rule, f.at) {
			if one := w.missed(rule, f); len(one.Facts) > 0 {
				all = append(all, one)
			}
		}
	}
	slices.SortFunc(all, func(a, b likely) int {
		return cmp.Or(cmp.Compare(b.plain, a.plain), cmp.Compare(b.held, a.held),
			strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Adds, b.Adds))
	})
	found := []Nearly{}
	for _, c := range all[:min(len(all), mostNearly)] {
		found = append(found, c.Nearly)
	}
	return found
}

// likely is a rule with what makes it one that was meant.
type likely struct {
	Nearly
	plain, held int
}

func (w *witness) missed(rule *ast.Rule, f failure) likely {
	written := w.written(rule)
	condition := written.Body[f.at]
	facts := w.facts(condition)
	one := likely{held: len(written.Body) - 1}
	one.File, one.Line = condition.Location.File, condition.Location.Row
	one.Adds, one.Condition, one.Wants = adds(rule, written), source(written, f.at), wants(condition)
	one.Facts = bounded(append(facts, f.locals...))
	if one.Wants != "" && len(facts) > 0 && !strings.HasPrefix(facts[0], "input.tool ") { // what is of one tool was not meant for another
		one.plain = 1
	}
	return one
}

// adds is what a rule would add: the name in its reason where that is plain, else its
// head as it is written.
func adds(rule, written *ast.Rule) string {
	set := contributes(rule)
	if name := entryOf(written.Head.Key.Value, "rule"); name != "" {
		return set + " " + name
	}
	return set + " " + oneLine(written.Head.Key.String())
}

// hasSay tells rules that change what a request may do from those that bound it.
func hasSay(rule *ast.Rule) bool {
	set := contributes(rule)
	return set != "limits" && set != "networks" && set != "backend_candidates"
}

// wouldHold says whether everything in a rule's body holds but one condition. What
// comes after one that gives a variable its value cannot be judged without it.
func (w *witness) wouldHold(ctx context.Context, at time.Time, rule *ast.Rule, missing int) (holds bool) {
	written := w.written(rule)
	if missing == len(written.Body)-1 {
		return missing > 0
	}
	_, declares := written.Body[missing].Terms.(*ast.SomeDecl)
	if declares || written.Body[missing].IsAssignment() || ctx.Err() != nil {
		return false
	}
	var rest ast.Body
	for _, expr := range rule.Body {
		if at := w.conditionOf(rule, expr); at >= 0 && at != missing {
			rest.Append(expr.Copy())
		}
	}
	defer func() { holds = recover() == nil && holds }()
	return storage.Txn(ctx, w.store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		cancel := topdown.NewCancel()
		defer context.AfterFunc(ctx, cancel.Cancel)()
		results, err := topdown.NewQuery(rest).WithCompiler(w.compiler).WithStore(w.store).WithTransaction(txn).
			WithInput(ast.NewTerm(w.input)).WithTime(at).WithCancel(cancel).Run(ctx)
		if err == nil && len(results) == 0 {
			return errors.New("it does not hold")
		}
		return err
	}) == nil
}

// written is a rule as its file has it.
func (w *witness) written(rule *ast.Rule) *ast.Rule {
	module := w.compiler.ParsedModules()[rule.Location.File]
	if module == nil {
		return rule
	}
	for _, one := range module.Rules {
		if one.Location.Offset == rule.Location.Offset && one.Head.Key != nil {
			return one
		}
	}
	return rule
}

// conditionOf is the condition of a rule's body as it is written to which a compiled
// expression belongs; -1 for what belongs to none, such as a part of the head.
func (w *witness) conditionOf(rule *ast.Rule, expr *ast.Expr) int {
	if expr.Location == nil {
		return -1
	}
	body, at := w.written(rule).Body, -1
	for i, condition := range body {
		if condition.Location.Offset <= expr.Location.Offset {
			at = i
		}
	}
	return at
}

// source is a condition as its file has it.
func source(rule *ast.Rule, at int) string {
	text := string(rule.Location.Text)
	from, to := rule.Body[at].Location.Offset-rule.Location.Offset, len(text)
	if at+1 < len(rule.Body) {
		to = rule.Body[at+1].Location.Offset - rule.Location.Offset
	}
	if from < 0 || from > to || to > len(text) {
		return rule.Body[at].String()
	}
	var lines []string
	for line := range strings.Lines(text[from:to]) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	said := oneLine(strings.Join(lines, " "))
	if at+1 == len(rule.Body) && strings.HasSuffix(text, "}") && strings.Count(said, "{") < strings.Count(said, "}") {
		said = strings.TrimSpace(strings.TrimSuffix(said, "}"))
	}
	return strings.TrimSuffix(said, ";")
}

// facts are the parts of the input that a condition names, with their values.
func (w *witness) facts(condition *ast.Expr) (facts []string) {
	ast.WalkRefs(condition, func(ref ast.Ref) bool {
		if !ref.HasPrefix(ast.InputRootRef) || len(ref) == 1 {
			return false
		}
		named := ref.ConstantPrefix()
		value, err := w.input.Find(named[1:])
		if err != nil {
			facts = append(facts, named.String()+" is missing")
			return false
		}
		facts = append(facts, named.String()+" is "+w.shown(value))
		return false
	})
	return facts
}

// locals are the variables of a part of a rule that have values, by the names that
// they have in its file.
func (w *witness) locals(e topdown.Event, part any) (facts []string) {
	ast.WalkVars(part, func(v ast.Var) bool {
		name, ok := w.compiler.RewrittenVars[v]
		if !ok || name.IsWildcard() || name.IsGenerated() {
			return false
		}
		if value := e.Plug(ast.NewTerm(v)).Value; ast.IsConstant(value) {
			facts = append(facts, string(name)+" is "+w.shown(value))
		}
		return false
	})
	return facts
}

// wants is the value that a comparison with one wants.
func wants(condition *ast.Expr) string {
	if condition.Negated || !condition.IsCall() || len(condition.Operands()) != 2 {
		return ""
	}
	constant := func(t *ast.Term) bool { return ast.IsConstant(t.Value) }
	at := slices.IndexFunc(condition.Operands(), constant)
	if at < 0 {
		return ""
	}
	value := oneLine(condition.Operand(at).Value.String())
	switch condition.Operator().String() {
	case ast.Equal.Name, ast.Equality.Name:
		return value
	case ast.Member.Name:
		return "one of " + value
	}
	return ""
}

func entryOf(value ast.Value, key string) string {
	object, ok := value.(ast.Object)
	if !ok {
		return ""
	}
	entry := object.Get(ast.StringTerm(key))
	if entry == nil {
		return ""
	}
	text, _ := entry.Value.(ast.String)
	return string(text)
}

// shown is a value as JSON, without secrets and on one line.
func (w *witness) shown(value ast.Value) string {
	clean, err := ast.Transform(ast.NewGenericTransformer(func(part any) (any, error) {
		if text, ok := part.(ast.String); ok {
			return ast.String(w.scrub([]byte(text))), nil
		}
		return part, nil
	}), value)
	if err != nil {
		return "not shown: " + err.Error()
	}
	return oneLine(clean.(ast.Value).String())
}

// oneLine is the beginning of a text, on one line.
func oneLine(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if begins := bailiff.Beginning(line, mostShown); begins != line {
		return begins + "…"
	}
	return line
}

// bounded are the first of some facts, each once.
func bounded(facts []string) []string {
	var all []string
	for _, fact := range facts {
		if !slices.Contains(all, fact) && len(all) < mostFacts {
			all = append(all, fact)
		}
	}
	return all
}
