package enforcer

import (
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestTheProcessesOfAKilledSidecarAreGoneOnWith(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.IdleSeconds = 0 })
	})
	over, short := b.start(t, inBackground("short"))
	running, long := b.start(t, inBackground("long"))
	missed, lost := b.start(t, inBackground("missed"))
	short.prints("short ran\n")
	short.ends(backends.Exit{Code: 3})
	b.ended(t, over)
	long.prints("one\n")
	b.Execute(t.Context(), about("poll", running), nil)

	lost.ends(backends.Exit{Code: 4}) // its end comes about while nobody is there
	next := b.restarted(t)
	states := next.Execute(t.Context(), about("list", ""), nil).Processes
	if len(states) != 3 || states[0].ID != over || states[1].ID != running || states[2].ID != missed {
		t.Fatalf("listed are %+v", states)
	}
	if s := states[0]; s.Status != bailiff.Completed || s.ExitCode != 3 || s.Command != "short" || s.Ended.IsZero() {
		t.Errorf("the ended one is %+v", s)
	}
	if a := next.Execute(t.Context(), about("log", over), nil); string(a.Output) != "short ran\n" {
		t.Errorf("its log is %q", a.Output)
	}
	if s := next.ended(t, missed); s.ExitCode != 4 {
		t.Errorf("the one that ended meanwhile is %+v", s)
	}
	long.prints("two\n")
	if a := next.Execute(t.Context(), about("poll", running), nil); string(a.Output) != "two\n" {
		t.Errorf("the poll told %q", a.Output)
	}
	next.Execute(t.Context(), about("submit", running, "hello"), nil)
	if got := string(<-long.input); got != "hello\n" {
		t.Errorf("the process reads %q", got)
	}
	sandbox := b.fakeBackend.sandboxes()[0]
	if !sandbox.stands() {
		t.Fatal("the sandbox went under the process")
	}
	long.ends(backends.Exit{})
	awaittest.Value(t, "the end of the unused sandbox", sandbox.done)
}

func TestWhatNobodyKnowsInAnAdoptedSandboxIsEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Execute(t.Context(), request("true"), nil)
	sandbox := b.fakeBackend.sandboxes()[0]
	stray, _ := sandbox.Start(t.Context(), backends.Command{}, "pstray")
	b.restarted(t)
	if !stray.(*job).over || len(sandbox.living()) != 0 {
		t.Error("the stray lives on")
	}
}

func TestWhatGotVariablesIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.env = environ{"T": "t-12345678"}; b.judge.decision = allow(forward("T")) })
	over, short := b.start(t, inBackground("short", "T"))
	short.prints("it was t-12345678")
	short.ends(backends.Exit{})
	b.ended(t, over)
	running, long := b.start(t, inBackground("long", "T"))
	long.prints("it is t-12345678")
	next := b.restarted(t, func(n *bench) { n.env = environ{"T": "another value"} })
	if !long.over {
		t.Error("it runs on")
	}
	for _, id := range []string{over, running} {
		for _, action := range []string{"wait", "poll", "log"} {
			if a := next.Execute(t.Context(), about(action, id), nil); a.Code != bailiff.CodeProcess || len(a.Output) > 0 ||
				!strings.Contains(a.Message, "started anew") {
				t.Errorf("%s was answered %+v", action, a)
			}
		}
	}
	states := next.Execute(t.Context(), about("list", ""), nil).Processes
	if len(states) != 2 || states[0].Status != bailiff.Completed || states[1].Status != bailiff.Interrupted {
		t.Errorf("listed are %+v", states)
	}
	awaittest.Until(t, "the end is recorded", func() bool { // which is noted beside the answers
		return slices.ContainsFunc(next.tape.all(), func(e api.Event) bool { return strings.Contains(e.Custom.Message, running+" ended") })
	})
	if a := next.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Completed {
		t.Errorf("the sandbox is not free: %+v", a)
	}
}

func TestNobodyGoesOnWithALineThatAKilledSidecarHadBegun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, _ := b.start(t, inBackground("sh"))
	b.Execute(t.Context(), about("write", id, "rm "), nil)
	next := b.restarted(t)
	if a := next.Execute(t.Context(), about("write", id, "-rf /\n"), nil); a.Code != bailiff.CodeProcess {
		t.Errorf("answer is %+v", a)
	}
}

func TestAnOperatorsWordForAProcessOutlivesTheSidecar(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.judge.decision = allow(func(d *bailiff.Decision) {
			d.Outcome, d.Denials = bailiff.Deny, []bailiff.Reason{{Rule: "no", Message: "No."}}
		})
	})
	a := b.BreakGlass(t.Context(), inBackground("serve"), api.BreakGlass{By: "ana"})
	if a.Status != bailiff.Completed || a.ProcessID == "" {
		t.Fatalf("answer is %+v", a)
	}
	next := b.restarted(t)
	p := next.processes.Find(about("poll", a.ProcessID))
	if p == nil || !p.MayStart(t.Context()) {
		t.Error("it is not allowed any more")
	}
	ids := []string{}
	for _, sandbox := range next.let.entries() {
		for _, s := range sandbox.Processes {
			ids = append(ids, s.ID)
		}
	}
	if !slices.Equal(ids, []string{a.ProcessID}) {
		t.Errorf("remembered are %v", ids)
	}
}
