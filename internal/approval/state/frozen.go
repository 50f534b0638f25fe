package state

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// is says whether two are the same, as they are kept.
func (f Freeze) is(g Freeze) bool {
	return f.Kind == g.Kind && f.ID == g.ID && f.Reason == g.Reason && f.By == g.By && f.At.Equal(g.At)
}

// Check is nil if a freeze names what it stops.
func (f Freeze) Check() error {
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

func (t *Step) cancel(i *Item, f Freeze, now time.Time) {
	session := i.Entry.Request.Session
	if !f.stops(session.ID, session.Platform, session.UserID) {
		return
	}
	i = i.copy()
	t.Items = append(t.Items, i)
	i.settle(t, bailiff.ApprovalCancelled, "cancelled", f.Says(), now)
}

// Sentence tells the users that it stops why, without naming ids, and what ends it.
func (f Freeze) Sentence() string {
	said := f.Says()
	if f.Kind != api.FreezeAll {
		said = fmt.Sprintf("%s froze this %s%s", f.By, f.Kind, because(f.Reason))
	}
	return stopped(said, "it is thawed")
}

// storeWorks ends what a failed store stops.
const storeWorks = "the store works again, which is tried every second, or bailiff is restarted with one that was mended; thawing does " +
	"not help"

// StoppedByStore tells of a store that failed, by which everything is stopped.
func StoppedByStore(err error) string {
	return stopped(Freeze{Kind: api.FreezeAll, Reason: err.Error(), By: "bailiff"}.Says(), storeWorks)
}

func stopped(why, until string) string {
	return strings.TrimRight(why, ".") + ". Nothing runs until " + until + "."
}

// Says tells of a freeze in one sentence.
func (f Freeze) Says() string {
	return fmt.Sprintf("%s froze %s%s", f.By, api.Freeze(f).What(), because(f.Reason))
}

// Event is an event of the decision log about a freeze.
func (f Freeze) Event(message string) api.Event {
	e := api.Event{RequestedBy: f.By, Custom: api.Custom{Event: api.ApprovalEvent, Message: message}}
	if f.Kind == api.FreezeSession {
		e.Custom.Session = f.ID
	}
	return e
}

// Key is of one length however long the id is.
func (f Freeze) Key() []byte {
	sum := sha256.Sum256([]byte(f.ID))
	return append([]byte(f.Kind+" "), sum[:]...)
}

// Begin freezes: what is pending of it is cancelled, and grants that are for it alone end.
func (f *Freeze) Begin(s *State, now time.Time) Step {
	if f.At.IsZero() {
		f.At = now
	}
	t := Step{Frozen: []Freeze{*f}, Events: []api.Event{f.Event("frozen: " + f.Says())}}
	for _, i := range s.PendingInOrder() {
		t.cancel(i, *f, now)
	}
	for _, h := range s.AllGrants() {
		if f.stops(h.Grant.Session, h.Grant.Platform, h.Grant.User) {
			t.Ended = append(t.Ended, h)
			t.Events = append(t.Events, h.event(fmt.Sprintf("revoked: grant %s, since %s", h.Grant.ID, f.Says())))
		}
	}
	return t
}

// Thaw ends a freeze; found says whether there was one.
func (s *State) Thaw(kind, id string, who bailiff.Approver) (t Step, found bool) {
	f, found := s.freezes[freezeKey{kind, id}]
	if !found {
		return t, false
	}
	message := fmt.Sprintf("thawed: by %s (%s), what %s", who.Name(), who.Via(), f.Says())
	return Step{Thawed: []Freeze{f}, Events: []api.Event{f.Event(message)}}, true
}
