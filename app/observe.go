package app

import (
	"context"

	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/judging/observed"
)

// observed are the rows of the table observe.
func (c *core) observed(ctx context.Context) []api.ObservedRule {
	rows, err := observed.Rules(ctx, c.policies)
	if err != nil {
		c.log.Warn("which rules are observed cannot be told", "error", err)
	}
	return rows
}

// logObserved has the sidecar's own log say, each time that policies come into force, which rules are only observed.
func (c *core) logObserved(ctx context.Context) {
	for _, row := range c.observed(ctx) {
		if row.InForce {
			c.log.Warn("a rule is only observed, and neither asks nor denies", "rule", row.Rule, "until", row.Until)
		}
	}
}
