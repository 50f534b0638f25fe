package approval

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/internal/approval/state"
)

// replanLength is how many approvals are planned anew in one transaction, so that
// others get their turn in between.
const replanLength = 1000

// errReplanned says that the router was asked before people or routes changed.
var errReplanned = errors.New("people or routes changed meanwhile")

// Replan has the router plan every pending approval anew; it is to be called
// after people or routes changed. An approval that no approver could answer any more expires at
// once, as unanswerable. The others get the approvers, channels and route of the
// moment, lose the votes of those who may no longer answer, and need no fewer
// people than before; their time stays as it was. The error is [ErrStore], or the
// router's; what was planned until then stays so, and calling it again goes on.
func (b *Book) Replan(ctx context.Context) error {
	b.replanning.Lock()
	defer b.replanning.Unlock()
	var pending []*state.Item
	err := b.storage.Do(ctx, state.Need{Pending: true}, func(s *state.State, _ time.Time) (state.Step, error) {
		b.replans.Add(1) // a caller that asked the router before, and is not in yet, asks it again
		pending = s.PendingInOrder()
		return state.Step{}, nil
	})
	for err == nil && len(pending) > 0 {
		n := min(len(pending), replanLength)
		var again []*state.Item
		again, err = b.replan(ctx, pending[:n])
		pending = append(pending[n:], again...)
	}
	return err
}

// replan puts new plans into force in one transaction. It returns what changed
// while the router was asked.
func (b *Book) replan(ctx context.Context, pending []*state.Item) (again []*state.Item, err error) {
	var all []state.NewPlan
	for _, i := range pending {
		r, changed, err := b.plannedAnew(i)
		if err != nil {
			return nil, err
		}
		if changed {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	err = b.storage.Do(ctx, state.Need{Items: ids(all)}, func(s *state.State, now time.Time) (state.Step, error) {
		b.replans.Add(1)
		var t state.Step
		t, again = s.Replan(all, now)
		return t, nil
	})
	if err != nil {
		return nil, err
	}
	return again, nil
}

func ids(all []state.NewPlan) (ids []string) {
	for _, r := range all {
		ids = append(ids, r.Item.Entry.ID)
	}
	return ids
}

func (b *Book) plannedAnew(i *state.Item) (r state.NewPlan, changed bool, err error) {
	text, found, err := b.claim(i)
	if err != nil || !found { // a claim is kept as long as its approval is pending
		return r, false, err
	}
	r = state.NewPlan{Item: i}
	c, e := text.Claim(i.Entry.DecisionID), &i.Entry
	p, err := b.config.Router.Plan(c)
	var nobody *Unanswerable
	if errors.As(err, &nobody) {
		r.Nobody = b.scrub(nobody.Reason)
		return r, true, nil
	}
	if err != nil {
		return r, false, fmt.Errorf("planning approval %s anew: %w", e.ID, err)
	}
	p.Approvers, p.Channels = append([]string{}, p.Approvers...), append([]string{}, p.Channels...)
	p.Quorum, p.Timeout = max(p.Quorum, e.Plan.Quorum), e.Plan.Timeout
	if len(p.Approvers) < p.Quorum {
		r.Nobody = fmt.Sprintf("%d people must say yes, as when this was asked, but only %s could now; ask again",
			p.Quorum, strings.Join(p.Approvers, " and "))
		return r, true, nil
	}
	r.Poll = state.Poll{Plan: p, Barred: b.barred(c, e.Votes, p.Route)}
	return r, len(r.Poll.Barred) > 0 || !reflect.DeepEqual(p, e.Plan), nil
}
