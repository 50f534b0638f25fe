package state

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// Outgoing is an event as it is read back.
type Outgoing api.Event

// UnmarshalJSON reads what events of approvals have.
func (o *Outgoing) UnmarshalJSON(text []byte) error {
	var e struct {
		DecisionID  string     `json:"decision_id"`
		TraceID     string     `json:"trace_id,omitempty"`
		Timestamp   time.Time  `json:"timestamp"`
		RequestedBy string     `json:"requested_by,omitempty"`
		Custom      api.Custom `json:"custom"`
	}
	err := Strict(text, &e)
	*o = Outgoing{DecisionID: e.DecisionID, TraceID: e.TraceID, Timestamp: e.Timestamp, RequestedBy: e.RequestedBy, Custom: e.Custom}
	return err
}

var _ json.Unmarshaler = (*Outgoing)(nil)

// Outbox are the events that are on disk with the steps they tell of, and
// perhaps not yet in the decision log. They leave the disk only once they are.
type Outbox struct {
	mu      sync.Mutex
	waiting []numbered
	sent    []uint64
	more    chan struct{}
}

// NewOutbox is an empty outbox.
func NewOutbox() *Outbox { return &Outbox{more: make(chan struct{}, 1)} }

type numbered struct {
	number uint64
	event  api.Event
}

// More tells that events have come since it was last heard.
func (o *Outbox) More() <-chan struct{} { return o.more }

// Add takes in events that are on disk, by their numbers there.
func (o *Outbox) Add(numbers []uint64, events []api.Event) {
	o.mu.Lock()
	for i, e := range events {
		o.waiting = append(o.waiting, numbered{numbers[i], e})
	}
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// TakeSent returns what the decision log has, to be removed from the disk.
func (o *Outbox) TakeSent() []uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := o.sent
	o.sent = nil
	return sent
}

// PutBack is for what TakeSent returned and is not removed yet.
func (o *Outbox) PutBack(sent []uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(sent, o.sent...)
}

// Merge adds what waits on disk and is not known.
func (o *Outbox) Merge(numbers []uint64, events []api.Event) {
	var newNumbers []uint64
	var newEvents []api.Event
	o.mu.Lock()
	for i, n := range numbers {
		if !slices.Contains(o.sent, n) && !slices.ContainsFunc(o.waiting, func(w numbered) bool { return w.number == n }) {
			newNumbers, newEvents = append(newNumbers, n), append(newEvents, events[i])
		}
	}
	o.mu.Unlock()
	if newNumbers != nil {
		o.Add(newNumbers, newEvents)
	}
}

// HasSent says whether the disk holds events that the decision log has.
func (o *Outbox) HasSent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sent) > 0
}

// First is the event that waits longest, with its number.
func (o *Outbox) First() (number uint64, e api.Event, found bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return 0, e, false
	}
	return o.waiting[0].number, o.waiting[0].event, true
}

// Acknowledge takes out what the decision log has; it may be gone by a reset.
func (o *Outbox) Acknowledge(number uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) > 0 && o.waiting[0].number == number {
		o.sent = append(o.sent, number)
		o.waiting = o.waiting[1:]
	}
}

// Reset replaces what waits by what the disk holds.
func (o *Outbox) Reset(numbers []uint64, events []api.Event) {
	o.mu.Lock()
	o.waiting, o.sent = nil, nil
	o.mu.Unlock()
	o.Add(numbers, events)
}
