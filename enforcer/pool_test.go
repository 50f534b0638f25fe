package enforcer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
)

// stock is a bench whose backend's sandboxes can stand ready.
type stock struct {
	*bench
	*keepingBackend
}

func newStock(t *testing.T, w lease.Warm, changes ...func(*bench)) stock {
	t.Helper()
	b := newBench(t, changes...)
	s := stock{b, newKeepingBackend(b.fakeBackend)}
	b.config.Backends["docker"] = s.keepingBackend
	b.Warm(w)
	return s
}

func (s stock) asks(t *testing.T, session string) bailiff.Answer {
	t.Helper()
	req := request("true")
	req.Session.ID = session
	a := s.Execute(t.Context(), req, nil)
	if a.Status != bailiff.Completed {
		t.Errorf("answer is %+v", a)
	}
	synctest.Wait()
	return a
}

// ready are the sandboxes that stand and that nobody has.
func (s stock) ready() (ids []string) {
	for _, r := range s.bench.fakeBackend.sandboxes() {
		if r.stands() && !slices.ContainsFunc(s.Sandboxes(), func(had lease.Sandbox) bool { return had.ID == r.id }) {
			ids = append(ids, r.id)
		}
	}
	return ids
}

func (s stock) fakeSandbox(id string) *fakeSandbox {
	for _, r := range s.bench.fakeBackend.sandboxes() {
		if r.id == id {
			return r
		}
	}
	return nil
}

func (s stock) wantReady(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := s.ready(); !slices.Equal(got, want) {
		t.Errorf("%q stand ready, want %q", got, want)
	}
}

var plenty = lease.Warm{Sandboxes: 10, MemoryMB: 1000}

func TestWhoComesNextGetsASandboxThatStandsReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		s.asks(t, "s1")
		s.wantReady(t, "sandbox-2", "sandbox-3")
		a := s.asks(t, "s2")
		r := s.fakeSandbox(a.SandboxID)
		if a.SandboxID != "sandbox-2" || len(r.cmds) != 1 || r.spec.Session != "" {
			t.Errorf("the second session is in %s, where %d commands ran, made for session %q", a.SandboxID, len(r.cmds), r.spec.Session)
		}
		s.wantReady(t, "sandbox-3", "sandbox-4")
		if again := s.asks(t, "s2"); again.SandboxID != a.SandboxID {
			t.Errorf("its next request is in %s", again.SandboxID)
		}
	})
}

// Nothing that anybody did can be seen in a sandbox that stands ready: nothing ran
// in it, and its workspace was nobody's before and is nobody's after.
func TestNobodyFindsATraceOfAnotherInWhatStandsReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		homes := map[string]string{}
		for n := range 6 {
			session := fmt.Sprint("s", n)
			r := s.fakeSandbox(s.asks(t, session).SandboxID)
			if other, taken := homes[r.spec.Workspace]; taken {
				t.Errorf("%s has the workspace of %s", session, other)
			}
			if homes[r.spec.Workspace] = session; len(r.cmds) != 1 {
				t.Errorf("in the sandbox of %s %d commands ran", session, len(r.cmds))
			}
			if n%2 == 0 {
				if _, err := s.EndSession(t.Context(), "hermes", session); err != nil {
					t.Error(err)
				}
			}
		}
		for _, id := range s.ready() {
			if len(s.fakeSandbox(id).cmds) != 0 {
				t.Errorf("in %s a command ran", id)
			}
		}
	})
}

func TestOnlyTheVerySameKindIsHandedOver(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bailiff.Decision){
		"image":               func(d *bailiff.Decision) { d.Backend.Image = "other" },
		"network":             func(d *bailiff.Decision) { d.Backend.Network = "full" },
		"memory":              func(d *bailiff.Decision) { d.Backend.MemoryMB = 9 },
		"mount":               func(d *bailiff.Decision) { d.Backend.Mounts = []bailiff.Mount{{Source: "/a", Target: "/b"}} },
		"backend":             func(d *bailiff.Decision) { d.Backend.Name = "local" },
		"files in memory":     func(d *bailiff.Decision) { d.Backend.Scope = "request" },
		"sealed variable":     func(d *bailiff.Decision) { d.Env.Forward, d.Env.Sealed = []string{"T"}, []string{"T"} },
		"age beyond its own":  func(d *bailiff.Decision) { d.Backend.MaxSeconds = 100 * 86400 },
		"root that is closed": func(d *bailiff.Decision) { d.Backend.ReadOnly = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStock(t, plenty, func(b *bench) { b.env["T"] = "12345678" })
				s.asks(t, "s1")
				before := s.ready()
				s.judge.says(allow(change))
				req := request("true")
				req.Session.ID, req.Env = "s2", []string{"T"}
				if a := s.Execute(t.Context(), req, nil); slices.Contains(before, a.SandboxID) {
					t.Errorf("%s was handed over", a.SandboxID)
				}
				synctest.Wait()
			})
		})
	}
}

func TestASandboxForOneRequestIsHandedOverToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty, func(b *bench) { b.judge.decision.Backend.Scope = "request" })
		s.asks(t, "s1")
		if a := s.asks(t, "s1"); a.SandboxID != "sandbox-2" || s.fakeSandbox("sandbox-2").stands() ||
			s.fakeSandbox("sandbox-2").spec.Workspace != "" {
			t.Errorf("the second request was in %s, which stands: %v", a.SandboxID, s.fakeSandbox("sandbox-2").stands())
		}
	})
}

func TestWhoHasFilesGetsTheseAndNoOtherSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		s.asks(t, "s1")
		had := s.asks(t, "s2") // in one that stood ready
		files := s.fakeSandbox(had.SandboxID).spec.Workspace
		_ = s.fakeSandbox(had.SandboxID).Close(t.Context()) // as if it broke
		now := s.asks(t, "s2")
		if now.SandboxID == had.SandboxID || s.fakeSandbox(now.SandboxID).spec.Workspace != files {
			t.Errorf("it goes on in %s with %q, want %q", now.SandboxID, s.fakeSandbox(now.SandboxID).spec.Workspace, files)
		}
		err := s.Halt(t.Context(), func(s bailiff.Session) bool { return s.ID == "s2" })
		if a := s.asks(t, "s2"); err != nil || s.fakeSandbox(a.SandboxID).spec.Workspace != files {
			t.Errorf("%v; after a halt it goes on with %q, want %q", err, s.fakeSandbox(a.SandboxID).spec.Workspace, files)
		}
		if _, err := s.EndSession(t.Context(), "hermes", "s2"); err != nil {
			t.Error(err)
		}
		if n := kept(s.leases, "names"); n != 0 {
			t.Errorf("after its end it is remembered where %d files were", n)
		}
		if a := s.asks(t, "s2"); s.fakeSandbox(a.SandboxID).spec.Workspace == files {
			t.Error("after its end the session has the same files")
		}
	})
}

func TestWhoWasHandedASandboxKeepsItAcrossAKill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		s.asks(t, "s1")
		had := s.asks(t, "s2")
		files := s.fakeSandbox(had.SandboxID).spec.Workspace
		next := stock{s.restarted(t, func(n *bench) {}), s.keepingBackend}
		next.config.Backends["docker"] = s.keepingBackend
		if a := next.asks(t, "s2"); a.SandboxID != had.SandboxID {
			t.Errorf("it goes on in %s, want %s", a.SandboxID, had.SandboxID)
		}
		_ = s.fakeSandbox(had.SandboxID).Close(t.Context())
		if a := next.asks(t, "s2"); s.fakeSandbox(a.SandboxID).spec.Workspace != files {
			t.Errorf("it goes on with %q, want %q", s.fakeSandbox(a.SandboxID).spec.Workspace, files)
		}
	})
}

func TestSandboxesThatStandReadyAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		warm lease.Warm
		want int
	}{
		"two for each spec":  {plenty, 4},
		"by their number":    {lease.Warm{Sandboxes: 3, MemoryMB: 1000}, 3},
		"by their memory":    {lease.Warm{Sandboxes: 10, MemoryMB: 64}, 2},
		"none is none":       {lease.Warm{Sandboxes: 0, MemoryMB: 1000}, 0},
		"no memory is none":  {lease.Warm{Sandboxes: 10, MemoryMB: 31}, 0},
		"just one, for both": {lease.Warm{Sandboxes: 1, MemoryMB: 32}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStock(t, c.warm)
				s.asks(t, "s1")
				s.judge.says(allow(func(d *bailiff.Decision) { d.Backend.PIDs = 9 }))
				s.asks(t, "s2")
				if got := s.ready(); len(got) != c.want {
					t.Errorf("%q stand ready, want %d", got, c.want)
				}
				s.Warm(lease.Warm{})
				s.wantReady(t)
			})
		})
	}
}

func TestWhatStandsReadyForNobodyGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		happens func(*testing.T, stock)
		want    []string // that stand ready then
	}{
		"when nobody asks":       {func(*testing.T, stock) { time.Sleep(targetFor + time.Second) }, nil},
		"not before":             {func(*testing.T, stock) { time.Sleep(targetFor - time.Second) }, []string{"sandbox-2", "sandbox-3"}},
		"with a reload":          {func(t *testing.T, s stock) { s.Rejudge(t.Context()) }, nil},
		"when operators tidy up": {func(t *testing.T, s stock) { _, _ = s.Reap(t.Context()) }, nil},
		"at the end":             {func(t *testing.T, s stock) { s.bench.Close(t.Context()) }, nil},
		"when it broke": {func(t *testing.T, s stock) {
			_ = s.fakeSandbox("sandbox-2").Close(t.Context())
			_, _ = s.Sweep(t.Context())
		},
			[]string{"sandbox-3", "sandbox-4"}},
		"but not in a sweep": {func(t *testing.T, s stock) { _, _ = s.Sweep(t.Context()) }, []string{"sandbox-2", "sandbox-3"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStock(t, plenty)
				s.asks(t, "s1")
				if _, err := s.EndSession(t.Context(), "hermes", "s1"); err != nil {
					t.Error(err)
				}
				c.happens(t, s)
				s.wantReady(t, c.want...)
				var want []string
				for _, id := range c.want {
					want = append(want, s.fakeSandbox(id).spec.Workspace)
				}
				s.wantAfterSweep(t, s.bench, want...)
				for _, r := range s.bench.fakeBackend.sandboxes() {
					if holds := spares(t, s.bench, r.id); holds != slices.Contains(c.want, r.id) {
						t.Errorf("a sweep spares %s: %v", r.id, holds)
					}
				}
			})
		})
	}
}

// The files of one that may be a later run's stay with it, until a sweep removes both.
func TestWhatStoodReadyAndMayBeALaterRunsKeepsItsFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		s.asks(t, "s1")
		s.bench.fakeBackend.unclosed = backends.ErrOwnerUnknown
		s.Rejudge(t.Context())
		s.wantReady(t)
		left, _ := s.Workspaces(t.Context(), "")
		for _, id := range []string{"sandbox-2", "sandbox-3"} {
			if !slices.Contains(left, s.fakeSandbox(id).spec.Workspace) {
				t.Errorf("of the files %q those of %s are gone", left, id)
			}
		}
		s.wantAfterSweep(t, s.bench, s.fakeSandbox("sandbox-1").spec.Workspace)
	})
}

func TestWhatBrokeIsNotHandedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		s.asks(t, "s1")
		_ = s.fakeSandbox("sandbox-2").Close(t.Context())
		if a := s.asks(t, "s2"); a.SandboxID != "sandbox-3" || a.Message != "" {
			t.Errorf("answer is %+v", a)
		}
	})
}

func TestNothingIsMadeReadyWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		slow := &slowly{keepingBackend: s.keepingBackend, opening: make(chan backends.Spec), open: make(chan struct{})}
		s.config.Backends["docker"] = slow
		var sessions sync.WaitGroup
		for n := range 3 {
			req := request("true")
			req.Session.ID = fmt.Sprint("s", n)
			sessions.Go(func() { s.Execute(context.Background(), req, nil) })
		}
		for range 3 {
			if spec := <-slow.opening; spec.Session == "" {
				t.Error("one that stands ready is made first")
			}
		}
		for range 3 {
			synctest.Wait()
			select {
			case <-slow.opening:
				t.Error("one is made while sessions wait")
			default:
			}
			slow.open <- struct{}{}
		}
		sessions.Wait()
		for range readyEach {
			if spec := <-slow.opening; spec.Session != "" {
				t.Error("one more is made for a session")
			}
			slow.open <- struct{}{}
		}
		synctest.Wait()
	})
}

// slowly makes sandboxes when it is let.
type slowly struct {
	*keepingBackend
	opening chan backends.Spec
	open    chan struct{}
}

func (s *slowly) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	s.opening <- spec
	<-s.open
	return s.keepingBackend.Open(ctx, spec)
}

func TestABackendThatMakesNoneIsNotAskedAgainAndAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		broken := &brittle{keepingBackend: s.keepingBackend}
		s.config.Backends["docker"] = broken
		s.asks(t, "s1")
		if broken.spares != 1 {
			t.Errorf("it was asked %d times", broken.spares)
		}
		s.asks(t, "s2")
		if broken.spares != 2 {
			t.Errorf("with another request it was asked %d times", broken.spares)
		}
	})
}

// brittle makes sandboxes for sessions only.
type brittle struct {
	*keepingBackend
	spares int
}

func (b *brittle) Open(ctx context.Context, spec backends.Spec) (backends.Sandbox, error) {
	if spec.Session == "" {
		b.spares++
		return nil, errBoom
	}
	return b.keepingBackend.Open(ctx, spec)
}

func TestABackendWhoseSandboxesGoWithTheirOpenerKeepsNoneReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty)
		s.config.Backends["docker"] = struct{ backends.Backend }{s.keepingBackend}
		s.asks(t, "s1")
		s.wantReady(t)
	})
}

func TestManyAtOnceGetASandboxEachAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	s := newStock(t, plenty)
	var sessions sync.WaitGroup
	for n := range 100 {
		sessions.Go(func() {
			req := request("true")
			req.Session.ID = fmt.Sprint("s", n)
			if a := s.Execute(t.Context(), req, nil); a.Status != bailiff.Completed {
				t.Errorf("answer is %+v", a)
			}
			if n%3 == 0 {
				if _, err := s.EndSession(t.Context(), "hermes", req.Session.ID); err != nil {
					t.Error(err)
				}
			}
			if n%10 == 0 {
				s.Rejudge(t.Context())
			}
			if _, err := s.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	sessions.Wait()
	for _, r := range s.bench.fakeBackend.sandboxes() {
		if len(r.cmds) > 1 {
			t.Errorf("%d commands ran in %s", len(r.cmds), r.id)
		}
	}
	s.bench.Close(t.Context())
	for _, r := range s.bench.fakeBackend.sandboxes() {
		if r.stands() {
			t.Errorf("%s stands still", r.id)
		}
	}
	s.wantAfterSweep(t, s.bench)
}
