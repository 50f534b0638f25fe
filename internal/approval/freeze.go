package approval

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Freeze stops everything, a session or a user until it is thawed: pending
// approvals of it are cancelled, grants that are for it alone revoked. Freezing
// again replaces reason, author and time. What it returns names the replicas in which it may go on.
func (b *Book) Freeze(ctx context.Context, asked api.Freeze) (api.Freeze, error) {
	f := freeze(asked)
	f.Warning, f.MayGoOn = "", nil // which are not kept
	if err := f.check(); err != nil {
		return api.Freeze{}, err
	}
	f.Reason = b.scrub(f.Reason)
	err := b.storage.do(ctx, need{freezes: true, pending: true, all: true}, func(s *state, now time.Time) (step, error) {
		if f.At.IsZero() {
			f.At = now
		}
		t := step{frozen: []freeze{f}, events: []api.Event{f.event("frozen: " + f.says())}}
		for _, i := range s.pendingInOrder() {
			t.cancel(i, f, now)
		}
		for _, h := range s.allGrants() {
			if f.stops(h.Grant.Session, h.Grant.Platform, h.Grant.User) {
				t.ended = append(t.ended, h)
				t.events = append(t.events, h.event(fmt.Sprintf("revoked: grant %s, since %s", h.Grant.ID, f.says())))
			}
		}
		return t, nil
	})
	if err != nil {
		return api.Freeze{}, err
	}
	silent, err := b.storage.confirm(ctx)
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

// is says whether two are the same, as they are kept.
func (f freeze) is(g freeze) bool {
	return f.Kind == g.Kind && f.ID == g.ID && f.Reason == g.Reason && f.By == g.By && f.At.Equal(g.At)
}

func (f freeze) check() error {
	switch {
	case f.Kind == api.FreezeAll && f.ID == "":
		return nil
	case f.Kind == api.FreezeAll:
		return fmt.Errorf("a freeze of everything has no id, and this one has %q", f.ID)
	case f.Kind != api.FreezeSession && f.Kind != api.FreezeUser:
		return fmt.Errorf("a freeze is of kind all, session or user, not %q", f.Kind)
	case f.ID == "":
		return fmt.Errorf("a freeze of a %s needs its id", f.Kind)
	}
	return nil
}

func (t *step) cancel(i *item, f freeze, now time.Time) {
	session := i.Entry.Request.Session
	if !f.stops(session.ID, session.Platform, session.UserID) {
		return
	}
	i = i.copy()
	t.items = append(t.items, i)
	i.settle(t, bailiff.ApprovalCancelled, "cancelled", f.says(), now)
}

// told tells the users that it stops why, without naming ids, and what ends it.
func (f freeze) told() string {
	said := f.says()
	if f.Kind != api.FreezeAll {
		said = fmt.Sprintf("%s froze this %s%s", f.By, f.Kind, because(f.Reason))
	}
	return stopped(said, "it is thawed")
}

// storeWorks ends what a failed store stops.
const storeWorks = "the store works again, which is tried every second, or bailiff is restarted with one that was mended; thawing does " +
	"not help"

func stopped(why, until string) string {
	return strings.TrimRight(why, ".") + ". Nothing runs until " + until + "."
}

// says tells of a freeze in one sentence.
func (f freeze) says() string {
	return fmt.Sprintf("%s froze %s%s", f.By, api.Freeze(f).What(), because(f.Reason))
}

func (f freeze) event(message string) api.Event {
	e := api.Event{RequestedBy: f.By, Custom: api.Custom{Event: api.ApprovalEvent, Message: message}}
	if f.Kind == api.FreezeSession {
		e.Custom.Session = f.ID
	}
	return e
}

// Thaw ends a freeze; found says whether there was one.
func (b *Book) Thaw(ctx context.Context, kind, id string, who bailiff.Approver) (found bool, err error) {
	thawed := false
	err = b.storage.do(ctx, need{freezes: true}, func(s *state, _ time.Time) (step, error) {
		f, frozen := s.freezes[freezeKey{kind, id}]
		if thawed = frozen; !frozen {
			return step{}, nil
		}
		message := fmt.Sprintf("thawed: by %s (%s), what %s", who.Name(), who.Via(), f.says())
		return step{thawed: []freeze{f}, events: []api.Event{f.event(message)}}, nil
	})
	if err != nil {
		return false, err
	}
	return thawed, nil
}
