package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp"
	"github.com/bailiff-dev/bailiff/internal/redact"
	"github.com/bailiff-dev/bailiff/internal/termsafe"
)

// explained is a decision with how it came about.
type explained struct {
	Decision bailiff.Decision `json:"decision"`
	pdp.Explanation
}

// explain says how the decision about a request came about, without secrets.
func (o offline) explain(ctx context.Context, req bailiff.Request, d bailiff.Decision) explained {
	req.Caller = offlineCaller
	scrub := redact.NewScrubber(o.variables).Scrub
	x := explained{Explanation: o.policies.Explain(ctx, req, o.enforcer.Circumstances(req), d, scrub)}
	d.Denials = x.reasons("denied", d.Denials, scrub)
	if d.Approval != nil {
		terms := *d.Approval
		terms.Reasons = x.reasons("asked", terms.Reasons, scrub)
		d.Approval = &terms
	}
	for _, held := range d.Env.Withheld {
		spoke := func(f pdp.Fired) bool { return f.Part == "withheld" && f.Rule == held.Rule }
		if !slices.ContainsFunc(x.Fired, spoke) {
			x.Fired = append(x.Fired, pdp.Fired{Rule: held.Rule, Set: "env", Value: held.Name, Part: "withheld"})
		}
	}
	x.Decision = d
	return x
}

// reasons are those given, without secrets. Those that no policy gave are explained by
// what they say.
func (x *explained) reasons(part string, given []bailiff.Reason, scrub func([]byte) []byte) []bailiff.Reason {
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
		spoke := func(f pdp.Fired) bool { return f.Rule == r.Rule }
		if !slices.ContainsFunc(x.Fired, spoke) {
			x.Fired = append(x.Fired, pdp.Fired{Rule: r.Rule, Set: "bailiff", Value: r.Message, Part: part})
		}
	}
	return clean
}

func printExplanation(w io.Writer, x pdp.Explanation) {
	terms := map[string][]string{}
	for _, f := range x.Fired {
		if slices.Contains([]string{"backend", "limit", "network"}, f.Part) { // the decision says what they are
			terms[f.Part] = append(terms[f.Part], placeOf(f))
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Part, termsafe.Text(placeOf(f)), termsafe.Text(f.Value))
		for _, fact := range f.Where {
			fmt.Fprintf(w, "\t\twhere %s\n", termsafe.Text(fact))
		}
	}
	for _, part := range slices.Sorted(maps.Keys(terms)) {
		fmt.Fprintf(w, "%s\tby\t%s\n", part, termsafe.Text(strings.Join(terms[part], " ")))
	}
	for _, n := range x.Nearly {
		fmt.Fprintf(w, "nearly\t%s:%d\t%s, but not: %s\n", termsafe.Text(n.File), n.Line, termsafe.Text(n.Adds), termsafe.Text(n.Condition))
		for i, fact := range n.Where {
			if i == 0 && n.Wants != "" {
				fact += ", the rule wants " + n.Wants
			}
			fmt.Fprintf(w, "\t\twhere %s\n", termsafe.Text(fact))
		}
	}
	if x.More > 0 {
		fmt.Fprintf(w, "nearly\t\t%d more\n", x.More)
	}
	if x.Fault != "" {
		fmt.Fprintf(w, "not all\t\t%s\n", termsafe.Text(bailiff.Sentence(x.Fault)))
	}
}

// placeOf is where a rule stands; a rule that stands in no policy has its name.
func placeOf(f pdp.Fired) string {
	if f.File == "" {
		return f.Rule
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}
