package enforcer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/inflight"
)

func TestTheFirstAnswerFromASandboxThatReplacesAFailedOneSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Execute(t.Context(), request("true"), nil)
	_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
	if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Completed || !strings.Contains(a.Message, "was replaced") {
		t.Errorf("answer is %+v", a)
	}
	if a := b.Execute(t.Context(), request("true"), nil); a.Message != "" {
		t.Errorf("the next answer says %q", a.Message)
	}
	b.RemoveSandbox("sandbox-2")
	if a := b.Execute(t.Context(), request("true"), nil); a.Message != "" {
		t.Errorf("after an operator removed the sandbox the answer says %q", a.Message)
	}
}

func TestTheAnswerTellsHowACommandEnded(t *testing.T) {
	t.Parallel()
	unfit := fmt.Errorf("%w: %w: no folder", backends.ErrNotStarted, backends.ErrUnfit)
	full := fmt.Errorf("%w: %w: no room", backends.ErrNotStarted, backends.ErrFull)
	for name, c := range map[string]struct {
		exit   backends.Exit
		err    error
		status bailiff.Status
		code   string
		exits  int
		says   string
	}{
		"as it wanted": {backends.Exit{Code: 3}, nil, bailiff.Completed, "", 3, ""},
		"killed":       {backends.Exit{Code: 137}, nil, bailiff.Completed, "", 137, ""},
		"killed for want of memory": {backends.Exit{Code: 137, Starved: true}, nil, bailiff.Completed, "", 137,
			"memory limit of 64 MB"},
		"well, but a child starved": {backends.Exit{Starved: true}, nil, bailiff.Completed, "", 0, "memory limit of 64 MB"},
		"at its timeout, starved": {backends.Exit{Code: 124, TimedOut: true, Starved: true}, nil, bailiff.TimedOut, "", 124,
			"memory limit of 64 MB"},
		"having filled its workspace": {backends.Exit{Code: 137, Excess: backends.Excess{Limit: backends.WorkspaceMB, Found: 9, Most: 8,
			Stopped: true}}, nil, bailiff.Interrupted, bailiff.CodeLimit, 130,
			"The workspace has 9 MB, and may have 8 (workspace_mb): what made it grow was stopped."},
		"well, in a full workspace": {backends.Exit{Excess: backends.Excess{Limit: backends.WorkspaceFiles, Found: 3, Most: 2}}, nil,
			bailiff.Completed, "", 0, "has 3 files and folders, and may have 2 (workspace_files)"},
		"well, in one that cannot be counted": {backends.Exit{Excess: backends.Excess{Limit: backends.WorkspaceFiles, Found: 9, Most: 2,
			Uncounted: true}}, nil, bailiff.Completed, "", 0, "cannot be counted beyond 9 files"},
		"with its supervisor": {backends.Exit{Code: 137, Lost: true}, nil, bailiff.Failed, bailiff.CodeOutcomeUnknown,
			125, "supervisor was killed"},
		"never, for want of its folder":       {backends.Exit{}, unfit, bailiff.Failed, bailiff.CodeCommand, 125, "no folder"},
		"never, for want of room":             {backends.Exit{}, full, bailiff.Unavailable, bailiff.CodeBackend, 125, "no room"},
		"nobody knows how: the sandbox broke": {backends.Exit{}, errBoom, bailiff.Failed, bailiff.CodeOutcomeUnknown, 125, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) {
				b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.MemoryMB = 64 })
				b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) { return c.exit, c.err }
			})
			a := b.Execute(t.Context(), request("true"), nil)
			if a.Status != c.status || a.Code != c.code || a.ExitCode != c.exits || !strings.Contains(a.Message, c.says) ||
				c.says == "" && a.Message != "" {
				t.Errorf("answer is %+v, want %+v", a, c)
			}
		})
	}
}

func TestASessionsFolderThatIsGoneIsForgotten(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
			if cmd.Workdir == "/workspace/gone" {
				return backends.Exit{}, fmt.Errorf("%w: %w: no such folder", backends.ErrNotStarted, backends.ErrUnfit)
			}
			return backends.Exit{Workdir: "/workspace/gone"}, nil
		}
	})
	b.Execute(t.Context(), request("mkdir gone; cd gone; rmdir ../gone"), nil)
	if a := b.Execute(t.Context(), request("ls"), nil); a.Code != bailiff.CodeCommand ||
		!strings.Contains(a.Message, "next command starts in its workspace") {
		t.Errorf("answer is %+v", a)
	}
	if a := b.Execute(t.Context(), request("ls"), nil); a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
}

func TestASweepTakesTheWorkspacesThatNobodyHas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := &keeper{b.fakeBackend, make(chan string), make(chan struct{}), nil}
	b.config.Backends["docker"] = k
	b.Execute(t.Context(), request("true"), nil)
	k.found = []string{"left", b.fakeBackend.sandboxes()[0].spec.Workspace}
	swept := make(chan error)
	go func() {
		_, err := b.Sweep(context.Background())
		swept <- err
	}()
	if workspace := <-k.removing; workspace != "left" {
		t.Errorf("%s was removed", workspace)
	}
	k.allow <- struct{}{}
	if err := <-swept; err != nil {
		t.Error(err)
	}
	go func() { <-k.removing; k.allow <- struct{}{} }()
	k.found = nil
	b.Close(t.Context())
}

func TestAWorkspaceIsNotUsedWhileItIsSwept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Execute(t.Context(), request("true"), nil)
	workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
	b.RemoveSandbox("sandbox-1")
	k := &keeper{b.fakeBackend, make(chan string), make(chan struct{}), []string{workspace}}
	if _, err := b.Reap(t.Context()); err != nil {
		t.Error(err)
	}
	b.config.Backends["docker"] = k
	go func() { _, _ = b.Sweep(context.Background()) }()
	<-k.removing
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(context.Background(), request("true"), nil) }()
	select {
	case a := <-answered:
		t.Errorf("a request ran on a workspace that is being swept: %+v", a)
	case k.allow <- struct{}{}:
	}
	if a := <-answered; a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
	go func() { <-k.removing; k.allow <- struct{}{} }()
	k.found = nil
	b.Close(t.Context())
}

func TestAReapReturnsAfterRemovalsThatHadBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		k := &keeper{b.fakeBackend, make(chan string), make(chan struct{}), nil}
		b.config.Backends["docker"] = k
		b.Execute(t.Context(), request("true"), nil)
		b.RemoveSandbox("sandbox-1")
		<-k.removing
		reaped := make(chan error, 1)
		go func() {
			_, err := b.Reap(context.Background())
			reaped <- err
		}()
		synctest.Wait()
		if len(reaped) > 0 {
			t.Error("a reap returned while a sandbox was being removed")
		}
		k.allow <- struct{}{}
		if err := <-reaped; err != nil {
			t.Error(err)
		}
		b.Close(t.Context())
	})
}

// engine is one that can be away; sandboxes then stay behind.
type engine struct {
	*fakeBackend
	away bool
	left []string
}

var errAway = errors.New("the engine is away")

func (e *engine) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	made, err := e.fakeBackend.Open(ctx, spec)
	return &stubborn{made, e}, err
}

type stubborn struct {
	backends.Sandbox
	engine *engine
}

func (s *stubborn) Close(ctx context.Context) error {
	_ = s.Sandbox.Close(ctx)
	if s.engine.away {
		s.engine.left = append(s.engine.left, s.ID())
		return errAway
	}
	return nil
}

func (e *engine) Sweep(_ context.Context, _ string, keep func(string) bool) (int, error) {
	if e.away {
		return 0, errAway
	}
	before := len(e.left)
	e.left = slices.DeleteFunc(e.left, func(id string) bool { return !keep(id) })
	return before - len(e.left), nil
}

func TestWhatAnEngineThatWasAwayKeepsIsSweptWhenItIsBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	e := &engine{fakeBackend: b.fakeBackend}
	b.config.Backends["docker"] = e
	b.Execute(t.Context(), request("true"), nil)
	e.away = true
	if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sweep(t.Context()); !errors.Is(err, errAway) || len(e.left) != 1 {
		t.Errorf("while it is away: %v, %v left", err, e.left)
	}
	e.away = false
	if n, err := b.Sweep(t.Context()); n != 1 || err != nil || len(e.left) != 0 {
		t.Errorf("when it is back: %d swept, %v, %v left", n, err, e.left)
	}
}

func TestWhatIsNoRequestIsDeniedAndRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	d := b.Refuse(t.Context(), "hermes", bailiff.Reason{Rule: "request.invalid", Message: "The request is not valid."})
	if d.Decision.Outcome != bailiff.Deny || d.Decision.Denials[0].Rule != "request.invalid" || len(b.tape.all()) != 1 {
		t.Fatalf("decided %+v, recorded %v", d, b.tape.all())
	}
	if e := b.tape.all()[0]; e.DecisionID != d.ID || e.RequestedBy != "hermes" || e.Custom.Event != api.DecisionEvent {
		t.Errorf("recorded %+v", e)
	}
}

func TestAHaltedSessionFindsItsFilesAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := &keeper{b.fakeBackend, make(chan string), make(chan struct{}), nil}
	b.config.Backends["docker"] = k
	b.Execute(t.Context(), request("true"), nil)
	must(t, b.Halt(t.Context(), func(bailiff.Session) bool { return true }))
	k.found = []string{b.fakeBackend.sandboxes()[0].spec.Workspace}
	if _, err := b.Sweep(t.Context()); err != nil { // which would wait to be allowed to remove it
		t.Fatal(err)
	}
	if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Completed ||
		b.fakeBackend.sandboxes()[1].spec.Workspace != k.found[0] {
		t.Errorf("answer is %+v in another workspace", a)
	}
	go func() { <-k.removing; k.allow <- struct{}{} }()
	k.found = nil
	b.Close(t.Context())
}

// One session may order two kinds of sandbox in turn; both stand on its files.
func TestWhoIsAloneIsAloneOnTheFilesToo(t *testing.T) {
	t.Parallel()
	running, end := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
			if slices.Contains(cmd.Argv, "watch") {
				close(running)
				<-end
			}
			return backends.Exit{}, nil
		}
	})
	watched := make(chan bailiff.Answer)
	go func() { watched <- b.Execute(t.Context(), request("watch"), nil) }()
	<-running
	b.judge.says(allow(forward("TOKEN"), func(d *bailiff.Decision) { d.Backend.MemoryMB = 512 }))
	b.env["TOKEN"] = "12345678"
	alone := request("true")
	alone.Env = []string{"TOKEN"}
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(t.Context(), alone, nil) }()
	select {
	case a := <-answered:
		t.Fatalf("it ran beside another command on the same files: %+v", a)
	case end <- struct{}{}:
	}
	if a := <-watched; a.Status != bailiff.Completed {
		t.Errorf("the first was answered %+v", a)
	}
	if a := <-answered; a.Status != bailiff.Completed {
		t.Errorf("the second was answered %+v", a)
	}
	if !isClosed(b.fakeBackend.sandboxes()[0].done) {
		t.Error("the first sandbox still stood on the files")
	}
}

func TestWaitingForHumansKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(ask) })
	var asked sync.WaitGroup
	waiting, hold := make(chan struct{}), make(chan struct{})
	b.human.meanwhile = func() { waiting <- struct{}{}; <-hold }
	for range inflight.MaxWaitingOfSession {
		asked.Go(func() { b.Execute(t.Context(), patient("kill 7"), nil) })
		<-waiting
	}
	if a := b.Execute(t.Context(), patient("kill 7"), nil); a.Status != bailiff.ApprovalRequired {
		t.Errorf("one more waiter of the session was answered %+v", a)
	}
	other := patient("kill 7")
	other.Session.ID = "s2"
	asked.Go(func() { b.Execute(t.Context(), other, nil) })
	<-waiting
	close(hold)
	asked.Wait()
}
