package egress

import (
	"context"

	"github.com/bailiff-dev/bailiff"
)

// telling writes events down, and tells who waits for a request's answer of them.
type telling struct {
	Recorder
	hear bailiff.ConnectionHearer
}

// Record writes an event down and tells of it.
func (t telling) Record(ctx context.Context, e Event) error {
	c := e.Connection
	switch e.What {
	case Refused:
		t.hear.Refused(bailiff.Blocked{Host: c.Host, Port: c.Port, Method: c.Method, Rule: e.Rule, Message: e.Message, Instead: e.Instead,
			Approval: e.Approval})
	case Closed:
		t.hear.Closed(c.Host, e.Sent, e.Received)
	}
	return t.Recorder.Record(ctx, e)
}
