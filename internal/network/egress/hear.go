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
		t.tellRefusal(c, e.Rule, e.Message, e.Instead, e.Approval)
	case Closed:
		t.hear.Closed(c.Host, e.Sent, e.Received)
	}
	err := t.Recorder.Record(ctx, e)
	if err != nil && e.What == Opened {
		no := logRefusal(c)
		t.tellRefusal(c, no.Rule, no.Message, no.Instead, "")
	}
	return err
}

func (t telling) tellRefusal(c bailiff.Connection, rule, message, instead, approval string) {
	t.hear.Refused(bailiff.Blocked{Host: c.Host, Port: c.Port, Method: c.Method, Rule: rule, Message: message, Instead: instead,
		Approval: approval})
}
