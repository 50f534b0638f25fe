package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/bailiff-dev/bailiff/api"
)

// events tells of all that happens until the client goes away or the listener is
// closed. A client that reads too slowly to be told everything is told that.
func (o *operator) events(w http.ResponseWriter, r *http.Request) {
	if p := readQuery(r, fields{}); p != nil {
		refuse(w, p)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	changes, stop := o.config.Approvals.Watch()
	defer stop()
	lines, end := o.config.Decisions.Watch()
	defer end()
	s := &stream{w: w, control: http.NewResponseController(w), gone: cancel}
	s.comment("what is said from now on is said here")
	beat := time.NewTicker(o.config.keepAlive)
	defer beat.Stop()
	for open := true; open; {
		var c api.Change
		var line []byte
		select {
		case c, open = <-changes:
			if open {
				s.change(c)
			}
		case line, open = <-lines:
			if open {
				s.line(line)
			}
		case <-beat.C:
			s.comment("still here")
		case <-ctx.Done():
			return
		case <-closingOf(ctx):
			return
		}
	}
}

// lost says that what the client knows must be read anew.
type lost struct{}

func (s *stream) change(c api.Change) {
	switch {
	case c.Lost:
		s.event("lost", lost{})
	case c.Entry != nil:
		s.event("approval", c.Entry)
	case c.Grant != nil:
		s.event("grant", api.GrantChange{Grant: *c.Grant, Gone: c.Gone})
	case c.Freeze != nil:
		s.event("freeze", api.FreezeChange{Freeze: *c.Freeze, Gone: c.Gone})
	}
}

// line tells of an event of the decision log. Those of approvals are told as
// changes already.
func (s *stream) line(text []byte) {
	if text == nil {
		s.event("lost", lost{})
		return
	}
	if event, ok := readLine(text); ok && event.Event != api.ApprovalEvent {
		s.event(string(event.Event), event)
	}
}
