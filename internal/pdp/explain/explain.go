// Package explain tells why policies decided as they did: which rules contributed to a
// decision, and which rules would have contributed if one more condition had held.
//
// It evaluates the decision once more with a tracer that follows every rule, then tries
// the rules that failed at one condition without that condition. Every text in an
// explanation is short, on one line and without secrets.
//
// Not here: the decision itself and the guards (package pdp), and how an explanation is
// shown.
package explain

import (
	"cmp"
	"context"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"

	"github.com/bailiff-dev/bailiff"
)

// Explanation says which rules made a decision, and which would have had a say if one
// condition of theirs had held.
type Explanation struct {
	Fired  []Fired  `json:"fired"`
	Nearly []Nearly `json:"nearly"`
	// More is how many more nearly had a say.
	More int `json:"more,omitempty"`
	// Fault is why this is not all; empty if it is.
	Fault string `json:"fault,omitempty"`
}

// Fired is a contribution of a rule.
type Fired struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Rule is the name in the reason; empty for what has none.
	Rule string `json:"rule,omitempty"`
	// Severity and Attack grade a finding, if the table of classes or the rule does.
	Severity string   `json:"severity,omitempty"`
	Attack   []string `json:"attack,omitempty"`
	// Set is what the rule adds to, such as "findings", or "guards"; Value is what it adds.
	Set   string `json:"set"`
	Value string `json:"value"`
	// Part is what became of it: "denied", "asked", "observed", "forwarded", "withheld", "limit",
	// "network", "backend", or "nothing", as of a finding that is allowed; "failed" is for
	// the rule over which the policies failed.
	Part string `json:"part"`
	// Where is what the rule looked at.
	Where []string `json:"where,omitempty"`
}

// Nearly is a rule of which one condition did not hold.
type Nearly struct {
	File string `json:"file"`
	Line int    `json:"line"` // of the condition
	// Adds is what it would have added, as it is written.
	Adds string `json:"adds"`
	// Condition is the one that did not hold, as it is written.
	Condition string `json:"condition"`
	// Where is what was there instead, Wants what the condition wants, if that is plain.
	Where []string `json:"where,omitempty"`
	Wants string   `json:"wants,omitempty"`
}

// New is an explanation without any rules yet.
func New() Explanation { return Explanation{Fired: []Fired{}, Nearly: []Nearly{}} }

// Policies are compiled policies, as far as an explanation needs them.
type Policies struct {
	// Compiler must have kept the modules as they are written.
	Compiler *ast.Compiler
	Store    storage.Store
	// Evaluate asks the policies for their decision.
	Evaluate Evaluate
	// SetOf is the set of contributions that a rule adds to; false where it adds to none.
	SetOf func(rule *ast.Rule) (set string, ok bool)
}

// Evaluate answers with the decision about an input document; nil where it is undefined.
type Evaluate func(ctx context.Context, input ast.Value, at time.Time, limit time.Duration, options ...rego.EvalOption) (*ast.Term, error)

// Question is the decision to explain.
type Question struct {
	Input ast.Object
	At    time.Time
	// Decision is the one that was made, by the policies or by the enforcer.
	Decision bailiff.Decision
	// Limit bounds the evaluation, and the search for rules that nearly contributed.
	Limit time.Duration
	// Scrub takes secrets out of a text.
	Scrub func([]byte) []byte
}

// Explain adds to an explanation the rules that contributed and those that nearly did.
func (p Policies) Explain(ctx context.Context, q Question, x *Explanation) {
	trying, stop := context.WithTimeout(ctx, q.Limit)
	defer stop()
	t := newTracer(p, q)
	x.Fault = t.follow(ctx)
	x.Fired = t.contributions()
	x.Nearly, x.More = t.nearly(trying, x.Fired)
	x.Fault = string(q.Scrub([]byte(cmp.Or(x.Fault, t.fault))))
}

// Denials are what guards contributed to a decision.
func Denials(reasons []bailiff.Reason, scrub func([]byte) []byte) (all []Fired) {
	for _, r := range reasons {
		all = append(all, Fired{Rule: r.Rule, Set: "guards", Value: oneLine(string(scrub([]byte(r.Message)))), Part: "denied"})
	}
	return all
}
