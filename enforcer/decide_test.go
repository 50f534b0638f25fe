package enforcer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

func TestADecisionThatIsNoDenialIsWrittenBeforeItIsTold(t *testing.T) {
	t.Parallel()
	asking := allow(func(d *bailiff.Decision) {
		d.Outcome, d.Approval = bailiff.Ask, &bailiff.ApprovalTerms{Reasons: []bailiff.Reason{{Rule: "a.b", Message: "It asks."}}}
	})
	for name, c := range map[string]struct {
		decision bailiff.Decision
		broken   error
		outcome  bailiff.Outcome
		rule     string
	}{
		"allowed":                               {decision: allow(), outcome: bailiff.Allow},
		"asked":                                 {decision: asking, outcome: bailiff.Ask},
		"allowed, and the log fails":            {decision: allow(), broken: errBoom, rule: "log.unwritable"},
		"asked, and the log fails":              {decision: asking, broken: errBoom, rule: "log.unwritable"},
		"denied, and the log fails":             {decision: bailiff.Denial("a.b", "No."), broken: errBoom, rule: "a.b"},
		"denied, which nothing has to wait for": {decision: bailiff.Denial("a.b", "No."), rule: "a.b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) { b.judge.decision, b.tape.broken = c.decision, c.broken })
			d := b.Decide(t.Context(), request("true")).Decision
			if d.Outcome != c.outcome || (c.rule == "") != (len(d.Denials) == 0) || c.rule != "" && d.Denials[0].Rule != c.rule {
				t.Fatalf("decided %+v", d)
			}
			if c.rule == "log.unwritable" && (!strings.Contains(d.Denials[0].Message, errBoom.Error()) || d.Approval != nil) {
				t.Errorf("decided %+v", d)
			}
		})
	}
}

func TestADecisionIsWrittenThoughItsClientHungUp(t *testing.T) {
	t.Parallel()
	log, b := openLog(t), newBench(t)
	b.config.Recorder = log
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	if d := b.Decide(ctx, request("true")); d.Decision.Outcome != bailiff.Allow {
		t.Errorf("decided %+v", d)
	}
	if tail := log.Written(); tail.Offset == 0 {
		t.Errorf("nothing is on disk: %+v", tail)
	}
}

func TestWhatIsExecutedThenIsWrittenOnce(t *testing.T) {
	t.Parallel()
	for _, decision := range []bailiff.Decision{allow(), bailiff.Denial("a.b", "No.")} {
		b := newBench(t, func(b *bench) { b.judge.decision = decision })
		ahead := b.Preview(t.Context(), request("true")).Decision.Outcome
		if ahead != decision.Outcome {
			t.Errorf("ahead it is %s", ahead)
		}
		if ahead != bailiff.Deny { // else its client sends nothing
			b.Execute(t.Context(), request("true"), nil)
		}
		written := 0
		for _, e := range b.tape.all() {
			if e.Custom.Event == api.DecisionEvent {
				written++
			}
		}
		if written != 1 {
			t.Errorf("what is %s is written %d times", ahead, written)
		}
	}
}

func TestAPreviewIsDeniedWhileTheLogFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision, b.tape.broken = allow(), errors.New("the disk is full") })
	if d := b.Preview(t.Context(), request("true")).Decision; d.Outcome != bailiff.Deny || d.Denials[0].Rule != "log.unwritable" {
		t.Errorf("it is %+v", d)
	}
}

// noting is a decision log for which nothing waits.
type noting struct{ *audit.Log }

func (n noting) Record(_ context.Context, e api.Event) error {
	n.Note(e)
	return nil
}

// BenchmarkDecide shows what it costs to have a decision on disk before it is told.
func BenchmarkDecide(b *testing.B) {
	for name, recorder := range map[string]func(*audit.Log) Recorder{
		"waiting":     func(l *audit.Log) Recorder { return l },
		"not waiting": func(l *audit.Log) Recorder { return noting{l} },
	} {
		bench := newBench(b)
		bench.config.Recorder = recorder(openLog(b))
		decide := func() {
			if d := bench.Decide(b.Context(), request("true")); d.Decision.Outcome != bailiff.Allow {
				b.Errorf("decided %+v", d)
			}
		}
		b.Run(name+"/one client", func(b *testing.B) {
			for b.Loop() {
				decide()
			}
		})
		b.Run(name+"/16 clients", func(b *testing.B) {
			b.SetParallelism(8) // for each of two processors
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					decide()
				}
			})
		})
	}
}

func openLog(tb testing.TB) *audit.Log {
	tb.Helper()
	log, err := audit.Open(audit.Config{StateDir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = log.Close() })
	return log
}

func TestADecisionAloneSaysWhichFilesItDidNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision, b.judge.files = allow(), []string{"./x.sh"} })
	if d := b.Decide(t.Context(), request("sh ./x.sh")); !slices.Equal(d.Unread, []string{"./x.sh"}) {
		t.Errorf("unread are %q", d.Unread)
	}
}

// showing is a backend that shows one folder of this machine.
type showing struct {
	*fakeBackend
	folder string
}

func (s showing) Shows(mounts []bailiff.Mount) error {
	if slices.ContainsFunc(mounts, func(m bailiff.Mount) bool { return !strings.HasPrefix(m.Source, s.folder) }) {
		return errBoom
	}
	return nil
}

func TestADecisionNamesTheFoldersThatTheSandboxShowsAsTheyAre(t *testing.T) {
	t.Parallel()
	project := bailiff.Mount{Source: "/src/a", Target: "/src/a", Protected: []string{".envrc"}}
	with := func(change func(*bailiff.Mount)) []bailiff.Mount {
		m := project
		change(&m)
		return []bailiff.Mount{m}
	}
	for name, c := range map[string]struct {
		mounts []bailiff.Mount
		want   []string
	}{
		"shown as it is":         {[]bailiff.Mount{project}, []string{"/src/a"}},
		"elsewhere":              {with(func(m *bailiff.Mount) { m.Target = "/a" }), nil},
		"read-only":              {with(func(m *bailiff.Mount) { m.ReadOnly = true }), nil},
		"with nothing protected": {with(func(m *bailiff.Mount) { m.Protected = nil }), nil},
		"not allowed":            {with(func(m *bailiff.Mount) { m.Source, m.Target = "/etc", "/etc" }), nil},
		"beside one that is not": {append(with(func(m *bailiff.Mount) { m.Source, m.ReadOnly = "/etc", true }), project), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(b *bench) {
				b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Mounts = c.mounts })
			})
			if got := b.Decide(t.Context(), request("true")).Projects; got != nil {
				t.Errorf("a backend that shows nothing shows %q", got)
			}
			b.config.Backends["docker"] = showing{b.fakeBackend, "/src"}
			if got := b.Decide(t.Context(), request("true")).Projects; !slices.Equal(got, c.want) {
				t.Errorf("projects %q, want %q", got, c.want)
			}
		})
	}
}
