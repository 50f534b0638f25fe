package enforcer

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestARequestWithVariablesIsAloneInItsSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.env = environ{"GITHUB_TOKEN": "ghp-12345678"} })
	b.Execute(t.Context(), request("sleep 99 &"), nil)
	sandbox := b.fakeBackend.sandboxes()[0]
	sandbox.left = 2

	b.judge.decision = allow(forward("GITHUB_TOKEN"))
	b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
		if !cmd.Reap {
			t.Error("what the command leaves behind would keep its variables")
		}
		return backends.Exit{}, nil
	}
	req := request("git push")
	req.Env = []string{"GITHUB_TOKEN"}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { b.Execute(t.Context(), req, nil) })
	}
	all.Wait()
	if sandbox.killed != 2 || sandbox.most != 1 || len(b.fakeBackend.sandboxes()) != 1 {
		t.Errorf("killed %d of 2 leftovers, %d commands at once, %d sandboxes", sandbox.killed, sandbox.most,
			len(b.fakeBackend.sandboxes()))
	}
}

func TestWhoSharesASandbox(t *testing.T) {
	t.Parallel()
	other := func(change func(*bailiff.Request)) bailiff.Request {
		req := request("true")
		change(&req)
		return req
	}
	scope := func(s string) bailiff.Decision { return allow(func(d *bailiff.Decision) { d.Backend.Scope = s }) }
	for name, c := range map[string]struct {
		first, second bailiff.Decision
		other         bailiff.Request
		shared        bool
	}{
		"one session":                       {allow(), allow(), request("true"), true},
		"another session":                   {allow(), allow(), other(func(r *bailiff.Request) { r.Session.ID = "s2" }), false},
		"another caller claims the session": {allow(), allow(), other(func(r *bailiff.Request) { r.Caller = "codex" }), false},
		"another session of the same user":  {scope("user"), scope("user"), other(func(r *bailiff.Request) { r.Session.ID = "s2" }), true},
		"another user of the same session": {scope("user"), scope("user"), other(func(r *bailiff.Request) { r.Session.UserID = "43" }),
			false},
		"a request for itself": {scope("request"), scope("request"), request("true"), false},
		"another age": {allow(),
			allow(func(d *bailiff.Decision) { d.Backend.IdleSeconds, d.Backend.MaxSeconds = 7, 70 }), request("true"), true},
		"another limit of the command": {allow(), allow(func(d *bailiff.Decision) { d.Limits.TimeoutSeconds = 7 }),
			request("true"), true},
		"a sealed variable": {allow(), allow(forward("T"), func(d *bailiff.Decision) { d.Env.Sealed = []string{"T"} }),
			request("true"), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = c.first })
			b.Execute(t.Context(), request("true"), nil)
			b.judge.decision = c.second
			b.Execute(t.Context(), c.other, nil)
			if shared := len(b.fakeBackend.sandboxes()) == 1; shared != c.shared {
				t.Errorf("shared is %v, want %v", shared, c.shared)
			}
		})
	}
}

func TestConcurrentFirstRequestsOpenOneSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { b.Execute(t.Context(), request("true"), nil) })
	}
	all.Wait()
	if n := len(b.fakeBackend.sandboxes()); n != 1 {
		t.Errorf("%d sandboxes were opened", n)
	}
}

func TestASandboxGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision bailiff.Decision
		then     func(*bench)
	}{
		"when it was for one request": {allow(func(d *bailiff.Decision) { d.Backend.Scope = "request" }), func(*bench) {}},
		"when it was idle":            {allow(func(d *bailiff.Decision) { d.Backend.IdleSeconds = 0 }), func(*bench) {}},
		"when its session ends":       {allow(), func(b *bench) { _, _ = b.EndSession(context.Background(), "hermes", "s1") }},
		"when the sidecar stops":      {allow(), func(b *bench) { b.Close(context.Background()) }},
		"when an operator removes it": {allow(), func(b *bench) { b.RemoveSandbox("sandbox-1") }},
		"when an operator reaps":      {allow(), func(b *bench) { _, _ = b.Reap(context.Background()) }},
		"when its spec has changed": {allow(), func(b *bench) {
			b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.PIDs = 9 })
			b.Execute(context.Background(), request("true"), nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, func(b *bench) { b.judge.decision = c.decision })
			b.Execute(t.Context(), request("true"), nil)
			sandbox := b.fakeBackend.sandboxes()[0]
			c.then(b)
			awaittest.Value(t, "its end", sandbox.done)
		})
	}
}

func TestADeadSandboxIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Execute(t.Context(), request("true"), nil)
	_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
	if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" {
		t.Errorf("answer is %+v", a)
	}
}

func TestARunningRequestOfAReplacedSandboxIsStillSeen(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(_ context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
			if strings.Contains(strings.Join(cmd.Argv, " "), "long") {
				close(inside)
				<-leave
			}
			return backends.Exit{}, nil
		}
	})
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(context.Background(), request("long"), nil) }()
	<-inside
	b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.PIDs = 9 })
	b.Execute(t.Context(), request("short"), nil)
	if n := len(b.Sandboxes()); n != 2 {
		t.Errorf("%d sandboxes are listed, want the old one and the new one", n)
	}
	if !spares(t, b, "sandbox-1") {
		t.Error("a sweep would kill the running command")
	}
	close(leave)
	if a := <-answered; a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
}

// keeper is a fake backend whose workspaces outlive its sandboxes.
type keeper struct {
	*fakeBackend
	removing chan string   // told of each removal
	allow    chan struct{} // lets one removal end
	found    []string      // what a sweep finds
}

func (k *keeper) Workspaces(context.Context, string) ([]string, error) { return k.found, nil }

func (k *keeper) RemoveWorkspace(_ context.Context, _, workspace string) error {
	k.removing <- workspace
	<-k.allow
	return nil
}

func TestAWorkspaceIsNotUsedWhileItIsDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	k := &keeper{b.fakeBackend, make(chan string), make(chan struct{}), nil}
	b.config.Backends["docker"] = k
	b.Execute(t.Context(), request("true"), nil)
	if !b.RemoveSandbox("sandbox-1") {
		t.Fatal("there is no sandbox")
	}
	workspace := <-k.removing
	answered := make(chan bailiff.Answer)
	go func() { answered <- b.Execute(context.Background(), request("true"), nil) }()
	select {
	case a := <-answered:
		t.Errorf("a request ran on a workspace that is being deleted: %+v", a)
	case k.allow <- struct{}{}:
	}
	if a := <-answered; a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" {
		t.Errorf("answer is %+v", a)
	}
	if got := b.fakeBackend.sandboxes()[1].spec.Workspace; got != workspace {
		t.Errorf("the new sandbox works on %s, want %s", got, workspace)
	}
	go func() { <-k.removing; k.allow <- struct{}{} }()
	b.Close(t.Context())
}
