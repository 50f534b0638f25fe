package state

import (
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Step is a change of the state: what is written in one transaction, then told.
type Step struct {
	Items  []*Item
	Claims []Stored // of new items
	Pruned []*Item
	Grants []*Held
	Ended  []*Held
	Frozen []Freeze
	Thawed []Freeze
	Events []api.Event
	// Sent are the numbers of the events that the decision log has.
	Sent []uint64
	// told is what the observer hears once the step is on disk.
	told []func(Observer)
}

// Observer counts what steps do.
type Observer interface {
	ApprovalOpened(platform string)
	// ApprovalResolved is told the state that ended it, or "unanswerable", and the trace
	// that its request is exported in, if any.
	ApprovalResolved(platform, resolution, scope string, waited time.Duration, trace string)
	// ApprovalEndedElsewhere is told of one that another sidecar has resolved and counted.
	ApprovalEndedElsewhere(platform string)
}

// Stored is a claim's text under its item's number.
type Stored struct {
	Seq  uint64
	Text []byte
}

// Empty says whether a step changes nothing.
func (t *Step) Empty() bool {
	return len(t.Items)+len(t.Pruned)+len(t.Grants)+len(t.Ended)+len(t.Frozen)+len(t.Thawed)+len(t.Events)+len(t.Sent) == 0
}

// settle ends an item of a step that is being made.
func (i *Item) settle(t *Step, state bailiff.ApprovalState, resolution, message string, now time.Time) {
	e := &i.Entry
	e.State, e.Resolved, e.Message = state, now, message
	t.Events = append(t.Events, e.event(resolution+": "+message))
	t.told = append(t.told, Resolution(i, resolution))
}

// Resolution has the observer hear how an approval ended.
func Resolution(i *Item, resolution string) func(Observer) {
	e := &i.Entry
	return func(o Observer) {
		o.ApprovalResolved(e.Request.Session.Platform, resolution, e.Scope, e.Resolved.Sub(e.Created), e.TraceID)
	}
}

// Changes are what watchers hear of a step.
func (t Step) Changes() []api.Change {
	var all []api.Change
	for _, i := range t.Items {
		e := i.Entry.shown()
		all = append(all, api.Change{Entry: &e})
	}
	for _, h := range t.Grants {
		g := api.Grant(h.Grant)
		all = append(all, api.Change{Grant: &g})
	}
	for _, h := range t.Ended {
		g := api.Grant(h.Grant)
		all = append(all, api.Change{Grant: &g, Gone: true})
	}
	for _, f := range t.Frozen {
		shown := api.Freeze(f)
		all = append(all, api.Change{Freeze: &shown})
	}
	for _, f := range t.Thawed {
		shown := api.Freeze(f)
		all = append(all, api.Change{Freeze: &shown, Gone: true})
	}
	return all
}
