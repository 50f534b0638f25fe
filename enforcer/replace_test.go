package enforcer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

var errLost = fmt.Errorf("%w: no such container", backends.ErrNotStarted)

// frail is a fake backend whose sandboxes fail commands before they start: the first so
// many of them.
func frail(times int, fault error) func(*bench) {
	return func(b *bench) {
		b.fakeBackend.run = func(_ context.Context, _ backends.Command, out func([]byte)) (backends.Exit, error) {
			if times--; times >= 0 {
				return backends.Exit{}, fault
			}
			out([]byte("done"))
			return backends.Exit{}, nil
		}
	}
}

func TestACommandWhoseSandboxWasLostBeforeItStartedRunsInAnother(t *testing.T) {
	t.Parallel()
	for name, decision := range map[string]bailiff.Decision{
		"of the session": allow(),
		"for variables":  allow(forward("TOKEN")),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, frail(0, nil))
			wantRun(t, b, request("true"))
			frail(1, errLost)(b)
			b.judge.decision, b.env["TOKEN"] = decision, "12345678"
			req := request("true")
			req.Env = []string{"TOKEN"}
			a := b.Execute(t.Context(), req, nil)
			if a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" || string(a.Output) != "done" ||
				!strings.Contains(a.Message, "was replaced") {
				t.Errorf("answer is %+v", a)
			}
			sandboxes := b.fakeBackend.sandboxes()
			if sandboxes[0].spec.Workspace != sandboxes[1].spec.Workspace {
				t.Error("it ran on other files")
			}
			if a := b.Execute(t.Context(), request("true"), nil); a.SandboxID != "sandbox-2" || a.Message != "" {
				t.Errorf("the next answer is %+v", a)
			}
			b.Close(t.Context())
			if !isClosed(sandboxes[0].done) {
				t.Error("the sandbox that failed is still there")
			}
		})
	}
}

func TestAScriptWhoseSandboxWasLostBeforeItStartedRunsInAnother(t *testing.T) {
	t.Parallel()
	for name, loss := range map[string]func(*talk) error{
		"and no interpreter could be started": func(*talk) error { return errLost },
		"as its interpreter was started":      func(t *talk) error { t.ends(backends.Exit{Code: 137, Lost: true}); return nil },
	} {
		for whose, decision := range map[string]bailiff.Decision{"the session's": allow(), "one of its own": allow(forward("TOKEN"))} {
			t.Run(name+", "+whose, func(t *testing.T) {
				b := newBench(t, asScripts, func(b *bench) { b.judge.decision, b.env["TOKEN"] = decision, "12345678" })
				b.fakeBackend.talks = func(t *talk) error { b.fakeBackend.talks = nil; return loss(t) }
				req := code("x = 1")
				req.Env = []string{"TOKEN"}
				a := b.Execute(t.Context(), req, nil)
				if a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" || string(a.Output) != "x = 1" ||
					!strings.Contains(a.Message, "was replaced") {
					t.Errorf("answer is %+v", a)
				}
				sandboxes := b.fakeBackend.sandboxes()
				if len(sandboxes) != 2 || sandboxes[0].spec.Workspace != sandboxes[1].spec.Workspace {
					t.Errorf("%d sandboxes were made, not on the same files", len(sandboxes))
				}
			})
		}
	}
}

// A call's script has the sandbox that was lost.
func TestACallOfAScriptIsNotMovedToAnotherSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, frail(1, errLost), func(b *bench) { b.judge.decision = allow(tools("terminal")) })
	if c := b.calling(t, "terminal", `{"command": "true"}`, nil); !strings.Contains(c.value, `"status":"unavailable"`) ||
		len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("the script got %s %s after %d sandboxes", c.value, c.fault, len(b.fakeBackend.sandboxes()))
	}
}

func TestWhatFailsASecondTimeOrForAnotherReasonIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	full := fmt.Errorf("%w: %w", backends.ErrNotStarted, backends.ErrFull)
	unfit := fmt.Errorf("%w: %w", backends.ErrNotStarted, backends.ErrUnfit)
	for name, c := range map[string]struct {
		fault     error
		status    bailiff.Status
		sandboxes int
	}{
		"the sandbox is lost again":       {errLost, bailiff.Unavailable, 2},
		"the sandbox is full":             {full, bailiff.Unavailable, 1},
		"the command is not there":        {unfit, bailiff.Failed, 1},
		"the command may have been begun": {errBoom, bailiff.Failed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, frail(2, c.fault))
			if a := b.Execute(t.Context(), request("true"), nil); a.Status != c.status {
				t.Errorf("answer is %+v, want %s", a, c.status)
			}
			if n := len(b.fakeBackend.sandboxes()); n != c.sandboxes {
				t.Errorf("%d sandboxes were made, want %d", n, c.sandboxes)
			}
		})
	}
}

func TestWhoseCallerWentAwayGetsNoOtherSandbox(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench(t)
	b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
		cancel()
		return backends.Exit{}, errLost
	}
	if a := b.Execute(ctx, request("true"), nil); a.Status != bailiff.Interrupted || len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("answer is %+v after %d sandboxes", a, len(b.fakeBackend.sandboxes()))
	}
}

func TestWhatWasApprovedWithItsFilesRunsInAnotherSandboxOnlyWithTheSame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after string // digest in the new sandbox
		runs  bool
	}{"as they were": {"aa", true}, "changed": {"bb", false}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) {
				b.judge.decision, b.judge.files = allow(ask), []string{"/workspace/x.sh"}
				b.human.answer = always(bailiff.ApprovalApproved)
				b.fakeBackend.files = map[string]string{"/workspace/x.sh": "aa"}
			})
			lost := false
			b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
				if lost {
					return backends.Exit{}, nil
				}
				lost = true
				b.fakeBackend.write("/workspace/x.sh", c.after)
				return backends.Exit{}, errLost
			}
			a := b.Execute(t.Context(), patient("sh x.sh"), nil)
			if c.runs && (a.Status != bailiff.Completed || a.SandboxID != "sandbox-2") ||
				!c.runs && (a.Status != bailiff.Unavailable || a.Code != bailiff.CodeCommand || b.fakeBackend.commands() != 1) {
				t.Errorf("answer is %+v after %d commands", a, b.fakeBackend.commands())
			}
		})
	}
}

// A request that finds another sandbox already made for its slot goes there.
func TestAllThatLostTheirSandboxMoveToOneOther(t *testing.T) {
	t.Parallel()
	const all = 8
	b := newBench(t)
	here := make(chan struct{}, all)
	lost := make(chan struct{})
	b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
		select {
		case <-lost:
			return backends.Exit{}, nil
		default:
		}
		here <- struct{}{}
		<-lost
		return backends.Exit{}, errLost
	}
	answers := make(chan bailiff.Answer, all)
	for range all {
		go func() { answers <- b.Execute(context.Background(), request("true"), nil) }()
	}
	for range all {
		<-here
	}
	close(lost)
	for range all {
		if a := <-answers; a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" || !strings.Contains(a.Message, "was replaced") {
			t.Errorf("answer is %+v", a)
		}
	}
	if n := len(b.fakeBackend.sandboxes()); n != 2 {
		t.Errorf("%d sandboxes were made", n)
	}
}

func TestWhoFindsTheSandboxDeadWhenTheOthersHaveGoneGetsAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wantRun(t, b, request("true"))
	sandbox := b.fakeBackend.sandboxes()[0]
	sandbox.left = 1
	sandbox.dies = true
	b.env["TOKEN"], b.judge.decision = "12345678", allow(forward("TOKEN"))
	req := request("true")
	req.Env = []string{"TOKEN"}
	if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" ||
		!strings.Contains(a.Message, "was replaced") {
		t.Errorf("answer is %+v", a)
	}
}

func TestASandboxThatFailsWhileNobodyAsksForItIsNotShownAndGoesWithTheNextSweep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		k := newKeepingBackend(b.fakeBackend)
		b.config.Backends["docker"] = k
		b.Limit(lease.Bounds{Total: 1})
		wantRun(t, b, request("true"))
		sandbox := b.fakeBackend.sandboxes()[0]
		_ = sandbox.Close(context.Background())
		if list := b.Sandboxes(); len(list) != 0 {
			t.Errorf("shown are %+v", list)
		}
		k.wantAfterSweep(t, b, sandbox.spec.Workspace)
		synctest.Wait()
		other := request("true")
		other.Session.ID = "another"
		wantRun(t, b, other) // in the room that it left
		_, err := b.EndSession(t.Context(), other.Caller, other.Session.ID)
		if a := b.Execute(t.Context(), request("true"), nil); err != nil || !strings.Contains(a.Message, "was replaced") ||
			b.fakeBackend.sandboxes()[2].spec.Workspace != sandbox.spec.Workspace {
			t.Errorf("answer is %+v, ending the other was answered %v", a, err)
		}
	})
}

func TestTheFilesOfASandboxThatFailedUnderItsCommandAreFoundAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		k := newKeepingBackend(b.fakeBackend)
		b.config.Backends["docker"] = k
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			_ = b.fakeBackend.sandboxes()[0].Close(context.Background())
			return backends.Exit{}, errBoom
		}
		if a := b.Execute(t.Context(), request("kill -9 1"), nil); a.Code != bailiff.CodeOutcomeUnknown {
			t.Errorf("answer is %+v", a)
		}
		synctest.Wait()
		workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
		k.wantAfterSweep(t, b, workspace)
		b.fakeBackend.run = nil
		if a := b.Execute(t.Context(), request("ls"), nil); !strings.Contains(a.Message, "/workspace are left") ||
			b.fakeBackend.sandboxes()[1].spec.Workspace != workspace {
			t.Errorf("answer is %+v", a)
		}
	})
}
