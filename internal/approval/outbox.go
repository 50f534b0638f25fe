package approval

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// outgoing is an event as it is read back.
type outgoing api.Event

// UnmarshalJSON reads what events of approvals have.
func (o *outgoing) UnmarshalJSON(text []byte) error {
	var e struct {
		DecisionID  string     `json:"decision_id"`
		TraceID     string     `json:"trace_id,omitempty"`
		Timestamp   time.Time  `json:"timestamp"`
		RequestedBy string     `json:"requested_by,omitempty"`
		Custom      api.Custom `json:"custom"`
	}
	err := strict(text, &e)
	*o = outgoing{DecisionID: e.DecisionID, TraceID: e.TraceID, Timestamp: e.Timestamp, RequestedBy: e.RequestedBy, Custom: e.Custom}
	return err
}

var _ json.Unmarshaler = (*outgoing)(nil)

// outbox are the events that are on disk with the steps they tell of, and
// perhaps not yet in the decision log. They leave the disk only once they are.
type outbox struct {
	mu      sync.Mutex
	waiting []numbered
	sent    []uint64
	more    chan struct{}
}

type numbered struct {
	number uint64
	event  api.Event
}

// recordRetry is how long a decision log that failed is left alone.
const recordRetry = time.Second

func (o *outbox) add(numbers []uint64, events []api.Event) {
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

// takeSent returns what the decision log has, to be removed from the disk.
func (o *outbox) takeSent() []uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	sent := o.sent
	o.sent = nil
	return sent
}

// putBack is for what takeSent returned and is not removed yet.
func (o *outbox) putBack(sent []uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(sent, o.sent...)
}

// merge adds what waits on disk and is not known.
func (o *outbox) merge(numbers []uint64, events []api.Event) {
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
		o.add(newNumbers, newEvents)
	}
}

func (o *outbox) hasSent() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.sent) > 0
}

func (o *outbox) first() (numbered, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 {
		return numbered{}, false
	}
	return o.waiting[0], true
}

// delivered takes out what the decision log has; it may be gone by a reset.
func (o *outbox) delivered(number uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) > 0 && o.waiting[0].number == number {
		o.sent = append(o.sent, number)
		o.waiting = o.waiting[1:]
	}
}

// reset replaces what waits by what the disk holds.
func (o *outbox) reset(numbers []uint64, events []api.Event) {
	o.mu.Lock()
	o.waiting, o.sent = nil, nil
	o.mu.Unlock()
	o.add(numbers, events)
}

// deliver hands events to the decision log in their order until the book is closed and
// all are delivered, or ctx ends.
func (b *Book) deliver(ctx context.Context) {
	defer close(b.delivered)
	for {
		next, found := b.outbox.first()
		if !found {
			select {
			case <-b.outbox.more:
				continue
			case <-b.closing:
				return
			}
		}
		if err := b.config.Recorder.Record(ctx, next.event); err != nil {
			b.config.Log.Error("a step of an approval waits for the decision log", "approval", approvalID(next.event),
				"request_id", next.event.Custom.RequestID, "decision_id", next.event.DecisionID, "error", err)
			select {
			case <-time.After(recordRetry):
				continue
			case <-ctx.Done():
				return
			}
		}
		b.reach("recorded")
		b.outbox.delivered(next.number)
	}
}

func approvalID(e api.Event) string {
	if e.Custom.Approval == nil {
		return ""
	}
	return e.Custom.Approval.ID
}
