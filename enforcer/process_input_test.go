package enforcer

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestInputIsJudgedWithTheLineThatItEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, job := b.start(t, func() bailiff.Request { r := inBackground("sh"); r.Args.Stdin = "true\necho "; return r }())
	for _, c := range []struct{ typed, judged string }{
		{"a; rm ", "echo a; rm "},
		{"-rf x\nls ", "echo a; rm -rf x\nls "},
		{"\\\n", "ls \\\n"},
		{"-l\n", "ls \\\n-l\n"},
		{"one\\\\\n", "one\\\\\n"},
		{"two\n", "two\n"},
	} {
		b.Execute(t.Context(), about("write", id, c.typed), nil)
		if judged := b.judge.judged[len(b.judge.judged)-1].Args.Data; judged != c.judged {
			t.Errorf("%q was judged as %q, want %q", c.typed, judged, c.judged)
		}
		if got := string(<-job.input); got != c.typed {
			t.Errorf("the process reads %q, want %q", got, c.typed)
		}
	}
	b.Execute(t.Context(), about("poll", id), nil)
	if judged := b.judge.judged[len(b.judge.judged)-1].Args.Data; judged != "" {
		t.Errorf("looking was judged with %q", judged)
	}
}

func TestInputThatWasJudgedWithoutItsLineDoesNotReachTheProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(ask) })
	b.human.answer = always(bailiff.ApprovalApproved)
	start := inBackground("sh")
	start.WaitSeconds = 300
	id, job := b.start(t, start)
	b.human.meanwhile = func() {
		b.human.meanwhile = nil
		b.judge.says(allow())
		b.Execute(context.Background(), about("write", id, "rm "), nil)
		b.judge.says(allow(ask))
	}
	second := about("write", id, "-rf /\n")
	second.WaitSeconds = 300
	if a := b.Execute(t.Context(), second, nil); a.Status != bailiff.Unavailable {
		t.Errorf("answer is %+v", a)
	}
	if got := string(<-job.input); got != "rm " || len(job.input) > 0 {
		t.Errorf("the process reads %q and %d more", got, len(job.input))
	}
}

func TestNobodyWritesToAProcessOnceAWriteWasCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, job := b.start(t, inBackground("sh"))
	for range cap(job.input) {
		job.input <- nil // it does not read
	}
	stuck := about("write", id, "rm ")
	stuck.Args.Timeout = 1
	if a := b.Execute(t.Context(), stuck, nil); a.Status != bailiff.TimedOut || a.ExitCode != bailiff.ExitTimeout {
		t.Errorf("answer is %+v", a)
	}
	<-job.input
	if a := b.Execute(t.Context(), about("write", id, "-rf /\n"), nil); a.Code != bailiff.CodeProcess {
		t.Errorf("answer is %+v", a)
	}
}

func TestInputReachesOnlyAProcessThatLivesWhereItWasJudgedToGo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision bailiff.Decision
		message  string // empty if it reaches the process
	}{
		"the same terms":               {allow(forward("T")), ""},
		"an image by its name":         {allow(forward("T"), func(d *bailiff.Decision) { d.Backend.Image = "debian" }), ""},
		"another backend":              {allow(forward("T"), func(d *bailiff.Decision) { d.Backend.Name = "podman" }), "another sandbox"},
		"another network":              {allow(forward("T"), func(d *bailiff.Decision) { d.Backend.Network = "full" }), "another sandbox"},
		"another limit":                {allow(forward("T"), func(d *bailiff.Decision) { d.Backend.MemoryMB = 7 }), "another sandbox"},
		"without its variable":         {allow(), "got T"},
		"a sealed variable of its own": {allow(forward("T"), func(d *bailiff.Decision) { d.Env.Sealed = []string{"T"} }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.env = environ{"T": "t-12345678"}; b.judge.decision = allow(forward("T")) })
			id, job := b.start(t, inBackground("sh", "T"))
			b.judge.says(c.decision)
			a := b.Execute(t.Context(), about("submit", id, "ls"), nil)
			if c.message == "" {
				if a.Status != bailiff.Completed || len(job.input) != 1 {
					t.Errorf("answer is %+v", a)
				}
				return
			}
			if a.Status != bailiff.Refused || a.Decision.Denials[0].Rule != bailiff.RuleProcess ||
				!strings.Contains(a.Message, c.message) || len(job.input) != 0 {
				t.Errorf("answer is %+v, want one that says %q", a, c.message)
			}
			if a := b.Execute(t.Context(), about("kill", id), nil); a.Status != bailiff.Completed {
				t.Errorf("it cannot even be killed: %+v", a)
			}
		})
	}
}

func TestInputIsJudgedByWhatReadsItAndWhereThatLives(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.env = environ{"T": "t-12345678"}; b.judge.decision = allow(forward("T")) })
	id, _ := b.start(t, inBackground("sh", "T"))
	b.Execute(t.Context(), about("submit", id, "ls"), nil)
	if req := b.judge.judged[len(b.judge.judged)-1]; req.Backend != "docker" || !slices.Equal(req.Env, []string{"T"}) ||
		req.Args.Command != "sh" {
		t.Errorf("judged is %+v", req)
	}
}

func TestAnApprovalOfInputIsForThatProcessAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.human.answer = always(bailiff.ApprovalApproved)
	one, first := b.start(t, inBackground("sh"))
	two, second := b.start(t, inBackground("sh"))
	b.judge.says(allow(ask))
	asked := func(id string) bailiff.Answer {
		req := about("submit", id, "kill 7")
		req.WaitSeconds = 300
		return b.Execute(t.Context(), req, nil)
	}
	if a := asked(one); a.Status != bailiff.Completed || string(<-first.input) != "kill 7\n" {
		t.Errorf("answer is %+v", a)
	}
	if a := asked(two); a.Status != bailiff.Completed || string(<-second.input) != "kill 7\n" {
		t.Errorf("answer is %+v", a)
	}
	if len(b.human.asked) != 2 || b.human.asked[0].Digest() == b.human.asked[1].Digest() {
		t.Errorf("humans were asked %d times", len(b.human.asked))
	}
	if n := len(b.fakeBackend.sandboxes()[0].cmds); n != 0 {
		t.Errorf("%d commands ran", n)
	}
}

func TestInputThatRunsAFileIsNotApproved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, job := b.start(t, inBackground("sh"))
	b.judge.says(allow(ask))
	b.judge.files = []string{"deploy.sh"}
	a := b.Execute(t.Context(), about("submit", id, "./deploy.sh"), nil)
	if a.Status != bailiff.Unavailable || a.Code != bailiff.CodeCommand || len(b.human.asked) != 0 || len(job.input) != 0 {
		t.Errorf("answer is %+v", a)
	}
	b.judge.says(allow())
	if a := b.Execute(t.Context(), about("submit", id, "./deploy.sh"), nil); a.Status != bailiff.Completed {
		t.Errorf("what needs no approval was answered %+v", a)
	}
}

func TestNobodyIsAskedAboutAProcessThatIsNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(ask) })
	if a := b.Execute(t.Context(), about("submit", "pxxxxxxxxxx", "kill 7"), nil); a.Status != bailiff.Failed ||
		a.Code != bailiff.CodeProcess || len(b.human.asked) != 0 {
		t.Errorf("answer is %+v", a)
	}
}

func TestAProcessIsOpaqueForGoodOnceWhatWasTypedWasNotPlain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	start := inBackground("sh")
	start.Args.Workdir = "/work/a"
	id, _ := b.start(t, start)
	typed := func(text string, plain bool) bailiff.Args {
		b.judge.plain = plain
		b.Execute(t.Context(), about("submit", id, text), nil)
		return b.judge.judged[len(b.judge.judged)-1].Args
	}
	if args := typed("ls", true); args.Typed != (bailiff.Typed{}) || args.Workdir != "/work/a" {
		t.Errorf("the first input is judged with %+v", args)
	}
	if args := typed("ls() { rm -r x; }", false); args.Typed.Opaque || args.Typed.End != "ls\n" {
		t.Errorf("after what was plain, input is judged with %+v", args.Typed)
	}
	if args := typed("ls", true); !args.Typed.Opaque {
		t.Errorf("after what was not plain, input is judged with %+v", args.Typed)
	}
	if args := typed(strings.Repeat("x", 9000), true); !args.Typed.Opaque {
		t.Error("what is opaque became known again")
	}
	if end := typed("ls", true).Typed.End; len(end) > 4<<10 || !strings.HasSuffix(end, "x\n") {
		t.Errorf("of what was typed %d bytes are shown", len(end))
	}
	fed := inBackground("sh")
	fed.Args.Stdin = "ls() { rm -r x; }\n"
	id, _ = b.start(t, fed)
	if !typed("ls", true).Typed.Opaque {
		t.Error("what the process was started with left it known")
	}
	next := b.restarted(t)
	next.Execute(t.Context(), about("submit", id, "ls"), nil)
	if args := b.judge.judged[len(b.judge.judged)-1].Args; !args.Typed.Opaque || args.Typed.End != "" {
		t.Errorf("after a restart input is judged with %+v", args.Typed)
	}
}

func TestAnApprovalOfInputHoldsForWhatWasTypedBeforeAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, job := b.start(t, inBackground("sh"))
	b.human.answer = always(bailiff.ApprovalPending)
	asks := func() string {
		b.judge.says(allow(ask))
		if a := b.Execute(t.Context(), about("submit", id, "deploy"), nil); a.Status != bailiff.ApprovalRequired {
			t.Fatalf("answer is %+v", a)
		}
		return b.human.asked[len(b.human.asked)-1].Digest()
	}
	first, again := asks(), asks()
	b.judge.says(allow())
	b.Execute(t.Context(), about("submit", id, "deploy() { rm -r x; }"), nil)
	if got := string(<-job.input); got != "deploy() { rm -r x; }\n" {
		t.Fatalf("the process reads %q", got)
	}
	if other := asks(); first != again || first == other {
		t.Errorf("what was approved before holds after another text was typed: %s, %s, %s", first, again, other)
	}
}

func TestALineThatIsTypedInPartsIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, job := b.start(t, inBackground("sh"))
	b.Execute(t.Context(), about("write", id, strings.Repeat("x", 60<<10)), nil)
	if a := b.Execute(t.Context(), about("write", id, strings.Repeat("x", 10<<10)), nil); a.Code != bailiff.CodeCommand ||
		len(job.input) != 1 {
		t.Errorf("answer is %+v", a)
	}
}
