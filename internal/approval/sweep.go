package approval

import (
	"context"
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// sweep ends what has run out of time, and says when the next does.
func sweep(s *state, now time.Time) (t step, next deadline) {
	for _, i := range s.pendingInOrder() {
		if now.Before(i.Entry.Expires) {
			next.due(i.Entry.Expires)
			continue
		}
		t.expire(i, now)
	}
	for _, h := range s.allGrants() {
		if h.live(now) {
			next.due(h.Grant.Expires)
			continue
		}
		t.ended = append(t.ended, h)
		t.events = append(t.events, h.event(fmt.Sprintf("lapsed: grant %s of scope %s ended after %d uses", h.Grant.ID, h.Grant.Scope,
			h.Grant.Uses)))
	}
	return t, next
}

func (t *step) expire(i *item, now time.Time) {
	i = i.copy()
	t.items = append(t.items, i)
	i.settle(t, bailiff.ApprovalExpired, "expired", i.Entry.unanswered(), now)
}

// Unreachable ends a pending approval that could be put to no approver, and says why.
// The error is [ErrUnknown], [ErrSettled] or [ErrStore].
func (b *Book) Unreachable(ctx context.Context, id, reason string) error {
	reason = b.scrub(reason)
	return b.storage.do(ctx, need{items: []string{id}}, func(s *state, now time.Time) (step, error) {
		i, err := s.answerable(id, now)
		if err != nil {
			return step{}, err
		}
		i = i.copy()
		t := step{items: []*item{i}}
		i.settle(&t, bailiff.ApprovalUnreachable, string(bailiff.ApprovalUnreachable), reason, now)
		return t, nil
	})
}

const (
	// keepResolved and keepFor are how many resolved approvals are kept and for
	// how long.
	keepResolved = 1000
	keepFor      = 7 * 24 * time.Hour
)

// prune forgets what was resolved long ago.
func (s *state) prune(now time.Time) step {
	var t step
	old := now.Add(-keepFor)
	for n, i := range s.resolved {
		if len(s.resolved)-n <= keepResolved && !i.Entry.Resolved.Before(old) {
			break
		}
		t.pruned = append(t.pruned, i)
	}
	return t
}
