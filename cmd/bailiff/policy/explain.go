package policy

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/pdp/explain"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// PrintExplanation prints which rules made a decision, and which nearly did.
func PrintExplanation(w io.Writer, x explain.Explanation) {
	terms := map[string][]string{}
	for _, f := range x.Fired {
		if slices.Contains([]string{"backend", "limit", "network"}, f.Part) { // the decision says what they are
			terms[f.Part] = append(terms[f.Part], placeOf(f))
			continue
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Part, termsafe.Text(placeOf(f)), termsafe.Text(f.Value))
		if graded := slices.DeleteFunc(append([]string{f.Severity}, f.Attack...), func(s string) bool { return s == "" }); len(graded) > 0 {
			fmt.Fprintf(w, "\t\tgraded %s\n", termsafe.Text(strings.Join(graded, ", ")))
		}
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
func placeOf(f explain.Fired) string {
	if f.File == "" {
		return f.Rule
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}
