package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// mostNearly is how many rules are shown.
const mostNearly = 5

// nearly are the rules that one condition kept from saying anything, and how many more
// there are. Those that a team added come first, of these those that want a plain value
// of the input, and then those of which most held. A rule that spoke missed nothing.
func (t *tracer) nearly(ctx context.Context, said []Fired) (found []Nearly, more int) {
	all, spoke := []likely{}, map[string]bool{"policy.invalid": true} // contributions that are none were not meant
	for _, f := range said {
		spoke[f.Rule] = f.Rule != ""
	}
	for rule, f := range t.failed {
		if t.fired[rule] || !t.hasSay(rule) {
			continue
		}
		if one, ok := t.consider(ctx, rule, f, spoke); ok {
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
func (t *tracer) consider(ctx context.Context, rule *ast.Rule, f failure, spoke map[string]bool) (one likely, ok bool) {
	defer func() {
		if cause := recover(); cause != nil {
			at := rule.Location
			t.fault = fmt.Sprintf("trying the rule at %s:%d without a condition panicked: %v", at.File, at.Row, cause)
			ok = false
		}
	}()
	name, row := t.named(ctx, rule, f)
	one = t.missed(rule, f)
	if row != "" {
		set, _ := t.SetOf(rule)
		one.Adds = set + " " + name + " (" + row + ")"
	}
	return one, !spoke[name] && one.isMeant(name) && t.wouldHold(ctx, rule, f.at)
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

func (t *tracer) missed(rule *ast.Rule, f failure) likely {
	written := t.written(rule)
	condition := written.Body[f.at]
	facts := t.facts(condition)
	one := likely{held: len(written.Body) - 1}
	if isShipped(rule) {
		one.shipped = 1
	}
	one.File, one.Line = condition.Location.File, condition.Location.Row
	one.Adds, one.Condition, one.Wants = t.adds(rule, written), source(written, f.at), wants(condition)
	for _, text := range []*string{&one.Adds, &one.Condition, &one.Wants} {
		*text = string(t.Scrub([]byte(*text)))
	}
	if one.Where = firstFacts(append(facts, f.locals...)); len(one.Where) == 0 && one.shipped == 0 {
		one.Where, one.Wants = firstFacts(t.behind(rule, f.at)), ""
	}
	if one.Wants != "" && len(facts) > 0 {
		one.plain = 1
	}
	return one
}

// hasSay tells rules that change what a request may do from those that bound it.
func (t *tracer) hasSay(rule *ast.Rule) bool {
	set, _ := t.SetOf(rule)
	return set != "limits" && set != "networks" && set != "backend_candidates"
}

// wouldHold says whether everything in a rule's body holds but one condition. What
// comes after one that gives a variable its value cannot be judged without it.
func (t *tracer) wouldHold(ctx context.Context, rule *ast.Rule, missing int) bool {
	written := t.written(rule)
	if missing == len(written.Body)-1 {
		return missing > 0
	}
	_, declares := written.Body[missing].Terms.(*ast.SomeDecl)
	if declares || written.Body[missing].IsAssignment() || ctx.Err() != nil {
		return false
	}
	var rest ast.Body
	for _, expr := range rule.Body {
		if at := t.conditionOf(rule, expr); at >= 0 && at != missing {
			rest.Append(expr.Copy())
		}
	}
	return storage.Txn(ctx, t.Store, storage.TransactionParams{}, func(txn storage.Transaction) error {
		cancel := topdown.NewCancel()
		defer context.AfterFunc(ctx, cancel.Cancel)()
		results, err := topdown.NewQuery(rest).WithCompiler(t.Compiler).WithStore(t.Store).WithTransaction(txn).
			WithInput(ast.NewTerm(t.Input)).WithTime(t.At).WithCancel(cancel).Run(ctx)
		if err == nil && len(results) == 0 {
			return errors.New("it does not hold")
		}
		return err
	}) == nil
}
