package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/fleet"
)

// freezer stores a freeze first, so that nothing new runs, and then stops what runs.
type freezer struct{ *core }

func (z freezer) Freeze(ctx context.Context, f api.Freeze) (api.Freeze, error) {
	done, err := z.approvals.Freeze(ctx, f)
	if err != nil {
		return done, errors.Join(err, z.halt(ctx)) // a store that fails has frozen everything
	}
	done.MayGoOn = z.mayGoOn(ctx, done)
	var warnings []string
	if done.Warning != "" {
		warnings = append(warnings, bailiff.Sentence(done.Warning))
	}
	if why := z.roster.now.Load().Unliftable(); why != "" {
		warnings = append(warnings, bailiff.Sentence("no person can thaw it: "+why+"; until bailiff.yaml says otherwise it stays"))
	}
	if err = z.halt(ctx); err != nil && ctx.Err() == nil {
		done.MayGoOn = append(done.MayGoOn, "at this sidecar: "+err.Error())
		warnings, err = append(warnings, bailiff.Sentence("not all that ran is surely gone: "+err.Error())), nil
	}
	done.Warning = strings.Join(warnings, " ")
	return done, err
}

// mayGoOn names what a freeze stops at sidecars that do not answer, as far as they have told of it.
func (z freezer) mayGoOn(ctx context.Context, f api.Freeze) (names []string) {
	if len(f.MayGoOn) == 0 || z.fleet.members == nil {
		return nil
	}
	told, err := z.fleet.members.SandboxesOf(ctx, f.MayGoOn)
	for _, replica := range f.MayGoOn {
		stopped := namesOf(f, told[replica])
		if err != nil {
			stopped = []string{"what it has is not known: " + err.Error()}
		}
		for _, name := range stopped {
			names = append(names, "at sidecar "+replica+": "+name)
		}
	}
	return names
}

// namesOf names the sandboxes in which a freeze stops something.
func namesOf(f api.Freeze, all []fleet.Sandbox) (names []string) {
	for _, s := range all {
		in := slices.DeleteFunc(slices.Clone(s.Sessions), func(one fleet.Session) bool { return !f.Stops(one.ID, one.Platform, one.User) })
		switch {
		case len(in) == 1:
			names = append(names, fmt.Sprintf("%s sandbox %s of session %s", s.Backend, s.ID, in[0].ID))
		case len(in) > 1:
			names = append(names, fmt.Sprintf("%s sandbox %s of %d sessions", s.Backend, s.ID, len(in)))
		case s.MayHaveMore:
			names = append(names, fmt.Sprintf("%s sandbox %s of many sessions", s.Backend, s.ID))
		}
	}
	if names == nil {
		names = []string{"nothing but what it began in its last seconds"}
	}
	return names
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
