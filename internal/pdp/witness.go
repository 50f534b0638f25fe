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

const mostNearly = 5

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
	source map[*ast.Rule]*ast.Rule // rules as their files have them
	// fault is why some that nearly held may be missing.
	fault string
	// parents are the queries that asked others, last is the latest of all, and broken the
	// rule that was followed when the policies failed.
	parents map[uint64]uint64
	last    uint64
	broken  *ast.Rule
}

func newWitness(s *snapshot, input ast.Object, made bailiff.Decision, scrub func([]byte) []byte) *witness {
	return &witness{snapshot: s, input: input, made: made, scrub: scrub, rules: map[uint64]*ast.Rule{},
		fired: map[*ast.Rule]bool{}, failed: map[*ast.Rule]failure{}, source: map[*ast.Rule]*ast.Rule{}, parents: map[uint64]uint64{}}
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
func (w *witness) follow(ctx context.Context, at time.Time, limit time.Duration) (fault string) {
	answer, err := evaluate(ctx, w.decision, w.input, at, limit,
		rego.EvalQueryTracer(w), rego.EvalRuleIndexing(false), rego.EvalEarlyExit(false))
	switch {
	case err != nil:
		if of := (*topdown.Error)(nil); errors.As(err, &of) {
			w.broken = w.followed()
		}
		return strings.Join(strings.Fields(err.Error()), " ")
	case answer == nil:
		return "the decision is undefined"
	}
	return ""
}

// followed is the rule with a say that the latest query was for.
func (w *witness) followed() *ast.Rule {
	for id := w.last; ; id = w.parents[id] {
		if w.rules[id] != nil || w.parents[id] >= id {
			return w.rules[id]
		}
	}
}

// Enabled, Config and TraceEvent make a witness a tracer.
func (w *witness) Enabled() bool { return true }

// Config says that values are looked up as they are needed.
func (w *witness) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent is called for each step.
func (w *witness) TraceEvent(e topdown.Event) {
	w.parents[e.QueryID], w.last = e.ParentID, e.QueryID
	switch node := e.Node.(type) {
	case *ast.Rule:
		if set, ok := setOf(node); ok && isContributed(set) {
			w.seen(e, node, set)
		}
	case *ast.Expr:
		rule := w.rules[e.QueryID]
		if rule == nil || e.Op != topdown.FailOp {
			return
		}
		if at := w.conditionOf(rule, node); at >= 0 {
			if known, ok := w.failed[rule]; !ok || at > known.at {
				maker, arguments := maker(rule)
				for i := range arguments {
					arguments[i] = e.Plug(arguments[i])
				}
				w.failed[rule] = failure{at, w.locals(e, node), maker, arguments}
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
			one.Where = append(one.Where, w.facts(expr)...)
		}
		one.Where = bounded(append(one.Where, w.locals(e, rule.Body)...))
		w.said = append(w.said, one)
	}
}

// contributions are those that came about, each once.
func (w *witness) contributions() []Fired {
	all, named, known := []Fired{}, map[string]bool{}, map[string]bool{}
	if w.broken != nil {
		set, _ := setOf(w.broken)
		written := w.written(w.broken).Head.Key
		all = append(all, Fired{File: w.broken.Location.File, Line: w.broken.Location.Row, Rule: entryOf(written.Value, "rule"), Set: set, Value: oneLine(string(w.scrub([]byte(written.String())))), Part: "failed"})
	}
	for _, one := range w.said {
		named[one.value.String()] = named[one.value.String()] || !one.passed
	}
	for _, one := range w.said {
		value := one.value.String()
		again := fmt.Sprintf("%s:%d %s", one.File, one.Line, value)
		if one.passed && named[value] || known[again] || w.broken != nil && one.File == w.broken.Location.File && one.Line == w.broken.Location.Row {
			continue
		}
		known[again] = true
		if one.Part = w.partOf(one); one.Part != "" {
			all = append(all, one.Fired)
		}
	}
	order := []string{"failed", "denied", "asked", "withheld", "forwarded"}
	slices.SortStableFunc(all, func(a, b Fired) int {
		return cmp.Compare(uint(slices.Index(order, a.Part)), uint(slices.Index(order, b.Part)))
	})
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

// nearly are the rules that one condition kept from saying anything, and how many more
// there are. Those that a team added come first, of these those that want a plain value
// of the input, and then those of which most held. A rule that spoke missed nothing.
func (w *witness) nearly(ctx context.Context, at time.Time, said []Fired) (found []Nearly, more int) {
	all, spoke := []likely{}, map[string]bool{"policy.invalid": true} // contributions that are none were not meant
	for _, f := range said {
		spoke[f.Rule] = f.Rule != ""
	}
	for rule, f := range w.failed {
		if w.fired[rule] || !hasSay(rule) {
			continue
		}
		if one, ok := w.consider(ctx, at, rule, f, spoke); ok {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b likely) int {
		return cmp.Or(cmp.Compare(a.shipped, b.shipped), cmp.Compare(b.plain, a.plain), cmp.Compare(b.held, a.held),
			strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), strings.Compare(a.Adds, b.Adds))
	})
	found = []Nearly{}
	for _, c := range all[:min(len(all), mostNearly)] {
		found = append(found, c.Nearly)
	}
	return found, len(all) - len(found)
}

// consider says whether a rule nearly had a say, and how.
func (w *witness) consider(ctx context.Context, at time.Time, rule *ast.Rule, f failure, spoke map[string]bool) (one likely, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			w.fault, ok = fmt.Sprintf("trying the rule at %s:%d without a condition panicked: %v", rule.Location.File, rule.Location.Row, cause), false
		}
	}()
	name, row := w.named(ctx, rule, f)
	one = w.missed(rule, f)
	if row != "" {
		set, _ := setOf(rule)
		one.Adds = set + " " + name + " (" + row + ")"
	}
	return one, !spoke[name] && one.isMeant(name) && w.wouldHold(ctx, at, rule, f.at)
}

// likely is a rule with what makes it one that was meant.
type likely struct {
	Nearly
	shipped, plain, held int
}

// isMeant says whether a rule of that name may have been meant: not if it is about another
// tool, and a shipped one not if it only passes on what others say.
func (l likely) isMeant(name string) bool {
	return len(l.Where) > 0 && !strings.HasPrefix(l.Where[0], "input.tool ") && (name != "" || l.shipped == 0)
}

func (w *witness) missed(rule *ast.Rule, f failure) likely {
	written := w.written(rule)
	condition := written.Body[f.at]
	facts := w.facts(condition)
	one := likely{held: len(written.Body) - 1}
	if isShipped(rule) {
		one.shipped = 1
	}
	one.File, one.Line = condition.Location.File, condition.Location.Row
	one.Adds, one.Condition, one.Wants = adds(rule, written), source(written, f.at), wants(condition)
	for _, text := range []*string{&one.Adds, &one.Condition, &one.Wants} {
		*text = string(w.scrub([]byte(*text)))
	}
	if one.Where = bounded(append(facts, f.locals...)); len(one.Where) == 0 && one.shipped == 0 {
		one.Where, one.Wants = bounded(w.behind(rule, f.at)), ""
	}
	if one.Wants != "" && len(facts) > 0 {
		one.plain = 1
	}
	return one
}

// hasSay tells rules that change what a request may do from those that bound it.
func hasSay(rule *ast.Rule) bool {
	set, _ := setOf(rule)
	return set != "limits" && set != "networks" && set != "backend_candidates"
}

// wouldHold says whether everything in a rule's body holds but one condition. What
// comes after one that gives a variable its value cannot be judged without it.
func (w *witness) wouldHold(ctx context.Context, at time.Time, rule *ast.Rule, missing int) bool {
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
	if known := w.source[rule]; known != nil {
		return known
	}
	found := rule
	if module := w.compiler.ParsedModules()[rule.Location.File]; module != nil {
		same := func(one *ast.Rule) bool {
			return one.Location.Offset == rule.Location.Offset && (one.Head.Key != nil) == (rule.Head.Key != nil)
		}
		if i := slices.IndexFunc(module.Rules, same); i >= 0 {
			found = module.Rules[i]
		}
	}
	w.source[rule] = found
	return found
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
