// Package observed tells which rules the policies in force only observe: these neither ask nor deny until a day.
//
// Here: the rows of the table observe with what the policies make of them today ([Rules]), and the warnings about them ([Warnings]).
//
// Not here: what may be observed, which the policies and package tables say.
package observed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Policies are those in force.
type Policies interface {
	Query(ctx context.Context, req bailiff.Request, at bailiff.Circumstances, path string) (result any, defined bool, err error)
}

// Rules are the rows of the table, by name. In force are those by which the policies go today: they say so themselves. Where they
// cannot, none is in force, and the error says why.
func Rules(ctx context.Context, policies Policies) ([]api.ObservedRule, error) {
	rows, _, err := policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{}, "bailiff/tables/observe")
	entries, ok := rows.(map[string]any)
	if err != nil || !ok || len(entries) == 0 {
		return nil, err
	}
	found, _, err := policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{Time: time.Now()}, "bailiff/_observed_rules")
	inForce := map[string]bool{}
	rules, _ := found.([]any)
	for _, rule := range rules {
		inForce[fmt.Sprint(rule)] = true
	}
	list := make([]api.ObservedRule, 0, len(entries))
	for _, rule := range slices.Sorted(maps.Keys(entries)) {
		row, _ := entries[rule].(map[string]any)
		list = append(list, api.ObservedRule{Rule: rule, Until: fmt.Sprint(row["until"]), InForce: inForce[rule]})
	}
	return list, err
}

// Warnings say which rules are only observed.
func Warnings(rows []api.ObservedRule) (all []string) {
	for _, row := range rows {
		if row.InForce {
			all = append(all, fmt.Sprintf("rule %s is only observed until %s: it neither asks nor denies", row.Rule, row.Until))
		} else {
			all = append(all, fmt.Sprintf("the row of rule %s in the table observe ended on %s: the rule asks and denies", row.Rule,
				row.Until))
		}
	}
	return all
}
