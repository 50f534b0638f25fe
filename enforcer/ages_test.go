package enforcer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// ages are for how long a sandbox may stay.
func ages(idle, most int) func(*bench) {
	return func(b *bench) {
		b.judge.decision = allow(func(d *bailiff.Decision) { d.Backend.IdleSeconds, d.Backend.MaxSeconds = idle, most })
	}
}

// untilStopped runs each command until it is stopped, except "work".
func untilStopped(b *bench) {
	b.fakeBackend.run = func(ctx context.Context, cmd backends.Command, _ func([]byte)) (backends.Exit, error) {
		if slices.Contains(cmd.Argv, "work") {
			return backends.Exit{}, nil
		}
		<-ctx.Done()
		return backends.Exit{Interrupted: true}, nil
	}
}

// forAMinute runs each command for a minute.
func forAMinute(b *bench) {
	b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
		time.Sleep(time.Minute)
		return backends.Exit{}, nil
	}
}

func TestASandboxGoesWhenNobodyUsedItForLongEnough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ages(30, 0), forAMinute)
		for range 3 { // longer than it may be idle, each of them
			wantRun(t, b, request("work"))
			time.Sleep(29 * time.Second)
			wantThere(t, b, 0)
		}
		time.Sleep(time.Second)
		wantGone(t, b, 0)
	})
}

func TestAtItsGreatestAgeASandboxGoesWhateverRunsInIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seconds int
		want    time.Duration
	}{
		"that the policies name": {90, 90 * time.Second},
		"of a day otherwise":     {0, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, ages(3600, c.seconds), untilStopped)
				start := time.Now()
				a := b.Execute(t.Context(), request("serve"), nil)
				if a.Status != bailiff.Interrupted || !strings.Contains(a.Message, "greatest age") ||
					!strings.Contains(a.Message, "was stopped") {
					t.Errorf("answer is %+v", a)
				}
				if took := time.Since(start); took != c.want {
					t.Errorf("it took %s, want %s", took, c.want)
				}
				wantGone(t, b, 0)
				if sandbox := b.fakeBackend.sandboxes()[0]; !sandbox.spec.Expires.Equal(start.Add(c.want)) {
					t.Errorf("its label says %s", sandbox.spec.Expires)
				}
			})
		})
	}
}

func TestUseDoesNotMakeASandboxLastBeyondItsGreatestAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ages(3600, 150), forAMinute)
		wantRun(t, b, request("work"))
		wantRun(t, b, request("work"))
		if a := b.Execute(t.Context(), request("work"), nil); a.Status != bailiff.Completed && a.Status != bailiff.Interrupted {
			t.Errorf("answer is %+v", a)
		}
		wantGone(t, b, 0)
		wantRun(t, b, request("work"))
		wantThere(t, b, 1)
	})
}

func TestWhoWaitsInASandboxThatReachesItsAgeGetsAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, ages(3600, 90), untilStopped)
		b.env["TOKEN"] = "12345678"
		go b.Execute(context.Background(), request("serve"), nil)
		synctest.Wait()
		b.judge.says(allow(forward("TOKEN"), func(d *bailiff.Decision) { d.Backend.MaxSeconds, d.Backend.IdleSeconds = 90, 3600 }))
		alone := request("work")
		alone.Env = []string{"TOKEN"}
		answered := make(chan bailiff.Answer)
		go func() { answered <- b.Execute(context.Background(), alone, nil) }()
		synctest.Wait()
		if a := <-answered; a.Status != bailiff.Completed || a.SandboxID != "sandbox-2" {
			t.Errorf("answer is %+v", a)
		}
	})
}

func TestWhoseSandboxIsTakenAwayIsToldWhy(t *testing.T) {
	t.Parallel()
	everybody := func(bailiff.Session) bool { return true }
	breaks := func(ctx context.Context, _ backends.Command, _ func([]byte)) (backends.Exit, error) {
		<-ctx.Done()
		return backends.Exit{}, errBoom // the sandbox is faster than the command
	}
	for name, c := range map[string]struct {
		take func(*bench)
		says string
	}{
		"removed by an operator": {func(b *bench) { b.RemoveSandbox("sandbox-1") }, "An operator removed the sandbox"},
		"with its session":       {func(b *bench) { _, _ = b.EndSession(context.Background(), "hermes", "s1") }, "The session was ended"},
		"frozen":                 {func(b *bench) { _ = b.Halt(context.Background(), everybody) }, "An operator froze this session"},
	} {
		for how, run := range map[string]func(context.Context, backends.Command, func([]byte)) (backends.Exit, error){"in time": nil,
			"late": breaks} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, untilStopped)
					if run != nil {
						b.fakeBackend.run = run
					}
					answered := make(chan bailiff.Answer)
					go func() { answered <- b.Execute(context.Background(), request("serve"), nil) }()
					synctest.Wait()
					c.take(b)
					if a := <-answered; a.Status != bailiff.Interrupted || a.ExitCode != bailiff.ExitInterrupted ||
						!strings.HasPrefix(a.Message, c.says) {
						t.Errorf("answer is %+v, want %q", a, c.says)
					}
				})
			})
		}
	}
}

// wantThere wants the sandbox that was made as the nth to be there.
func wantThere(t *testing.T, b *bench, n int) {
	t.Helper()
	synctest.Wait()
	if sandboxes := b.fakeBackend.sandboxes(); len(sandboxes) != n+1 || isClosed(sandboxes[n].done) {
		t.Errorf("of %d sandboxes, number %d is gone or not the last one", len(sandboxes), n+1)
	}
}

// wantGone wants it to be gone.
func wantGone(t *testing.T, b *bench, n int) {
	t.Helper()
	synctest.Wait()
	if !isClosed(b.fakeBackend.sandboxes()[n].done) {
		t.Errorf("sandbox number %d is still there", n+1)
	}
}
