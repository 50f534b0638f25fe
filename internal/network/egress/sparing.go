package egress

import (
	"context"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
)

const (
	// gatherTime is how long refusals are counted before they are written down.
	gatherTime = 10 * time.Second
	// mostApart is how many kinds of refusals of a sandbox are written down apart in that time.
	mostApart = 64
)

// Sparing has a recorder write a refusal down at once, and others like it as one event with their number after a
// while: a program that is refused tries again, as often as it can. It is safe for concurrent use.
type Sparing struct {
	to Recorder

	mu       sync.Mutex
	gathered map[alike]*gatheredRefusals
	apart    map[string]int // how many there are of a sandbox
}

// alike is what refusals have in common that are counted together. Of more kinds than are told apart it is the
// sandbox alone.
type alike struct {
	sandbox, request, host, protocol, method, rule, approval string
	port                                                     int
}

// gatheredRefusals are those since one was written down.
type gatheredRefusals struct {
	last  Event
	ctx   context.Context
	more  int
	timer *time.Timer
}

// NewSparing makes one that writes to a recorder.
func NewSparing(to Recorder) *Sparing {
	return &Sparing{to: to, gathered: map[alike]*gatheredRefusals{}, apart: map[string]int{}}
}

// Record writes an event down, or counts a refusal that is like one that was written down right before.
func (s *Sparing) Record(ctx context.Context, e Event) error {
	if e.What == Refused && s.isCounted(ctx, e) {
		return nil
	}
	return s.to.Record(ctx, e)
}

// isCounted counts a refusal, if it is not the first of its kind.
func (s *Sparing) isCounted(ctx context.Context, e Event) bool {
	c := e.Connection
	kind := alike{c.Sandbox, c.For.DecisionID, c.Host, c.Protocol, c.Method, e.Rule, e.Approval, c.Port}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gathered[kind] == nil && s.apart[c.Sandbox] >= mostApart {
		kind = alike{sandbox: c.Sandbox}
	}
	if known := s.gathered[kind]; known != nil {
		if kind.host == "" {
			e = others(e)
		}
		known.last, known.more, known.ctx = e, known.more+1, context.WithoutCancel(ctx)
		return true
	}
	first := &gatheredRefusals{}
	s.gathered[kind] = first
	s.apart[c.Sandbox]++
	first.timer = time.AfterFunc(gatherTime, func() { s.end(kind, first) })
	return false
}

// others is an event about refusals of more kinds than are told apart: it names the sandbox, and none of them.
func others(e Event) Event {
	return Event{What: e.What, Connection: bailiff.Connection{Sandbox: e.Connection.Sandbox, For: e.Connection.For}, Rule: ruleTooMany,
		Message: "More kinds of requests were refused than are written down apart."}
}

// end writes down how many there were after the first.
func (s *Sparing) end(kind alike, ended *gatheredRefusals) {
	s.mu.Lock()
	if s.gathered[kind] != ended {
		s.mu.Unlock()
		return
	}
	delete(s.gathered, kind)
	if s.apart[kind.sandbox]--; s.apart[kind.sandbox] == 0 {
		delete(s.apart, kind.sandbox)
	}
	s.mu.Unlock()
	if ended.more == 0 {
		return
	}
	ended.last.More = ended.more - 1
	_ = s.to.Record(ended.ctx, ended.last) // a fault of the log shows in the log's own health
}

// Flush writes down what was counted.
func (s *Sparing) Flush() {
	s.mu.Lock()
	all := make(map[alike]*gatheredRefusals, len(s.gathered))
	for kind, one := range s.gathered {
		one.timer.Stop()
		all[kind] = one
	}
	s.mu.Unlock()
	for kind, one := range all {
		s.end(kind, one)
	}
}
