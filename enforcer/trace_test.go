package enforcer

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// follower remembers the parts that ended, and what is within what.
type follower struct {
	mu    sync.Mutex
	ended []string
	said  map[string]bailiff.Span
}

type followed struct{}

func (f *follower) Begin(ctx context.Context, part string) context.Context {
	if within, _ := ctx.Value(followed{}).(string); within != "" {
		part = within + "/" + part
	}
	return context.WithValue(ctx, followed{}, part)
}

func (f *follower) End(ctx context.Context, said bailiff.Span) {
	f.mu.Lock()
	defer f.mu.Unlock()
	part, _ := ctx.Value(followed{}).(string)
	f.ended = append(f.ended, part)
	f.said[part] = said
}

func (f *follower) IDs(ctx context.Context) (string, string) {
	part, _ := ctx.Value(followed{}).(string)
	return "trace", part
}

// follow has a bench's requests followed.
func (b *bench) follow() *follower {
	f := &follower{said: map[string]bailiff.Span{}}
	b.config.Tracer, b.parts = f, traced{b.Enforcer, f}
	return f
}

func TestEveryPartOfARequestIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	asking := func(said bailiff.ApprovalState) func(*bench) {
		return func(b *bench) { b.judge.decision, b.human.answer = allow(ask), always(said) }
	}
	for name, c := range map[string]struct {
		change func(*bench)
		want   []string
		fails  string
	}{
		"one that runs": {func(*bench) {}, []string{"request/decide", "request/start", "request/exec", "request"}, ""},
		"one that is denied": {func(b *bench) { b.judge.decision = bailiff.Denial("a.b", "No.") },
			[]string{"request/decide", "request"}, ""},
		"one that nobody answers": {asking(bailiff.ApprovalExpired), []string{"request/decide", "request/approve", "request"}, ""},
		"one that is approved": {asking(bailiff.ApprovalApproved),
			[]string{"request/decide", "request/approve", "request/decide", "request/start", "request/exec", "request"}, ""},
		"one that gets another sandbox": {frail(1, errLost),
			[]string{"request/decide", "request/start", "request/exec", "request/start", "request/exec", "request"}, ""},
		"one without a sandbox": {func(b *bench) { b.fakeBackend.fault = errBoom },
			[]string{"request/decide", "request/start", "request"}, "request/start"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.change)
			f := b.follow()
			req := patient("true")
			req.ID = "r"
			a := b.Execute(t.Context(), req, nil)
			if !slices.Equal(f.ended, c.want) {
				t.Errorf("%q ended, want %q", f.ended, c.want)
			}
			if all := f.said["request"]; all.Outcome != string(a.Status) || all.RequestID != "r" || all.DecisionID != a.DecisionID ||
				all.Tool != bailiff.Terminal {
				t.Errorf("of the request it says %+v", all)
			}
			if f.said[c.fails].Failed != (c.fails != "") {
				t.Errorf("of %s it says %+v", c.fails, f.said[c.fails])
			}
			for _, e := range b.tape.all() {
				if ofRequest := e.Custom.RequestID != ""; ofRequest && (e.TraceID != "trace" || e.SpanID != "request") {
					t.Errorf("an event is of part %q of %q", e.SpanID, e.TraceID)
				}
			}
		})
	}
}

func TestWhatIsOnlyJudgedSaysHowItWasJudged(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = bailiff.Denial("a.b", "No.") })
	f := b.follow()
	d := b.Decide(t.Context(), request("true"))
	if got := f.said["request"]; !slices.Equal(f.ended, []string{"request/decide", "request"}) || got.Outcome != "deny" || got.Failed ||
		got.DecisionID != d.ID || got.Text != "true" {
		t.Errorf("%q ended, of the request it says %+v", f.ended, got)
	}
	d = b.Refuse(t.Context(), "hermes", bailiff.Reason{Rule: "request.invalid", Message: "The request is not valid."})
	if got := f.said["request"]; len(f.ended) != 3 || got.Outcome != "deny" || got.Failed || got.DecisionID != d.ID ||
		!slices.Equal(got.Rules, []string{"request.invalid"}) {
		t.Errorf("%q ended, of what is no request it says %+v", f.ended, got)
	}
	for _, e := range b.tape.all() {
		if e.TraceID != "trace" || e.SpanID != "request" {
			t.Errorf("an event is of part %q of %q", e.SpanID, e.TraceID)
		}
	}
}

// bug is a decider that panics.
type bug struct{}

func (bug) Decide(context.Context, bailiff.Request, bailiff.Circumstances) bailiff.Judgement {
	panic("a bug")
}

func TestARequestThatPanicsIsFollowedAsOneThatFailed(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(*bench){
		"executed": func(b *bench) { b.Execute(t.Context(), request("true"), nil) },
		"judged":   func(b *bench) { b.Decide(t.Context(), request("true")) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			f := b.follow()
			b.config.Decider = bug{}
			func() {
				defer func() {
					if recover() == nil {
						t.Error("it does not panic")
					}
				}()
				send(b)
			}()
			if got := f.said["request"]; !slices.Equal(f.ended, []string{"request"}) || got.Outcome != "error" || !got.Failed {
				t.Errorf("%q ended, of the request it says %+v", f.ended, got)
			}
		})
	}
}

func TestFollowingNobodyCostsNothing(t *testing.T) {
	b := newBench(t)
	if b.parts != parts(b.Enforcer) {
		t.Errorf("the parts of requests go through %T", b.parts)
	}
	m := b.Enforcer.judge(t.Context(), request("true"))
	if cost := testing.AllocsPerRun(100, func() { b.name(t.Context(), &m.event) }); cost != 0 {
		t.Errorf("it takes %v allocations", cost)
	}
}

// concerns remembers what lines of a log are about.
type concerns struct {
	slog.Handler
	mu  sync.Mutex
	all map[string]bailiff.Concern
}

func (c *concerns) Handle(ctx context.Context, line slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[line.Message] = bailiff.ConcernOf(ctx)
	return nil
}

func (c *concerns) Enabled(context.Context, slog.Level) bool { return true }

func TestLinesOfTheLogSayWhichRequestTheyAreAbout(t *testing.T) {
	t.Parallel()
	for name, decision := range map[string]bailiff.Decision{"allowed": allow(), "approved": allow(ask)} {
		t.Run(name, func(t *testing.T) {
			log := &concerns{Handler: slog.DiscardHandler, all: map[string]bailiff.Concern{}}
			b := newBench(t, func(b *bench) {
				b.judge.decision, b.human.answer, b.fakeBackend.fault = decision, always(bailiff.ApprovalApproved), errBoom
			})
			b.config.Log = slog.New(log)
			b.follow()
			req := patient("true")
			req.ID = "r"
			a := b.Execute(t.Context(), req, nil)
			if got, want := log.all["opening a sandbox"],
				(bailiff.Concern{RequestID: "r", DecisionID: a.DecisionID, TraceID: "trace"}); a.DecisionID == "" || got != want {
				t.Errorf("it is about %+v, want %+v", got, want)
			}
		})
	}
}
