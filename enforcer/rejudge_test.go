package enforcer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// specs are the parts of a decision that a sandbox is made by, each in two ways.
var specs = map[string]func(*bailiff.Decision){
	"image":     func(d *bailiff.Decision) { d.Backend.Image = "other" },
	"network":   func(d *bailiff.Decision) { d.Backend.Network = "full" },
	"cpus":      func(d *bailiff.Decision) { d.Backend.CPUs = 0.5 },
	"memory_mb": func(d *bailiff.Decision) { d.Backend.MemoryMB = 7 },
	"disk_mb":   func(d *bailiff.Decision) { d.Backend.DiskMB = 7 },
	"pids":      func(d *bailiff.Decision) { d.Backend.PIDs = 7 },
	"read_only": func(d *bailiff.Decision) { d.Backend.ReadOnly = true },
	"mounts":    func(d *bailiff.Decision) { d.Backend.Mounts = []bailiff.Mount{{Source: "/srv", Target: "/srv"}} },
	"a mount's target": func(d *bailiff.Decision) {
		d.Backend.Mounts = []bailiff.Mount{{Source: "/srv", Target: "/data"}}
	},
	"a mount's being writable": func(d *bailiff.Decision) {
		d.Backend.Mounts = []bailiff.Mount{{Source: "/srv", Target: "/srv", ReadOnly: true}}
	},
	"the user's, no session's": func(d *bailiff.Decision) { d.Backend.Scope = "user" },
}

func TestASandboxIsNeverUsedForAnotherSpec(t *testing.T) {
	t.Parallel()
	for of, one := range specs {
		for to, other := range specs {
			if of == to {
				continue
			}
			t.Run(of+" to "+to, func(t *testing.T) {
				b := newBench(t, func(b *bench) { b.judge.decision = allow(one) })
				wantRun(t, b, request("true"))
				b.judge.says(allow(other))
				wantRun(t, b, request("true"))
				if n := len(b.fakeBackend.sandboxes()); n != 2 {
					t.Errorf("%d sandboxes were made, want two", n)
				}
			})
		}
	}
}

func TestAReloadTakesAwayWhatThePoliciesNoLongerOrder(t *testing.T) {
	t.Parallel()
	denied := bailiff.Denial("house", "No.")
	rules := map[string]struct {
		next ruling
		goes bool
	}{
		"the same": {func(bailiff.Request) bailiff.Decision { return allow() }, false},
		"another timeout": {func(bailiff.Request) bailiff.Decision {
			return allow(func(d *bailiff.Decision) { d.Limits.TimeoutSeconds = 1 })
		}, false},
		"a question about it": {func(bailiff.Request) bailiff.Decision { return allow(ask) }, false},
		"another command denied": {func(r bailiff.Request) bailiff.Decision { return when(r.Args.Command == ":", allow(), denied) },
			false},
		"the backend, to who wants": {func(r bailiff.Request) bailiff.Decision {
			return when(r.Backend == "docker", allow(),
				onLocal())
		}, false},
		"everything denied": {func(bailiff.Request) bailiff.Decision { return denied }, true},
		"the session denied": {func(r bailiff.Request) bailiff.Decision { return when(r.Session.ID == "s1", denied, allow()) },
			true},
		"another session denied": {func(r bailiff.Request) bailiff.Decision { return when(r.Session.ID == "s2", denied, allow()) },
			false},
		"groups denied, it was one": {func(r bailiff.Request) bailiff.Decision {
			return when(r.Session.ChatType == "group", denied,
				allow())
		}, true},
		"another backend": {func(bailiff.Request) bailiff.Decision { return onLocal() }, true},
		"a sandbox for each": {func(bailiff.Request) bailiff.Decision {
			return allow(func(d *bailiff.Decision) { d.Backend.Scope = "request" })
		}, true},
	}
	for name, part := range specs {
		rules["another "+name] = struct {
			next ruling
			goes bool
		}{func(bailiff.Request) bailiff.Decision { return allow(part) }, true}
	}
	for name, c := range rules {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				req := request("true")
				req.Session.Platform, req.Session.ChatType = "cli", "group"
				wantRun(t, b, req)
				b.config.Decider = c.next
				b.Rejudge(t.Context())
				synctest.Wait()
				if gone := isClosed(b.fakeBackend.sandboxes()[0].done); gone != c.goes {
					t.Errorf("it is gone: %v, want %v", gone, c.goes)
				}
			})
		})
	}
}

func onLocal() bailiff.Decision {
	return allow(func(d *bailiff.Decision) { d.Backend.Name = "local" })
}

func when(is bool, then, otherwise bailiff.Decision) bailiff.Decision {
	if is {
		return then
	}
	return otherwise
}

func TestAUsersSandboxGoesWhenOneOfItsSessionsIsDenied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		user := allow(func(d *bailiff.Decision) { d.Backend.Scope = "user" })
		b := newBench(t, func(b *bench) { b.judge.decision = user })
		for _, session := range []string{"s1", "s2", "s3"} {
			wantRun(t, b, by("hermes", "42", session))
		}
		wantRun(t, b, by("hermes", "43", "s2"))
		b.config.Decider = ruling(func(r bailiff.Request) bailiff.Decision {
			return when(r.Session.ID == "s2" && r.Session.UserID == "42", bailiff.Denial("house", "No."), user)
		})
		b.Rejudge(t.Context())
		wantGone(t, b, 0)
		wantThere(t, b, 1)
	})
}

func TestASandboxOfMoreSessionsThanAreRememberedGoesAtAReload(t *testing.T) {
	t.Parallel()
	for name, user := range map[string]func(i int) string{
		"by their number": func(i int) string { return fmt.Sprint(i) },
		"by their size":   func(i int) string { return strings.Repeat("x", 1<<20/10) + fmt.Sprint(i) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(b *bench) { b.judge.decision.Backend.Scope = "user" })
				for i := range maxSessions - 1 {
					req := request("true")
					req.Session.ChatID = user(i)
					wantRun(t, b, req)
				}
				b.Rejudge(t.Context())
				synctest.Wait()
				if remembered := !isClosed(b.fakeBackend.sandboxes()[0].done); remembered != (name == "by their number") {
					t.Errorf("all were remembered: %v", remembered)
				}
				wantRun(t, b, by("hermes", "42", "one more"))
				b.Rejudge(t.Context())
				wantGone(t, b, 0)
			})
		})
	}
}

func TestWhatRunsIsStoppedWhenAReloadTakesItsSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, untilStopped)
		answered := make(chan bailiff.Answer)
		go func() { answered <- b.Execute(context.Background(), request("serve"), nil) }()
		synctest.Wait()
		b.judge.says(bailiff.Denial("house", "No."))
		b.Rejudge(t.Context())
		if a := <-answered; a.Status != bailiff.Interrupted ||
			!strings.HasPrefix(a.Message, "The policies that are in force now no longer allow the sandbox") {
			t.Errorf("answer is %+v", a)
		}
		wantGone(t, b, 0)
	})
}

// slowRegistry knows an image after a while, as one that is pulled.
type slowRegistry struct {
	*fakeBackend
	asked, known chan struct{}
}

func (r *slowRegistry) Resolve(context.Context, string) (string, error) {
	r.asked <- struct{}{}
	<-r.known
	return "pinned", nil
}

func TestWhoWasJudgedBeforeAReloadAndComesLaterStartsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		r := &slowRegistry{b.fakeBackend, make(chan struct{}), make(chan struct{})}
		b.config.Backends["docker"] = r
		b.fakeBackend.run = func(ctx context.Context, _ backends.Command, _ func([]byte)) (backends.Exit, error) {
			if ctx.Err() == nil {
				t.Error("it was started")
			}
			return backends.Exit{}, fmt.Errorf("%w: %w", backends.ErrNotStarted, context.Cause(ctx))
		}
		answered := make(chan bailiff.Answer)
		go func() { answered <- b.Execute(context.Background(), request("true"), nil) }()
		<-r.asked
		b.judge.says(bailiff.Denial("house", "No."))
		b.Rejudge(t.Context())
		close(r.known)
		if a := <-answered; a.Status != bailiff.Interrupted || !strings.Contains(a.Message, "no longer allow the sandbox") {
			t.Errorf("answer is %+v", a)
		}
		wantGone(t, b, 0)
	})
}

func TestAnImageThatMeansAnotherOneNowIsAnotherSpec(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*registry)
		goes   bool
	}{
		"the same":                {func(*registry) {}, false},
		"another":                 {func(r *registry) { r.means = "2" }, true},
		"nobody knows what it is": {func(r *registry) { r.fault = errBoom }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				r := &registry{fakeBackend: b.fakeBackend}
				b.config.Backends["docker"] = r
				wantRun(t, b, request("true"))
				wantRun(t, b, by("hermes", "42", "s2"))
				time.Sleep(2 * pinTime)
				c.change(r)
				asked := r.asked
				b.Rejudge(t.Context())
				synctest.Wait()
				if n := r.asked - asked; n != 1 {
					t.Errorf("the image was asked about %d times for two sandboxes, want once", n)
				}
				if gone := isClosed(b.fakeBackend.sandboxes()[0].done); gone != c.goes {
					t.Errorf("it is gone: %v, want %v", gone, c.goes)
				}
			})
		})
	}
}

func TestTheFilesOfASandboxThatAReloadTookAreFoundAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ages(600, 0))
		k := newKeepingBackend(b.fakeBackend)
		b.config.Backends["docker"] = k
		wantRun(t, b, request("true"))
		b.judge.says(allow(specs["memory_mb"], func(d *bailiff.Decision) { d.Backend.IdleSeconds = 600 }))
		b.Rejudge(t.Context())
		wantGone(t, b, 0)
		workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
		time.Sleep(599 * time.Second)
		k.wantAfterSweep(t, b, workspace)
		wantRun(t, b, request("true"))
		if got := b.fakeBackend.sandboxes()[1].spec.Workspace; got != workspace {
			t.Errorf("it works on %s, want %s", got, workspace)
		}
		b.judge.says(bailiff.Denial("house", "No."))
		b.Rejudge(t.Context())
		wantGone(t, b, 1)
		time.Sleep(601 * time.Second)
		k.wantAfterSweep(t, b)
	})
}

func TestAReloadsAgesHoldForWhatIsLive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		idle, most int
		stays      time.Duration
	}{
		"idle for a shorter time": {600, 0, 600 * time.Second},
		"idle for a longer time":  {7200, 0, 7200 * time.Second},
		"at most":                 {3600, 600, 600 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, ages(3600, 0))
				wantRun(t, b, request("true"))
				time.Sleep(time.Minute)
				ages(c.idle, c.most)(b)
				b.Rejudge(t.Context())
				time.Sleep(c.stays - time.Minute - time.Second)
				wantThere(t, b, 0)
				time.Sleep(time.Second)
				wantGone(t, b, 0)
			})
		})
	}
}

func TestAReviewThatIsBrokenOffTakesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wantRun(t, b, request("true"))
	b.judge.says(bailiff.Denial("house", "No."))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.Rejudge(ctx)
	if n := len(b.Sandboxes()); n != 1 {
		t.Errorf("%d sandboxes are left", n)
	}
}

// resident lives in a sandbox, and does as it is told, unless it cannot be killed.
type resident struct {
	may    bool
	fault  error
	reason string // why it was killed
}

func (*resident) Identity() (string, bailiff.Session, bool) { return "p1", bailiff.Session{}, false }
func (l *resident) Running() bool                           { return l.reason == "" }
func (l *resident) MayStart(context.Context) bool           { return l.may }
func (l *resident) Kill(_ context.Context, reason string) error {
	if l.fault == nil {
		l.reason = reason
	}
	return l.fault
}

func TestAReloadStopsTheProcessesThatThePoliciesNoLongerAllow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resident      resident
		stopped, goes bool
	}{
		"one that is allowed":           {resident{may: true}, false, false},
		"one that is not":               {resident{}, true, false},
		"one that does not end":         {resident{fault: errBoom}, false, true},
		"one that has ended and is not": {resident{reason: "It was bored"}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				wantRun(t, b, request("true"))
				h, err := b.leases.Acquire(t.Context(), b.leases.SpecOf(request("true"), allow()))
				must(t, err)
				h.Lease().Occupy(&c.resident)
				h.Release()
				before := c.resident.reason
				b.Rejudge(t.Context())
				synctest.Wait()
				if gone := isClosed(b.fakeBackend.sandboxes()[0].done); gone != c.goes || (c.resident.reason != "") != c.stopped {
					t.Errorf("the sandbox is gone: %v, want %v; the process was stopped: %q, want %v", gone, c.goes, c.resident.reason,
						c.stopped)
				}
				if before != "" && c.resident.reason != before {
					t.Error("it was stopped twice")
				}
			})
		})
	}
}
