package approval

import (
	"context"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// recordRetry is how long a decision log that failed is left alone.
const recordRetry = time.Second

// deliver hands events to the decision log in their order until the book is closed and
// all are delivered, or ctx ends.
func (b *Book) deliver(ctx context.Context) {
	defer close(b.delivered)
	for {
		number, event, found := b.outbox.First()
		if !found {
			select {
			case <-b.outbox.More():
				continue
			case <-b.closing:
				return
			}
		}
		if err := b.config.Recorder.Record(ctx, event); err != nil {
			b.config.Log.Error("a step of an approval waits for the decision log", "approval", approvalID(event),
				"request_id", event.Custom.RequestID, "decision_id", event.DecisionID, "error", err)
			select {
			case <-time.After(recordRetry):
				continue
			case <-ctx.Done():
				return
			}
		}
		b.reach("recorded")
		b.outbox.Acknowledge(number)
	}
}

func approvalID(e api.Event) string {
	if e.Custom.Approval == nil {
		return ""
	}
	return e.Custom.Approval.ID
}
