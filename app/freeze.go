package app

import (
	"context"
	"errors"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
)

// freezer stores a freeze first, so that nothing new runs, and then stops what runs.
type freezer struct{ *core }

func (z freezer) Freeze(ctx context.Context, f api.Freeze) (api.Freeze, error) {
	done, err := z.approvals.Freeze(ctx, f)
	if err != nil {
		return done, errors.Join(err, z.halt(ctx)) // a store that fails has frozen everything
	}
	var warnings []string
	if done.Warning != "" {
		warnings = append(warnings, bailiff.Sentence(done.Warning))
	}
	if why := z.roster.now.Load().Unliftable(); why != "" {
		warnings = append(warnings, bailiff.Sentence("no person can thaw it: "+why+"; until bailiff.yaml says otherwise it stays"))
	}
	if err = z.halt(ctx); err != nil && ctx.Err() == nil {
		warnings, err = append(warnings, bailiff.Sentence("not all that ran is surely gone: "+err.Error())), nil
	}
	done.Warning = strings.Join(warnings, " ")
	return done, err
}

// halt stops what is frozen now.
func (z freezer) halt(ctx context.Context) error {
	return z.enforcer.Halt(ctx, func(s bailiff.Session) bool { _, frozen := z.approvals.Frozen(s); return frozen })
}

func (z freezer) Thaw(ctx context.Context, kind, id string, who bailiff.Approver) (found bool, err error) {
	if err := z.roster.mayLift(who); err != nil {
		return false, err
	}
	return z.approvals.Thaw(ctx, kind, id, who)
}

func (z freezer) Freezes() []api.Freeze { return z.approvals.Freezes() }

// breakGlass lets operators run what the policies deny, as one of the people or, on a machine
// with one person, as that person.
type breakGlass struct{ *core }

func (g breakGlass) BreakGlass(ctx context.Context, who bailiff.Approver, req bailiff.Request, reason string) (bailiff.Answer, error) {
	if err := g.roster.mayLift(who); err != nil {
		return bailiff.Answer{}, err
	}
	req.Caller = bailiff.ChannelOperator
	return g.enforcer.BreakGlass(ctx, req, api.BreakGlass{By: who.Name(), Via: who.Via(), Reason: reason}), nil
}

// breakGlass is nil unless the configuration allows it.
func (c *core) breakGlass() gateway.BreakGlasser {
	if !c.cfg.Operator.BreakGlass {
		return nil
	}
	return breakGlass{c}
}
