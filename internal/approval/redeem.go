package approval

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// Covered says whether live grants cover a claim.
func (b *Book) Covered(c bailiff.Claim) bool {
	if b.Err() != nil {
		return false
	}
	_, covered := b.covered(c)
	return covered
}

// covered returns what is wanted of a claim too. The router is asked only if
// there is a grant that might cover it.
func (b *Book) covered(c bailiff.Claim) (w state.Wanted, covered bool) {
	w = state.Want(c)
	if !b.reads(func(s *state.State) bool { return s.Any(w) }) {
		return w, false
	}
	plan, err := b.config.Router.Plan(c)
	if err != nil {
		return w, false // what would go to no approver is asked anew, which says why
	}
	w, now := w.By(plan, c.Decision.Approval), b.storage.Now()
	return w, b.reads(func(s *state.State) bool { return s.Cover(w, now) != nil })
}

// reads asks something of what is on disk.
func (b *Book) reads(ask func(*state.State) bool) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return ask(b.seen)
}

// Redeem uses the grants that cover a claim, if any do. When it returns true,
// their use is on disk; a grant of scope once was there for the last time.
func (b *Book) Redeem(ctx context.Context, c bailiff.Claim) (a bailiff.Approval, granted bool, err error) {
	if err := b.Err(); err != nil {
		return bailiff.Approval{}, false, err
	}
	w, covered := b.covered(c)
	if !covered {
		b.storage.Refresh()
		w, covered = b.covered(c)
	}
	if !covered {
		return bailiff.Approval{}, false, nil
	}
	var used bailiff.Approval
	byPattern := false
	n := w.Need(nil)
	n.Uses = true
	err = b.storage.Do(ctx, n, func(s *state.State, now time.Time) (state.Step, error) {
		t, u := s.Redeem(w, c, b.scrub(c.Request.ID), now)
		granted, used, byPattern = u.IsGranted, u.By, u.ByPattern
		return t, nil
	})
	if err != nil {
		return bailiff.Approval{}, false, err
	}
	if byPattern {
		b.config.Observer.PatternUsed(c.Request.Session.Platform)
	}
	return used, granted, nil
}

// Void takes an approval back because what would run is no longer what was
// approved. The grant that it left goes; if there is none any more, the error is
// [ErrSettled].
func (b *Book) Void(ctx context.Context, id, reason string) error {
	reason = b.scrub(reason)
	return b.storage.Do(ctx, state.Need{Items: []string{id}}, func(s *state.State, now time.Time) (state.Step, error) {
		return s.Void(id, reason, now)
	})
}

// Withdraw takes back what a session that has ended still asks people: no request of it could
// use their answer any more.
func (b *Book) Withdraw(ctx context.Context, caller, session string) error {
	return b.storage.Do(ctx, state.Need{Pending: true}, func(s *state.State, now time.Time) (state.Step, error) {
		return s.Withdraw(caller, session, now), nil
	})
}

// Unreachable ends a pending approval that could be put to no approver, and says why.
// The error is [ErrUnknown], [ErrSettled] or [ErrStore].
func (b *Book) Unreachable(ctx context.Context, id, reason string) error {
	reason = b.scrub(reason)
	return b.storage.Do(ctx, state.Need{Items: []string{id}}, func(s *state.State, now time.Time) (state.Step, error) {
		return s.Unreachable(id, reason, now)
	})
}
