package approval

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// Freeze stops everything, a session or a user until it is thawed: pending
// approvals of it are cancelled, grants that are for it alone revoked. Freezing
// again replaces reason, author and time. What it returns names the replicas in which it may go on.
func (b *Book) Freeze(ctx context.Context, asked api.Freeze) (api.Freeze, error) {
	f := state.Freeze(asked)
	f.Warning, f.MayGoOn = "", nil // which are not kept
	if err := f.Check(); err != nil {
		return api.Freeze{}, err
	}
	f.Reason = b.scrub(f.Reason)
	err := b.storage.Do(ctx, state.Need{Freezes: true, Pending: true, All: true}, func(s *state.State, now time.Time) (state.Step, error) {
		t := f.Begin(s, now)
		return t, nil
	})
	if err != nil {
		return api.Freeze{}, err
	}
	silent, err := b.storage.Confirm(ctx)
	if err != nil {
		return api.Freeze{}, err
	}
	done := api.Freeze(f)
	if len(silent) > 0 {
		done.Warning = fmt.Sprintf("replicas %s do not answer: they start nothing new, and what they run may go on; stop it there",
			strings.Join(silent, ", "))
		done.MayGoOn = silent
	}
	return done, nil
}

// Thaw ends a freeze wherever a replica lives; found says whether there was one.
func (b *Book) Thaw(ctx context.Context, kind, id string, who bailiff.Approver) (found bool, err error) {
	err = b.storage.Do(ctx, state.Need{Freezes: true}, func(s *state.State, _ time.Time) (t state.Step, err error) {
		t, found = s.Thaw(kind, id, who)
		return t, nil
	})
	if !found || err != nil {
		return false, err
	}
	_, _ = b.storage.Confirm(ctx) // a replica that has not heard of it denies for a little longer
	return true, nil
}
