package enforcer

import (
	"context"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// Once sessions are to leave, none begins anything but one of which something runs still, and that only until
// it has ended.
func TestASessionThatLeavesBeginsNothingMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	begun, end := make(chan struct{}), make(chan struct{})
	b.fakeBackend.run = func(_ context.Context, c backends.Command, _ func([]byte)) (backends.Exit, error) {
		if c.Argv[len(c.Argv)-1] == "long" {
			close(begun)
			<-end
		}
		return backends.Exit{}, nil
	}
	b.Execute(t.Context(), inSession("s2"), nil)
	done := make(chan bailiff.Answer, 1)
	go func() { done <- b.Execute(context.Background(), request("long"), nil) }()
	<-begun
	busy, ended := b.Leave()
	if list := busy(); len(list) != 1 || list[0].Session.ID != "s1" || list[0].Caller != "hermes" {
		t.Errorf("busy are %+v", list)
	}
	b.DropIdle()
	awaittest.Until(t, "the idle session's sandbox to go", func() bool { return len(b.Sandboxes()) == 1 })
	if a := b.Execute(t.Context(), inSession("s2"), nil); a.Code != bailiff.CodeShutdown {
		t.Errorf("a request of an idle session is answered %s, %s", a.Status, a.Code)
	}
	if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Completed {
		t.Errorf("one of the busy session is answered %s, %s", a.Status, a.Message)
	}
	close(end)
	if a := <-done; a.Status != bailiff.Completed {
		t.Errorf("what ran is answered %s, %s", a.Status, a.Message)
	}
	<-ended
	awaittest.Until(t, "nothing to be under way", func() bool { return len(busy()) == 0 })
	if a := b.Execute(t.Context(), request("true"), nil); a.Code != bailiff.CodeShutdown {
		t.Errorf("afterwards one is answered %s, %s", a.Status, a.Code)
	}
}

func inSession(id string) bailiff.Request {
	req := request("true")
	req.Session.ID = id
	return req
}

// What waits for approvers is answered at once when sessions are to leave, and can be sent again elsewhere.
func TestWhatWaitsForApproversIsAnsweredWhenSessionsLeave(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.judge.decision = allow(ask) })
	waits := make(chan struct{})
	b.human.awaits = func(ctx context.Context) {
		close(waits)
		<-ctx.Done()
	}
	done := make(chan bailiff.Answer, 1)
	go func() { done <- b.Execute(context.Background(), patient("kill 7"), nil) }()
	<-waits
	b.Leave()
	if a := <-done; a.Status != bailiff.ApprovalRequired {
		t.Errorf("it is answered %s, %s", a.Status, a.Message)
	}
}

// A session whose background process runs is busy, though no request of it is under way, until that has ended.
func TestASessionWhoseProcessRunsIsBusyUntilThatHasEnded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, job := b.start(t, inBackground("serve"))
	busy, _ := b.Leave()
	if list := busy(); len(list) != 1 || list[0].Session.ID != "s1" || list[0].Caller != "hermes" {
		t.Errorf("busy are %+v", list)
	}
	b.DropIdle()
	if list := b.Sandboxes(); len(list) != 1 || list[0].Processes != 1 {
		t.Errorf("there are the sandboxes %+v", list)
	}
	job.ends(backends.Exit{})
	if list := busy(); len(list) != 0 {
		t.Errorf("afterwards busy are %+v", list)
	}
	b.DropIdle()
	awaittest.Until(t, "its sandbox to go", func() bool { return len(b.Sandboxes()) == 0 })
}
