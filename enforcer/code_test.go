package enforcer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// code is a request to run a script.
func code(text string) bailiff.Request {
	req := request("")
	req.Tool, req.Args.Code = bailiff.ExecuteCode, text
	return req
}

// asScripts runs each command of a fake backend as a script prints its own text.
func asScripts(b *bench) {
	b.fakeBackend.script = func(p *python) int {
		switch p.Code {
		case "crash":
			p.ends(backends.Exit{Code: 139})
		case "go on":
			p.says(`{"end": %d}`, p.Script)
			p.prints("still here")
		case "hang":
			<-p.done
		case "sleep":
			p.untilBroken()
			return 130
		default:
			p.prints(p.Code)
		}
		return 0
	}
}

func TestScriptsOfASessionShareAnInterpreter(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts)
	for range 2 {
		a := b.Execute(t.Context(), code("x = 1"), nil)
		if a.Status != bailiff.Completed || string(a.Output) != "x = 1" || a.Message != "" || a.SandboxID != "sandbox-1" ||
			a.Backend != "docker" {
			t.Errorf("answer is %+v", a)
		}
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], true)
	b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = "user" })
	for _, session := range []string{"s1", "s2", "s1"} {
		req := code("x = 1")
		req.Session.ID = session
		b.Execute(t.Context(), req, nil)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[1], true, true)
}

// wantInterpreters looks at which of a sandbox's interpreters live, in the order of
// their start.
func wantInterpreters(t *testing.T, r *fakeSandbox, live ...bool) {
	t.Helper()
	var got []bool
	for _, i := range r.interpreters() {
		got = append(got, i.lives())
	}
	if !slices.Equal(got, live) {
		t.Errorf("interpreters live: %v, want %v", got, live)
	}
}

func TestAResetStartsAfresh(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts)
	b.Execute(t.Context(), code("x = 1"), nil)
	reset := code("x")
	reset.Args.Reset = true
	if a := b.Execute(t.Context(), reset, nil); a.Status != bailiff.Completed || a.Message != "" {
		t.Errorf("answer is %+v", a)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], false, true)
}

func TestASessionIsToldThatItsVariablesAreLost(t *testing.T) {
	t.Parallel()
	constants := allow(func(d *bailiff.Decision) { d.Env.Set = map[string]string{"CI": "1"} })
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, b *bench)
		says      string
		told      bool // in the meantime
	}{
		"with a script that does not stop": {func(t *testing.T, b *bench) {
			req := code("hang")
			req.Args.Timeout = 1
			if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.TimedOut ||
				!strings.Contains(a.Message, "variables of the session's scripts are lost") {
				t.Errorf("answer is %+v", a)
			}
		}, "", true},
		"with a script that ends the interpreter": {func(t *testing.T, b *bench) {
			if a := b.Execute(t.Context(), code("crash"), nil); a.Status != bailiff.Completed || a.ExitCode != 139 ||
				!strings.Contains(a.Message, "variables of the session's scripts are lost") {
				t.Errorf("answer is %+v", a)
			}
		}, "", true},
		"to a request that must be alone": {func(t *testing.T, b *bench) {
			b.env["T"] = "t-12345678"
			b.judge.says(allow(forward("T")))
			req := request("push")
			req.Env = []string{"T"}
			wantRun(t, b, req)
			b.judge.says(allow())
		}, "a request had to be alone", false},
		"after 10 minutes": {func(*testing.T, *bench) { time.Sleep(10 * time.Minute); synctest.Wait() }, "no script for 10 minutes", false},
		"between scripts": {func(_ *testing.T, b *bench) {
			b.fakeBackend.sandboxes()[0].interpreters()[0].ends(backends.Exit{Code: 137})
		}, "ended between two scripts", false},
		"with one who prints between them": {func(_ *testing.T, b *bench) {
			b.fakeBackend.sandboxes()[0].interpreters()[0].prints("late")
		}, "printed or went on after its end", false},
		"with a script that prints after its end": {func(t *testing.T, b *bench) {
			if a := b.Execute(t.Context(), code("go on"), nil); a.Status != bailiff.Completed ||
				!strings.Contains(a.Message, "went on or printed after its end") || len(a.Output) > 0 {
				t.Errorf("answer is %+v", a)
			}
		}, "", true},
		"with its sandbox": {func(_ *testing.T, b *bench) { b.RemoveSandbox("sandbox-1") }, "sandbox was removed", false},
		"by what the policies set now": {func(_ *testing.T, b *bench) { b.judge.says(constants) }, "the policies set other variables",
			false},
		"never, by its own end": {func(t *testing.T, b *bench) { _, _ = b.EndSession(t.Context(), "hermes", "s1") }, "", false},
		"never, by a script that is interrupted": {func(t *testing.T, b *bench) {
			req := code("sleep")
			req.Args.Timeout = 1
			if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.TimedOut || strings.Contains(a.Message, "lost") {
				t.Errorf("answer is %+v", a)
			}
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, asScripts)
				wantRun(t, b, code("x = 1"))
				c.meanwhile(t, b)
				a := b.Execute(t.Context(), code("x"), nil)
				if a.Status != bailiff.Completed || !strings.Contains(a.Message, c.says) || c.says == "" && a.Message != "" {
					t.Errorf("answer is %+v", a)
				}
				if a := b.Execute(t.Context(), code("x"), nil); a.Status != bailiff.Completed || a.Message != "" {
					t.Errorf("the next answer is %+v", a)
				}
			})
		})
	}
}

func TestAnIdleInterpreterIsNoUseOfItsSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, asScripts, ages(60, 0))
		wantRun(t, b, code("x = 1"))
		time.Sleep(time.Minute)
		wantGone(t, b, 0)
	})
}

func TestAScriptWithVariablesHasAnInterpreterOfItsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts)
	b.env["T"] = "t-12345678"
	wantRun(t, b, code("x = 1"))
	b.judge.says(allow(forward("T"), func(d *bailiff.Decision) { d.Tools = []string{"terminal"} }))
	b.fakeBackend.script = func(p *python) int {
		if p.cmd.Env["T"].Reveal() != "t-12345678" || !p.Last || !p.cmd.Reap {
			t.Errorf("it runs as %+v", p.spoken)
		}
		if _, fault := p.call("terminal", `{"command": "env"}`); !strings.Contains(fault, "gets variables may call no tools") {
			t.Errorf("a call ended with %q", fault)
		}
		p.prints("token t-12345678")
		return 3
	}
	req := code("push")
	req.Env = []string{"T"}
	if a := b.Execute(t.Context(), req, nil); a.ExitCode != 3 || string(a.Output) != "token [T redacted]" || a.Message != "" {
		t.Errorf("answer is %+v", a)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], false, false)
}

func TestAScriptThatMustNotBeChangedByOthersHasAnInterpreterOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		isolated   bool
		decision   bailiff.Decision // on the second script
		breakGlass bool
		says       string
	}{
		"one that humans approved":      {true, allow(ask), false, "It was approved"},
		"one on an operator's word":     {true, allow(ask), true, "It was approved"},
		"any where nothing is isolated": {false, allow(), false, "This backend isolates nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, asScripts, func(b *bench) { b.human.answer = always(bailiff.ApprovalApproved) })
			if !c.isolated {
				b.config.Backends["docker"] = bare{b.fakeBackend}
			}
			wantRun(t, b, code("x = 1"))
			b.judge.says(c.decision)
			req := code("x")
			req.WaitSeconds = 5
			execute := func() bailiff.Answer { return b.Execute(t.Context(), req, nil) }
			if c.breakGlass {
				execute = func() bailiff.Answer {
					return b.BreakGlass(t.Context(), req, api.BreakGlass{By: "ana", Via: "uid:1000", Reason: "The disk is full."})
				}
			}
			if a := execute(); a.Status != bailiff.Completed || string(a.Output) != "x" || !strings.Contains(a.Message, c.says) {
				t.Errorf("answer is %+v", a)
			}
			wantInterpreters(t, b.fakeBackend.sandboxes()[0], c.isolated, false)
		})
	}
}

// bare is a fake backend whose sandboxes keep nothing from the host.
type bare struct{ *fakeBackend }

func (bare) Isolated() bool { return false }

func TestEachUserOfASessionHasAnInterpreter(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts)
	as := func(platform, user string) {
		t.Helper()
		req := code("x")
		req.Session.Platform, req.Session.UserID = platform, user
		if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed || a.SandboxID != "sandbox-1" || a.Message != "" {
			t.Errorf("answer is %+v", a)
		}
	}
	for _, user := range []string{"ana", "bob", "ana"} {
		as("telegram", user)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], true, true)
	as("discord", "ana")
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], true, true, true)
}

func TestWhoClaimsToBeAnotherUserHasAnotherInterpreter(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts)
	for _, peer := range []string{"uid:1001", "uid:1002", "uid:1001"} {
		req := code("x")
		req.Session.Platform, req.Session.UserID, req.Peer = "cli", "ana", peer
		if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed || a.Message != "" {
			t.Errorf("by %s the answer is %+v", peer, a)
		}
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], true, true)
}

func TestTheEndOfASessionEndsTheInterpretersOfAllItsUsers(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = "user" }) })
	for _, user := range []string{"ana", "bob"} {
		for _, session := range []string{"s1", "s2"} {
			req := code("x")
			req.Session.UserID, req.Session.ID = user, session
			wantRun(t, b, req)
		}
	}
	if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
		t.Fatal(err)
	}
	for _, sandbox := range b.fakeBackend.sandboxes() {
		wantInterpreters(t, sandbox, false, true)
	}
}

func TestAScriptOfARequestsOwnSandboxLeavesNoInterpreter(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = "request" }) })
	if a := b.Execute(t.Context(), code("x"), nil); a.Status != bailiff.Completed || a.Message != "" {
		t.Errorf("answer is %+v", a)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], false)
}

func TestWhereThereIsLittleRoomNoInterpreterStays(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.PIDs = 32 }) })
	if a := b.Execute(t.Context(), code("x"), nil); a.Status != bailiff.Completed || !strings.Contains(a.Message, "so few processes") {
		t.Errorf("answer is %+v", a)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], false)
}

func TestScriptsOfASessionRunOneAfterAnother(t *testing.T) {
	t.Parallel()
	var inside, most int
	var mu sync.Mutex
	b := newBench(t, func(b *bench) {
		b.fakeBackend.script = func(*python) int {
			mu.Lock()
			inside++
			most = max(most, inside)
			mu.Unlock()
			defer func() { mu.Lock(); inside--; mu.Unlock() }()
			return 0
		}
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { wantRun(t, b, code("x")) })
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d scripts ran at once", most)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], true)
}

func TestASharedSandboxHoldsFewIdleInterpreters(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts, func(b *bench) { b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.Scope = "user" }) })
	of := func(i int) bailiff.Request {
		req := code("x")
		req.Session.ID = fmt.Sprintf("s%d", i)
		return req
	}
	for i := range maxKernels + 2 {
		wantRun(t, b, of(i))
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], false, false, true, true, true, true)
	if a := b.Execute(t.Context(), of(0), nil); !strings.Contains(a.Message, "others in the sandbox needed its room") {
		t.Errorf("answer is %+v", a)
	}
	if _, err := b.EndSession(t.Context(), "hermes", "s0"); err != nil {
		t.Fatal(err)
	}
	wantInterpreters(t, b.fakeBackend.sandboxes()[0], false, false, false, true, true, true, false)
}

func TestAScriptStartsWhereTheSessionStands(t *testing.T) {
	t.Parallel()
	var at []string
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: "/workspace/called"}, nil
		}
		b.fakeBackend.script = func(p *python) int {
			at = append(at, p.Dir)
			switch p.Code {
			case "move":
				p.at = "/workspace/moved"
			case "call":
				p.call("terminal", `{"command": "cd called"}`)
			}
			return 0
		}
		b.judge.decision = allow(func(d *bailiff.Decision) { d.Tools = []string{"terminal"} })
	})
	for _, text := range []string{"", "move", "call", ""} {
		wantRun(t, b, code(text))
	}
	if want := []string{"", "/workspace", "/workspace/moved", "/workspace/called"}; !slices.Equal(at, want) {
		t.Errorf("scripts started in %q, want %q", at, want)
	}
}

func TestAScriptThatIsHaltedIsInterrupted(t *testing.T) {
	t.Parallel()
	b := newBench(t, asScripts)
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(context.Background(), code("sleep"), nil) }()
	awaittest.Until(t, "the script runs", func() bool { return b.fakeBackend.scripts.Load() == 1 })
	must(t, b.Halt(t.Context(), func(bailiff.Session) bool { return true }))
	if a := <-answered; a.Status != bailiff.Interrupted || a.Code != bailiff.CodeFrozen {
		t.Errorf("answer is %+v", a)
	}
}

func TestAFolderThatAScriptMakesUpIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.script = func(p *python) int {
			if p.Dir != "" {
				t.Errorf("a script started in %.40q", p.Dir)
			}
			p.at = "/" + strings.Repeat("x", bailiff.MaxWorkdir)
			return 0
		}
	})
	for range 2 {
		wantRun(t, b, code("forge"))
	}
}

func TestAScriptIsJudgedByWhatRanBeforeInItsInterpreter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, asScripts)
		b.judge.after = map[string]bailiff.Decision{"f = rm": allow(func(d *bailiff.Decision) { d.Outcome = bailiff.Deny })}
		run := func(text string) bailiff.Answer { return b.Execute(t.Context(), code(text), nil) }
		wantStatus := func(of string, a bailiff.Answer, want bailiff.Status) {
			t.Helper()
			if a.Status != want {
				t.Errorf("%s is answered %+v, want %s", of, a, want)
			}
		}
		wantStatus("a script before", run("f()"), bailiff.Completed)
		wantStatus("what gives the name", run("f = rm"), bailiff.Completed)
		wantStatus("a script after", run("f()"), bailiff.Refused)
		reset := code("f()")
		reset.Args.Reset = true
		wantStatus("a script that starts afresh", b.Execute(t.Context(), reset, nil), bailiff.Completed)
		wantStatus("a script after that", run("f()"), bailiff.Completed)

		stop := make(chan bailiff.Answer)
		slow := code("sleep")
		ctx, cancel := context.WithCancel(t.Context())
		go func() { stop <- b.Execute(ctx, slow, nil) }()
		synctest.Wait()
		answers := make(chan bailiff.Answer, 2)
		for _, text := range []string{"f = rm", "f()"} {
			go func() { answers <- run(text) }()
			synctest.Wait() // it was judged, and waits for its turn
		}
		cancel()
		<-stop
		wantStatus("what gives the name meanwhile", <-answers, bailiff.Completed)
		late := <-answers
		if wantStatus("a script that was judged before", late, bailiff.Failed); !strings.Contains(late.Message, "send it again") {
			t.Errorf("its message is %q", late.Message)
		}
	})
}
