package chat

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// held is a sidecar whose commands run until the test lets them go on, each by its text,
// or are stopped.
func held() (c *fakeSidecar, release func(command string)) {
	var mu sync.Mutex
	gates := map[string]chan struct{}{}
	gate := func(command string) chan struct{} {
		mu.Lock()
		defer mu.Unlock()
		if gates[command] == nil {
			gates[command] = make(chan struct{})
		}
		return gates[command]
	}
	c = &fakeSidecar{}
	c.execute = func(ctx context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		select {
		case <-gate(req.Args.Command):
			return printed(req, "ran "+req.Args.Command)
		case <-ctx.Done():
			return bailiff.Answer{Status: bailiff.Interrupted, ExitCode: bailiff.ExitInterrupted, Output: []byte("so far\n"),
				Message: "The caller went away."}
		}
	}
	return c, func(command string) { close(gate(command)) }
}

// begun waits until so many commands have begun.
func (k *sessionsTest) begun(n int) {
	k.t.Helper()
	backendtest.Await(k.t, fmt.Sprint(n, " commands have begun"), func() bool { return len(k.sidecar.requests()) >= n })
}

func TestCommandsOfASessionRunInOrderAndThoseOfOthersBeside(t *testing.T) {
	t.Parallel()
	c, release := held()
	k := newSessionsTest(t, c, nil)
	for i := range 4 {
		k.direct(fmt.Sprint("a", i))
	}
	k.begun(1)
	k.says(ben, "dm", Place{Chat: "D2"}, "b0", false)
	k.begun(2)
	release("b0")
	k.shows(Place{Chat: "D2"}, "```ran b0```")
	for i := range 4 {
		if got := len(c.requests()); got > i+2 {
			t.Fatalf("%d commands have begun while a%d runs", got, i)
		}
		release(fmt.Sprint("a", i))
		k.begun(min(i+3, 5))
	}
	k.shows(dm, "```ran a0```", "`a1`\n```ran a1```", "`a2`\n```ran a2```", "`a3`\n```ran a3```")
	k.settles()
}

func TestWhoGoesBeyondABoundIsTold(t *testing.T) {
	t.Parallel()
	c, release := held()
	k := newSessionsTest(t, c, nil)
	k.direct("first")
	k.begun(1)
	for i := range maxQueue + 2 {
		k.direct(fmt.Sprint("c", i))
	}
	k.shows(dm, "Not run: 10 commands wait here already.", "Not run: 10 commands wait here already.")
	k.says(ben, "dm", Place{Chat: "D2"}, strings.Repeat("x", maxWaitingBytes), false)
	k.shows(Place{Chat: "D2"}, "Not run: bailiff has too much to do at the moment. Try again in a minute.")
	release("first")
	for i := range maxQueue {
		release(fmt.Sprint("c", i))
	}
	k.settles()
	if got := len(c.requests()); got != 1+maxQueue {
		t.Errorf("%d commands ran", got)
	}
}

func TestNoMoreSessionsWorkAtOnceThanMay(t *testing.T) {
	t.Parallel()
	c, release := held()
	k := newSessionsTest(t, c, nil)
	for i := range maxWorking {
		k.says(ana, "dm", Place{Chat: fmt.Sprint("E", i)}, "same", false)
	}
	k.direct("more")
	k.says(ana, "channel", channel, "more in a thread", true)
	k.shows(dm, "Not run: bailiff has too much to do at the moment. Try again in a minute.")
	k.shows(channel, "Not run: bailiff has too much to do at the moment. Try again in a minute.")
	release("same")
	k.settles()
	if got := len(c.requests()); got != maxWorking {
		t.Errorf("%d commands ran", got)
	}
}

func TestACommandThatPanicsTakesNothingElseAlong(t *testing.T) {
	t.Parallel()
	k, queued := newSessionsTest(t, &fakeSidecar{}, nil), make(chan struct{})
	k.sidecar.execute = func(_ context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		if req.Args.Command == "a" {
			<-queued
			panic("broken")
		}
		return printed(req, "fine")
	}
	k.direct("a")
	k.direct("b")
	close(queued)
	k.shows(dm, "The sidecar failed at this command; its log says how.", "`b`\n```fine```")
}

func TestAServiceWhosePostingPanicsTakesNothingElseAlong(t *testing.T) {
	t.Parallel()
	c, say := asking()
	k := newSessionsTest(t, c, nil)
	broken := true
	var mu sync.Mutex
	k.surface.fails = func(at Place) error {
		mu.Lock()
		defer mu.Unlock()
		if broken && at != thread {
			panic("broken")
		}
		return nil
	}
	k.direct("git push")
	k.says(ana, "channel", channel, "id", true)
	k.says(ana, "dm", Place{Chat: "D2"}, "/status", true)
	say(bailiff.Approval{ID: "ap1", State: bailiff.ApprovalDenied, Message: "no"}, bailiff.Answer{Status: bailiff.Refused})
	k.settles()
	mu.Lock()
	broken = false
	mu.Unlock()
	k.direct("/status")
	k.shows(dm, "Nothing runs here.")
}

func TestAConfigNamesEverythingThatItLacks(t *testing.T) {
	t.Parallel()
	const want = "chat sessions config lacks AllowedUsers, Platform, Sidecar, Store, Surface"
	if _, err := NewSessions(SessionsConfig{}); err == nil || err.Error() != want {
		t.Errorf("it says %v", err)
	}
}
