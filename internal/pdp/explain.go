package pdp

import (
	"cmp"
	"context"
	"fmt"
	"time"

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
	// Set is what the rule adds to, such as "findings", or "guards"; Value is what it adds.
	Set   string `json:"set"`
	Value string `json:"value"`
	// Part is what became of it: "denied", "asked", "forwarded", "withheld", "limit",
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

// explainTimeout bounds an explanation: no rule is left out by an index.
const explainTimeout = 5 * time.Second

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
			x.Fired = append(x.Fired, Fired{Rule: denial.Rule, Set: "guards", Value: oneLine(string(scrub([]byte(denial.Message)))), Part: "denied"})
		}
		if len(denials) > 0 || fault != nil {
			x.Fault = "a guard denies, so that the policies are not asked"
			return x
		}
	}
	limit := cmp.Or(p.config.ExplainTimeout, explainTimeout)
	trying, stop := context.WithTimeout(ctx, limit)
	defer stop()
	w := newWitness(s, text.document(req, at), d, scrub)
	x.Fault = w.follow(ctx, at.Time, limit)
	x.Fired = w.contributions()
	x.Nearly, x.More = w.nearly(trying, at.Time, x.Fired)
	x.Fault = string(scrub([]byte(cmp.Or(x.Fault, w.fault))))
	return x
}
