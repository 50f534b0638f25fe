package offline

import (
	"context"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/explain"
	"github.com/bailiff-dev/bailiff/internal/secrets/redact"
)

// Explained is a decision with how it came about.
type Explained struct {
	Decision bailiff.Decision `json:"decision"`
	explain.Explanation
}

// Explain says how the decision about a request came about, without secrets.
func (j *Judge) Explain(ctx context.Context, req bailiff.Request, d bailiff.Decision) Explained {
	req.Caller = caller
	scrub := redact.NewScrubber(j.variables).Scrub
	x := Explained{Explanation: j.policies.Explain(ctx, req, j.enforcer.Circumstances(req), d, scrub)}
	d.Denials = x.reasons("denied", d.Denials, scrub)
	if d.Approval != nil {
		terms := *d.Approval
		terms.Reasons = x.reasons("asked", terms.Reasons, scrub)
		d.Approval = &terms
	}
	for _, held := range d.Env.Withheld {
		spoke := func(f explain.Fired) bool { return f.Part == "withheld" && f.Rule == held.Rule }
		if !slices.ContainsFunc(x.Fired, spoke) {
			x.Fired = append(x.Fired, explain.Fired{Rule: held.Rule, Set: "env", Value: held.Name, Part: "withheld"})
		}
	}
	x.Decision = d
	return x
}

// reasons are those given, without secrets. Those that no policy gave are explained by
// what they say.
func (x *Explained) reasons(part string, given []bailiff.Reason, scrub func([]byte) []byte) []bailiff.Reason {
	clean := slices.Clone(given)
	for i := range clean {
		r := &clean[i]
		for _, text := range []*string{&r.Message, &r.Match, &r.Instead} {
			*text = string(scrub([]byte(*text)))
		}
		if x.Fault != "" && strings.Contains(r.Message, x.Fault) {
			x.Fault = "the policies gave no decision, for the reason above"
			continue
		}
		spoke := func(f explain.Fired) bool { return f.Rule == r.Rule }
		if !slices.ContainsFunc(x.Fired, spoke) {
			x.Fired = append(x.Fired, explain.Fired{Rule: r.Rule, Set: "bailiff", Value: r.Message, Part: part})
		}
	}
	return clean
}
