package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/config"
	"github.com/bailiff-dev/bailiff/internal/people"
)

// openBook opens what remembers approvals, grants and freezes.
func (c *core) openBook() error {
	if err := c.roster.follow(c.cfg); err != nil {
		return err
	}
	caps := c.cfg.Limits.PendingApprovals
	var err error
	c.book, err = approval.Open(approval.Config{
		Path: filepath.Join(c.cfg.StateDir, "approvals.db"), Router: &c.roster, Recorder: c.decisions, Observer: c.metrics,
		Reachable: c.roster.reachable, Caps: approval.Caps(caps), Scrub: c.scrubber.Scrub, Log: c.log,
	})
	if err != nil {
		return fmt.Errorf("opening the approvals: %w", err)
	}
	return nil
}

// roster knows people by the configuration that is in force.
type roster struct {
	now       atomic.Pointer[people.Roster]
	notifiers atomic.Pointer[chat.Notifiers]
}

var _ approval.Router = (*roster)(nil)

// follow puts another configuration into force.
func (r *roster) follow(cfg *config.Config) error {
	next, err := people.New(cfg)
	if err != nil {
		return err
	}
	r.now.Store(next)
	return nil
}

func (r *roster) Plan(c bailiff.Claim) (api.Plan, error) { return r.now.Load().Plan(c) }

func (r *roster) May(who bailiff.Approver, c bailiff.Claim, route string) error {
	return r.now.Load().May(who, c, route)
}

// Identify says who comes by a uid to a channel.
func (r *roster) Identify(uid uint32, channel string) bailiff.Approver {
	return r.now.Load().Identify(uid, channel)
}

// IdentifyAccount says who comes by an account at a chat service.
func (r *roster) IdentifyAccount(service, id string) bailiff.Approver {
	return r.now.Load().IdentifyAccount(service, id)
}

// reachable is nil if a channel of a plan works.
func (r *roster) reachable(p api.Plan) error {
	if notifiers := r.notifiers.Load(); notifiers != nil {
		return notifiers.Reachable(p)
	}
	return nil
}

// mayLift is nil if who may lift what operators or policies imposed.
func (r *roster) mayLift(who bailiff.Approver) error {
	if err := r.now.Load().MayLift(who); err != nil {
		return ineligible{err}
	}
	return nil
}

// ineligible is why somebody may not, as package approval says so.
type ineligible struct{ error }

func (ineligible) Unwrap() error { return api.ErrIneligible }

// asked is the book as the enforcer sees it.
type asked struct{ *approval.Book }

// Void counts it as done where nothing is left to take back, since one of several
// identical requests that waited was faster.
func (a asked) Void(ctx context.Context, id, reason string) error {
	err := a.Book.Void(ctx, id, reason)
	if errors.Is(err, api.ErrSettled) || errors.Is(err, api.ErrUnknown) {
		return nil
	}
	return err
}

// freezer freezes in the book first, so that nothing new runs, and then stops
// what does.
type freezer struct{ *core }

func (z freezer) Freeze(ctx context.Context, f api.Freeze) (api.Freeze, error) {
	done, err := z.book.Freeze(ctx, f)
	if err != nil {
		return done, errors.Join(err, z.halt(ctx)) // a store that fails has frozen everything
	}
	if why := z.roster.now.Load().Unliftable(); why != "" {
		done.Warning = bailiff.Sentence("nobody can thaw it: " + why + "; until bailiff.yaml says otherwise it stays")
	}
	return done, z.halt(ctx)
}

// halt stops whatever is frozen now.
func (z freezer) halt(ctx context.Context) error {
	return z.enforcer.Halt(ctx, func(s bailiff.Session) bool { _, frozen := z.book.Frozen(s); return frozen })
}

func (z freezer) Thaw(ctx context.Context, kind, id string, who bailiff.Approver) (found bool, err error) {
	if err := z.roster.mayLift(who); err != nil {
		return false, err
	}
	return z.book.Thaw(ctx, kind, id, who)
}

func (z freezer) Freezes() []api.Freeze { return z.book.Freezes() }

// glass lets operators run what the policies deny, as somebody of the people or,
// on a machine with one person, as whoever they are.
type glass struct{ *core }

func (g glass) BreakGlass(ctx context.Context, who bailiff.Approver, req bailiff.Request, reason string) (bailiff.Answer, error) {
	if err := g.roster.mayLift(who); err != nil {
		return bailiff.Answer{}, err
	}
	req.Caller = bailiff.ChannelOperator
	return g.enforcer.BreakGlass(ctx, req, api.BreakGlass{By: who.Name(), Via: who.Via(), Reason: reason}), nil
}

// breaker is nil unless the configuration lets the glass be broken.
func (c *core) breaker() gateway.GlassBreaker {
	if !c.cfg.Operator.BreakGlass {
		return nil
	}
	return glass{c}
}
