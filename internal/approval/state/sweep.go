package state

import (
	"fmt"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// Sweep ends what has run out of time, and says when the next does.
func Sweep(s *State, now time.Time) (t Step, next Deadline) {
	for _, i := range s.PendingInOrder() {
		if now.Before(i.Entry.Expires) {
			next.due(i.Entry.Expires)
			continue
		}
		t.expire(i, now)
	}
	for _, h := range s.AllGrants() {
		if h.live(now) {
			next.due(h.Grant.Expires)
			continue
		}
		t.Ended = append(t.Ended, h)
		t.Events = append(t.Events, h.event(fmt.Sprintf("lapsed: grant %s of scope %s ended after %d uses", h.Grant.ID, h.Grant.Scope,
			h.Grant.Uses)))
	}
	return t, next
}

func (t *Step) expire(i *Item, now time.Time) {
	i = i.copy()
	t.Items = append(t.Items, i)
	i.settle(t, bailiff.ApprovalExpired, "expired", i.Entry.unanswered(), now)
}

const (
	// KeepResolved and keepFor are how many resolved approvals are kept and for
	// how long.
	KeepResolved = 1000
	KeepFor      = 7 * 24 * time.Hour
)

// Prune forgets what was resolved long ago.
func (s *State) Prune(now time.Time) Step {
	var t Step
	old := now.Add(-KeepFor)
	for n, i := range s.resolved {
		if len(s.resolved)-n <= KeepResolved && !i.Entry.Resolved.Before(old) {
			break
		}
		t.Pruned = append(t.Pruned, i)
	}
	return t
}
