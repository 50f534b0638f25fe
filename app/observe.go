package app

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// observed are the rows of the table observe. In force are those by which the policies go today: they say so themselves.
func (c *core) observed(ctx context.Context) []api.ObservedRule {
	rows, _, err := c.policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{}, "bailiff/tables/observe")
	entries, ok := rows.(map[string]any)
	if err != nil || !ok || len(entries) == 0 {
		return nil
	}
	found, _, err := c.policies.Query(ctx, bailiff.Request{}, bailiff.Circumstances{Time: time.Now()}, "bailiff/_observed_rules")
	if err != nil {
		c.log.Warn("which rules are observed cannot be told", "error", err)
	}
	inForce := map[string]bool{}
	rules, _ := found.([]any)
	for _, rule := range rules {
		inForce[fmt.Sprint(rule)] = true
	}
	list := make([]api.ObservedRule, 0, len(entries))
	for _, rule := range names(entries) {
		row, _ := entries[rule].(map[string]any)
		list = append(list, api.ObservedRule{Rule: rule, Until: fmt.Sprint(row["until"]), InForce: inForce[rule]})
	}
	return list
}

// observeWarnings say which rules are only observed.
func observeWarnings(rows []api.ObservedRule) (all []string) {
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

// logObserved has the sidecar's own log say, each time that policies come into force, which rules are only observed.
func (c *core) logObserved(ctx context.Context) {
	for _, row := range c.observed(ctx) {
		if row.InForce {
			c.log.Warn("a rule is only observed, and neither asks nor denies", "rule", row.Rule, "until", row.Until)
		}
	}
}
