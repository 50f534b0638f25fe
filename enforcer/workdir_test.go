package enforcer

import (
	"context"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

func TestAWorkingFolderThatIsNoneIsNotKept(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"src", "/a/../b", "/a/", "/a\x00b", "/a\xff", "/" + strings.Repeat("x", 5000)} {
		b := newBench(t)
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: path}, nil
		}
		b.Execute(t.Context(), request("cd"), nil)
		b.Execute(t.Context(), request("ls"), nil)
		if at := b.fakeBackend.sandboxes()[0].cmds[1].Workdir; at != "" {
			t.Errorf("the session goes on in %q", at[:min(len(at), 40)])
		}
	}
}

func TestTheWorkingFolderIsKeptBetweenTheCommandsOfASession(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: "/workspace/src"}, nil
		}
	})
	b.Execute(t.Context(), request("cd src"), nil)
	b.Execute(t.Context(), request("ls"), nil)
	elsewhere := request("ls")
	elsewhere.Session.ID = "s2"
	b.Execute(t.Context(), elsewhere, nil)
	sandboxes := b.fakeBackend.sandboxes()
	if got := sandboxes[0].cmds[1].Workdir; got != "/workspace/src" {
		t.Errorf("the second command ran in %q", got)
	}
	if got := sandboxes[1].cmds[0].Workdir; got != "" {
		t.Errorf("another session's command ran in %q", got)
	}
}

func TestTheFirstRequestOfASessionIsJudgedInTheFolderWhereItRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.start = "/home/ana/project" })
	b.Execute(t.Context(), request("cat ../notes"), nil)
	b.Decide(t.Context(), request("cat ../notes"))
	if at := b.fakeBackend.sandboxes()[0].cmds[0].Workdir; at != b.fakeBackend.start {
		t.Errorf("it ran in %q, want %q", at, b.fakeBackend.start)
	}
	for _, i := range []int{1, len(b.judge.judged) - 1} {
		if at := b.judge.judged[i].Args.Workdir; at != b.fakeBackend.start {
			t.Errorf("judgement %d was in %q, want %q", i, at, b.fakeBackend.start)
		}
	}
	named := request("cat ../notes")
	named.Args.Workdir = "/tmp"
	b.Execute(t.Context(), named, nil)
	if at := b.judge.judged[len(b.judge.judged)-1].Args.Workdir; at != "/tmp" {
		t.Errorf("a request that names /tmp was judged in %q", at)
	}
}

func TestAQueryOfThePoliciesIsForTheFolderWhereTheRequestWouldRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) { b.fakeBackend.start = "/home/ana/project" })
	named := request("cat ../notes")
	named.Args.Workdir = "/tmp"
	for _, c := range []struct {
		req  bailiff.Request
		want string
	}{{request("cat ../notes"), "/home/ana/project"}, {named, "/tmp"}} {
		if placed, _ := b.Placement(t.Context(), c.req); placed.Args.Workdir != c.want {
			t.Errorf("it is asked about in %q, want %q", placed.Args.Workdir, c.want)
		}
	}
}

func TestAFolderThatLeadsToAnotherBackendIsNotDroppedForTheFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.fakeBackend.start = "/home/ana"
		b.judge.inFolder = map[string]bailiff.Decision{"/home/ana": allow(func(d *bailiff.Decision) { d.Backend.Name = "podman" })}
	})
	if a := b.Execute(t.Context(), request("cat notes"), nil); a.Backend != "podman" {
		t.Errorf("it ran in %s, where the policies do not want it in that folder", a.Backend)
	}
	if at := b.fakeBackend.sandboxes()[0].cmds[0].Workdir; at != "/home/ana" {
		t.Errorf("it ran in %q, where it was not judged", at)
	}
}

func TestASealedRequestIsJudgedAndRunWithoutTheSessionsFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(b *bench) {
		b.env = environ{"T": "t-12345678"}
		b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
			return backends.Exit{Workdir: "/workspace/src"}, nil
		}
	})
	b.Execute(t.Context(), request("cd src"), nil)
	plain := b.judge.decision
	b.judge.decision = allow(forward("T"), func(d *bailiff.Decision) { d.Env.Sealed = []string{"T"} })
	sealed := request("deploy")
	sealed.Env = []string{"T"}
	b.Execute(t.Context(), sealed, nil)
	b.judge.decision = plain
	b.Execute(t.Context(), request("ls"), nil)
	sandboxes := b.fakeBackend.sandboxes()
	if got := sandboxes[1].cmds[0].Workdir; got != "" {
		t.Errorf("the sealed request ran in %q", got)
	}
	if got := sandboxes[0].cmds[1].Workdir; got != "/workspace/src" {
		t.Errorf("the session forgot its folder: %q", got)
	}
}
