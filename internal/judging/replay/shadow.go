package replay

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Recorder writes the decision log. Record returns nil once the event is on disk;
// Note does not wait. Err is why the log fails.
type Recorder interface {
	Record(ctx context.Context, e api.Event) error
	Note(e api.Event)
	Err() error
}

// Observer is told what policies in the shadow would have decided about a request,
// or that they could not be asked, for want of room or for a fault of theirs.
type Observer interface {
	Shadowed(tool bailiff.Tool, platform string, was, now bailiff.Outcome, leads api.Direction)
	ShadowDropped()
}

// ShadowConfig is what a Shadow needs; every field is required.
type ShadowConfig struct {
	// Trial is of the policies that are not in force, against what was decided.
	Trial
	Recorder Recorder
	Observer Observer
	// Masked says whether the log is masked. Then it is told what differs and not the
	// values, which a mask of the decision would not find.
	Masked func() bool
	Log    *slog.Logger
}

// Shadow has decisions judged anew by other policies as they are written down. It
// stands before the decision log: what is written goes there first and as if there
// were no shadow. One goroutine judges what came; while it lags by more than
// [maxWaiting] decisions or [maxWaitingBytes], further ones are left out and counted.
// Where the policies differ, an event says so, under the decision's id.
type Shadow struct {
	config ShadowConfig
	judged chan struct{} // closed when nothing is judged any more
	stop   context.CancelFunc
	news   chan struct{} // holds one signal while something waits

	mu      sync.Mutex
	waiting []shadowed
	bytes   int
	closed  bool
}

// shadowed is a decision that waits to be judged anew.
type shadowed struct {
	past
	session string
}

const (
	maxWaiting      = 1024
	maxWaitingBytes = 8 << 20
)

// StartShadow begins to judge what is written from now on. [Shadow.Close] ends it.
func StartShadow(c ShadowConfig) *Shadow {
	ctx, stop := context.WithCancel(context.Background())
	s := &Shadow{config: c, judged: make(chan struct{}), stop: stop, news: make(chan struct{}, 1)}
	go s.run(ctx)
	return s
}

// Record writes an event, and has it judged anew if it is a decision that is on disk.
func (s *Shadow) Record(ctx context.Context, e api.Event) error {
	err := s.config.Recorder.Record(ctx, e)
	if err == nil {
		s.offer(e)
	}
	return err
}

// Note writes an event, and has it judged anew if it is a decision.
func (s *Shadow) Note(e api.Event) {
	s.config.Recorder.Note(e)
	s.offer(e)
}

// Err is why the log fails.
func (s *Shadow) Err() error { return s.config.Recorder.Err() }

// Close judges no more. Events are still written.
func (s *Shadow) Close() {
	s.mu.Lock()
	s.closed, s.waiting, s.bytes = true, nil, 0
	s.mu.Unlock()
	s.stop()
	<-s.judged
}

// offer puts a decision to those that wait, unless the policies had no say in it.
func (s *Shadow) offer(e api.Event) {
	was, ok := judgedBefore(e)
	if !ok || e.Input == nil {
		return
	}
	if !s.hasRoom() {
		s.config.Observer.ShadowDropped()
		return
	}
	input, err := e.Input.MarshalJSON() // what the log could write, this can
	if err != nil || !s.add(shadowed{past{e.DecisionID, e.Timestamp, input, was, e.Path == api.ConnectionPath}, e.Custom.Session}) {
		s.config.Observer.ShadowDropped()
		return
	}
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// judgedBefore is what the policies in force said about what an event tells of, if they had a
// say in it.
func judgedBefore(e api.Event) (was judgement, ok bool) {
	switch result := e.Result.(type) {
	case bailiff.ConnectionJudgement:
		return ofConnection(result), e.Custom.Event == api.ConnectionEvent && e.Path == api.ConnectionPath
	case bailiff.Decision:
		return judgement{Decision: result}, e.Custom.Event == api.DecisionEvent && e.Path == api.DecisionPath &&
			e.Custom.BreakGlass == nil && !decidedByBailiff(result)
	}
	return was, false
}

func (s *Shadow) hasRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting) < maxWaiting && s.bytes < maxWaitingBytes
}

func (s *Shadow) add(d shadowed) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.bytes+len(d.Input) > maxWaitingBytes {
		return false
	}
	s.waiting = append(s.waiting, d)
	s.bytes += len(d.Input)
	return true
}

func (s *Shadow) next() (d shadowed, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.waiting = nil
		return d, false
	}
	d, s.waiting = s.waiting[0], s.waiting[1:]
	s.bytes -= len(d.Input)
	return d, true
}

func (s *Shadow) run(ctx context.Context) {
	defer close(s.judged)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.news:
		}
		for d, ok := s.next(); ok; d, ok = s.next() {
			s.judge(ctx, d)
		}
	}
}

// judge asks the policies in the shadow, which while they cannot be loaded decide
// nothing.
func (s *Shadow) judge(ctx context.Context, d shadowed) {
	defer func() { // what enforces nothing must not end what enforces
		if cause := recover(); cause != nil {
			s.config.Log.Error("judging a decision in the shadow panicked", "decision_id", d.ID, "cause", cause, "stack",
				string(debug.Stack()))
			s.config.Observer.ShadowDropped()
		}
	}()
	v, err := s.config.compare(ctx, d.past)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.config.Observer.ShadowDropped()
		return
	}
	if s.config.Masked() {
		v.Differences = withoutValues(v.Differences)
	}
	if len(v.Differences) > 0 {
		s.config.Recorder.Note(v.event(d))
	}
	s.config.Observer.Shadowed(v.asked.Tool, v.asked.Session.Platform, v.Was.Outcome, v.Now.Outcome, v.direction())
}

func withoutValues(differences []api.Difference) []api.Difference {
	bare := slices.Clone(differences)
	for i := range bare {
		bare[i].From, bare[i].To = "", ""
	}
	return bare
}

// direction is where the differences lead, if anywhere to letting more happen;
// empty if there are none.
func (v verdict) direction() api.Direction {
	for _, to := range []api.Direction{api.Looser, api.Stricter, api.Sideways} {
		if v.leads(to) {
			return to
		}
	}
	return ""
}

func (v verdict) event(d shadowed) api.Event {
	return api.Event{
		DecisionID: d.ID, Timestamp: time.Now().UTC(), Bundles: map[string]api.Bundle{"shadow": {Revision: v.Now.Revision}},
		Custom: api.Custom{Event: api.ShadowEvent, Session: d.session, Message: v.said(),
			Shadow: &api.Shadow{Revision: v.Now.Revision, Outcome: v.Now.Outcome, Rules: rulesOf(v.Now.Decision),
				Differences: v.Differences}},
	}
}

// said puts the differences into a few words, the first with the rules behind it.
func (v verdict) said() string {
	texts := make([]string, len(v.Differences))
	rules := rulesOf(v.stricter())
	for i, d := range v.Differences {
		texts[i] = differenceText(d, rules)
		rules = nil
	}
	return strings.Join(texts, "; ")
}

// differenceText puts a difference into words, with the rules that are behind it.
func differenceText(d api.Difference, rules []string) string {
	text := d.What + " would differ"
	if d.From != "" || d.To != "" {
		text = fmt.Sprintf("%s: %s would be %s", d.What, cmp.Or(d.From, "none"), cmp.Or(d.To, "none"))
	}
	if len(rules) > 0 {
		text += " (" + strings.Join(rules, " ") + ")"
	}
	return text
}
