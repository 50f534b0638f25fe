package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// Ask opens an approval, or joins the pending one of the same claim. If no approver
// could answer, or the session is frozen, it ends at once. If grants cover the
// claim by now, it is approved already. Its error is [ErrStore] or [ErrUnreachable],
// or says that too much is pending already.
func (b *Book) Ask(ctx context.Context, c bailiff.Claim) (bailiff.Approval, error) {
	replans := b.replans.Load()
	plan, err := b.config.Router.Plan(c)
	var nobody *Unanswerable
	if err != nil && !errors.As(err, &nobody) {
		return bailiff.Approval{}, fmt.Errorf("planning an approval: %w", err)
	}
	terms := state.AskTerms{Caps: b.config.Caps}
	if nobody != nil {
		terms.Nobody = &state.Unanswerable{Reason: b.scrub(nobody.Reason)}
	} else if err := b.config.Reachable(plan); err != nil {
		terms.Unreachable = fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	q, err := state.NewQuestion(c, plan, terms, b.config.Scrub)
	if err != nil {
		return bailiff.Approval{}, err
	}
	var a bailiff.Approval
	err = b.storage.Do(ctx, q.Need(), func(s *state.State, now time.Time) (t state.Step, err error) {
		if b.replans.Load() != replans {
			return state.Step{}, errReplanned
		}
		t, a, err = q.Ask(s, now)
		return t, err
	})
	switch {
	case errors.Is(err, errReplanned):
		return b.Ask(ctx, c)
	case errors.Is(err, state.ErrFull):
		b.refused(c, err)
	case errors.Is(err, ErrUnreachable):
		b.config.Observer.ApprovalRefused(c.Request.Session.Platform, string(bailiff.ApprovalUnreachable))
	}
	if err != nil {
		return bailiff.Approval{}, err
	}
	if a.State == bailiff.ApprovalApproved {
		b.storage.Refresh() // its grants may have been made right before, and not be shown here yet
	}
	return a, nil
}

// refused tells of a question that is not kept, which leaves no trace otherwise;
// the log is told once a second at most.
func (b *Book) refused(c bailiff.Claim, why error) {
	b.config.Observer.ApprovalRefused(c.Request.Session.Platform, "refused")
	now, last := time.Now().UnixNano(), b.complained.Load()
	if now-last >= int64(time.Second) && b.complained.CompareAndSwap(last, now) {
		b.config.Log.Warn("a question to people was refused", "request_id", c.Request.ID, "decision_id", c.DecisionID, "trace_id",
			c.TraceID, "reason", why.Error())
	}
}
