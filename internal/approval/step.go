package approval

import (
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// step is a change of the state: what is written in one transaction, then told.
type step struct {
	items  []*item
	claims []stored // of new items
	pruned []*item
	grants []*held
	ended  []*held
	frozen []freeze
	thawed []freeze
	events []api.Event
	// sent are the numbers of the events that the decision log has.
	sent []uint64
	// told is what the observer hears once the step is on disk.
	told []func(Observer)
}

// stored is a claim's text under its item's number.
type stored struct {
	seq  uint64
	text []byte
}

func (t *step) empty() bool {
	return len(t.items)+len(t.pruned)+len(t.grants)+len(t.ended)+len(t.frozen)+len(t.thawed)+len(t.events)+len(t.sent) == 0
}

// settle ends an item of a step that is being made.
func (i *item) settle(t *step, state bailiff.ApprovalState, resolution, message string, now time.Time) {
	e := &i.Entry
	e.State, e.Resolved, e.Message = state, now, message
	t.events = append(t.events, e.event(resolution+": "+message))
	t.told = append(t.told, resolved(i, resolution))
}

func resolved(i *item, resolution string) func(Observer) {
	e := &i.Entry
	return func(o Observer) {
		o.ApprovalResolved(e.Request.Session.Platform, resolution, e.Scope, e.Resolved.Sub(e.Created), e.TraceID)
	}
}

func (t step) changes() []api.Change {
	var all []api.Change
	for _, i := range t.items {
		e := i.Entry.shown()
		all = append(all, api.Change{Entry: &e})
	}
	for _, h := range t.grants {
		g := api.Grant(h.Grant)
		all = append(all, api.Change{Grant: &g})
	}
	for _, h := range t.ended {
		g := api.Grant(h.Grant)
		all = append(all, api.Change{Grant: &g, Gone: true})
	}
	for _, f := range t.frozen {
		shown := api.Freeze(f)
		all = append(all, api.Change{Freeze: &shown})
	}
	for _, f := range t.thawed {
		shown := api.Freeze(f)
		all = append(all, api.Change{Freeze: &shown, Gone: true})
	}
	return all
}
