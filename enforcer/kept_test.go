package enforcer

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/ledger"
)

// day is an age that no sandbox of these tests reaches by itself.
const day = 24 * time.Hour

func persistent(d *bailiff.Decision) { d.Backend.Persistent = true }

// library is a bench whose sandboxes have files that persist.
func library(t *testing.T, changes ...func(*bench)) (*bench, *keepingBackend) {
	t.Helper()
	b := newBench(t, append([]func(*bench){func(b *bench) { b.judge.decision = allow(persistent) }}, changes...)...)
	k := newKeepingBackend(b.fakeBackend)
	b.config.Backends["docker"] = k
	return b, k
}

// restarted is the sidecar that comes after another, on the same state and engine.
func restarted(t *testing.T, of *bench, k *keepingBackend) *bench {
	t.Helper()
	b := newBench(t, func(b *bench) { b.kept, b.judge = of.kept, of.judge })
	k.fakeBackend = b.fakeBackend
	b.config.Backends["docker"] = k
	return b
}

func TestPersistentFilesStayHoweverTheirSandboxGoes(t *testing.T) {
	t.Parallel()
	for name, goes := range map[string]func(*testing.T, *bench, *keepingBackend) *bench{
		"idle":    func(_ *testing.T, b *bench, _ *keepingBackend) *bench { time.Sleep(2 * time.Hour); return b },
		"too old": func(_ *testing.T, b *bench, _ *keepingBackend) *bench { time.Sleep(2 * day); return b },
		"removed by an operator": func(_ *testing.T, b *bench, _ *keepingBackend) *bench {
			b.RemoveSandbox("sandbox-1")
			return b
		},
		"reaped": func(t *testing.T, b *bench, _ *keepingBackend) *bench { _, _ = b.Reap(t.Context()); return b },
		"failed": func(t *testing.T, b *bench, _ *keepingBackend) *bench {
			_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
			return b
		},
		"replaced by another": func(t *testing.T, b *bench, _ *keepingBackend) *bench {
			b.judge.says(allow(persistent, specs["pids"]))
			wantRun(t, b, request("true"))
			b.RemoveSandbox("sandbox-2")
			return b
		},
		"not allowed any more": func(t *testing.T, b *bench, _ *keepingBackend) *bench {
			b.judge.says(bailiff.Denial("house", "No."))
			b.Rejudge(t.Context())
			time.Sleep(2 * day)
			b.judge.says(allow(persistent))
			return b
		},
		"frozen": func(t *testing.T, b *bench, _ *keepingBackend) *bench {
			_ = b.Halt(t.Context(), func(bailiff.Session) bool { return true })
			time.Sleep(2 * day)
			return b
		},
		"with its sidecar": func(t *testing.T, b *bench,
			k *keepingBackend) *bench {
			b.Close(t.Context())
			return restarted(t, b, k)
		},
		"with a sidecar that is killed": restarted,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, k := library(t)
				wantRun(t, b, request("true"))
				workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
				b = goes(t, b, k)
				synctest.Wait()
				k.wantAfterSweep(t, b, workspace)
				before := len(b.fakeBackend.sandboxes())
				wantRun(t, b, request("true"))
				if sandboxes := b.fakeBackend.sandboxes(); len(sandboxes) != before+1 || sandboxes[before].spec.Workspace != workspace {
					t.Errorf("the next of %d sandboxes works on other files", len(sandboxes))
				}
			})
		})
	}
}

func TestTheEndOfASessionRemovesItsPersistentFilesAndNobodyElses(t *testing.T) {
	t.Parallel()
	end := func(caller, session string) func(*testing.T, *bench, *keepingBackend) *bench {
		return func(t *testing.T, b *bench, _ *keepingBackend) *bench {
			if _, err := b.EndSession(t.Context(), caller, session); err != nil {
				t.Error(err)
			}
			return b
		}
	}
	user := func(d *bailiff.Decision) { d.Backend.Scope = "user" }
	for name, c := range map[string]struct {
		decision bailiff.Decision
		then     func(*testing.T, *bench, *keepingBackend) *bench
		stay     bool
	}{
		"while its sandbox is there": {allow(persistent), end("hermes", "s1"), false},
		"long after its sandbox went": {allow(persistent), func(t *testing.T, b *bench, k *keepingBackend) *bench {
			time.Sleep(2 * day)
			return end("hermes", "s1")(t, b, k)
		}, false},
		"after a restart": {allow(persistent), func(t *testing.T, b *bench, k *keepingBackend) *bench {
			b.Close(t.Context())
			return end("hermes", "s1")(t, restarted(t, b, k), k)
		}, false},
		"of another session":            {allow(persistent), end("hermes", "s2"), true},
		"of another listener's session": {allow(persistent), end("codex", "s1"), true},
		"of one of the user's":          {allow(persistent, user), end("hermes", "s1"), true},
		"of one of the user's, later on": {allow(persistent, user), func(t *testing.T, b *bench, k *keepingBackend) *bench {
			time.Sleep(2 * day)
			return end("hermes", "s1")(t, b, k)
		}, true},
		"that an operator froze": {allow(persistent), func(t *testing.T, b *bench, k *keepingBackend) *bench {
			_ = b.Halt(t.Context(), func(bailiff.Session) bool { return true })
			return end("hermes", "s1")(t, b, k)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, k := library(t, func(b *bench) { b.judge.decision = c.decision })
				wantRun(t, b, request("true"))
				workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
				b = c.then(t, b, k)
				got, _ := k.Workspaces(t.Context(), "")
				if stayed := len(got) == 1; stayed != c.stay {
					t.Errorf("the files stayed: %v, want %v", stayed, c.stay)
				}
				if _, known := b.kept.all["docker-"+workspace]; known != c.stay {
					t.Errorf("they are remembered: %v, want %v", known, c.stay)
				}
			})
		})
	}
}

func TestPersistentFilesGoAfterThirtyDaysWithoutUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := library(t)
		wantRun(t, b, request("true"))
		workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
		for range 3 {
			time.Sleep(29 * day)
			k.wantAfterSweep(t, b, workspace)
			wantRun(t, b, request("true"))
		}
		time.Sleep(30*day - time.Hour)
		k.wantAfterSweep(t, b, workspace)
		time.Sleep(2 * day)
		k.wantAfterSweep(t, b)
		if len(b.kept.all) != 0 {
			t.Errorf("remembered is %v", b.kept.all)
		}
	})
}

func TestARecordOfFilesThatAreGoneGoesToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := library(t)
		wantRun(t, b, request("true"))
		time.Sleep(day)
		clear(k.holds)
		time.Sleep(31 * day)
		k.wantAfterSweep(t, b)
		if len(b.kept.all) != 0 {
			t.Errorf("remembered is %v", b.kept.all)
		}
	})
}

func TestFilesThatPersistNoLongerGoWithTheirSandbox(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := library(t)
		wantRun(t, b, request("true"))
		b.judge.says(allow())
		b.Rejudge(t.Context())
		time.Sleep(2 * time.Hour)
		if got, _ := k.Workspaces(t.Context(), ""); len(got) != 0 || len(b.kept.all) != 0 {
			t.Errorf("there are %v, remembered is %v", got, b.kept.all)
		}
	})
}

func TestARequestForItselfLeavesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, k := library(t, func(b *bench) {
			b.judge.decision = allow(persistent, func(d *bailiff.Decision) { d.Backend.Scope = "request" })
		})
		wantRun(t, b, request("true"))
		if len(b.kept.all) != 0 {
			t.Errorf("remembered is %v", b.kept.all)
		}
		k.wantAfterSweep(t, b)
	})
}

func TestNothingRunsOnFilesThatAreToPersistAndCannotBeRemembered(t *testing.T) {
	t.Parallel()
	b, _ := library(t)
	b.kept.fault = errBoom
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Status != bailiff.Unavailable || !strings.Contains(a.Message, "remembering that its files stay") || b.fakeBackend.commands() != 0 {
		t.Errorf("answer is %+v after %d commands", a, b.fakeBackend.commands())
	}
}

// What is not known would be swept.
func TestASidecarThatCannotReadWhatIsKeptDoesNotStart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.config
	c.Workspaces = &entriesInMemory[ledger.Workspace]{fault: errBoom}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "which workspaces are kept") {
		t.Errorf("error is %v", err)
	}
}

func TestFilesOfWhichNobodyKnowsWhenTheyWereUsedStayForThirtyDays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(b *bench) { b.kept.all["docker-x"] = ledger.Workspace{Backend: "docker", Name: "x"} })
		k := newKeepingBackend(b.fakeBackend)
		k.holds["x"] = true
		b.config.Backends["docker"] = k
		time.Sleep(29 * day)
		k.wantAfterSweep(t, b, "x")
		time.Sleep(2 * day)
		k.wantAfterSweep(t, b)
	})
}

// Who comes while the files are being removed waits, and what it makes persists.
func TestASessionThatGoesOnWhileItsFilesAreRemovedIsRememberedAnew(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]time.Duration{"in their sandbox": 0, "without one": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, k := library(t)
				wantRun(t, b, request("true"))
				workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
				time.Sleep(idle)
				answered := make(chan bailiff.Answer, 1)
				k.meanwhile = func() {
					k.meanwhile = nil
					go func() { answered <- b.Execute(context.Background(), request("true"), nil) }()
					time.Sleep(time.Second)
				}
				if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
					t.Error(err)
				}
				if a := <-answered; a.Status != bailiff.Completed {
					t.Errorf("answer is %+v", a)
				}
				if _, known := b.kept.all["docker-"+workspace]; !known {
					t.Error("the new files are not remembered")
				}
				k.wantAfterSweep(t, b, workspace)
			})
		})
	}
}

// slow is told of the end of a sandbox, and thinks about it.
type slow struct{ blind }

func (slow) SandboxReaped(string, string) { time.Sleep(time.Second) }

// A request that comes while its session is ended gets none of the session's files,
// also where two sandboxes stand on them.
func TestNobodyFindsTheFilesOfASessionThatWasEnded(t *testing.T) {
	t.Parallel()
	for name, decision := range map[string]bailiff.Decision{"that go with their sandbox": allow(), "that persist": allow(persistent)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, k := library(t, untilStopped, func(b *bench) { b.judge.decision, b.made = decision, slow{} })
				answered := make(chan bailiff.Answer, 2)
				b.fakeBackend.closing = times(2, func() {
					go func() { answered <- b.Execute(context.Background(), request("work"), nil) }()
					time.Sleep(time.Second)
				})
				go b.Execute(context.Background(), request("serve"), nil)
				synctest.Wait()
				other := decision
				other.Backend.PIDs = 7
				b.judge.says(other)
				wantRun(t, b, request("work"))
				if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
					t.Error(err)
				}
				for range 2 {
					if a := <-answered; a.Status != bailiff.Completed {
						t.Errorf("answer is %+v", a)
					}
				}
				if got := strings.Join(k.done, " "); got != "open open remove open" {
					t.Errorf("the files: %s", got)
				}
			})
		})
	}
}

func TestPersistentFilesOfASandboxThatStoodReadyAreFoundByTheNextSidecar(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStock(t, plenty, func(b *bench) { b.judge.decision = allow(persistent) })
		s.asks(t, "s0")
		workspace := s.fakeSandbox(s.asks(t, "s1").SandboxID).spec.Workspace
		s.bench.Close(t.Context())
		b := restarted(t, s.bench, s.keepingBackend)
		b.Warm(plenty)
		wantRun(t, b, request("true"))
		if got := b.fakeBackend.sandboxes()[0].spec.Workspace; got != workspace {
			t.Errorf("it works on %s, want %s", got, workspace)
		}
		if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
			t.Error(err)
		}
		if _, known := b.kept.all["docker-"+workspace]; known || s.holds[workspace] {
			t.Errorf("after its end the files are there: %v, remembered: %v", s.holds[workspace], known)
		}
	})
}

func TestTheEndOfASessionRemovesWhatAFailureLeft(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]lease.Warm{"under the name of its scope": {}, "under the name of one that stood ready": plenty} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStock(t, w)
				s.asks(t, "s0")
				r := s.fakeSandbox(s.asks(t, "s1").SandboxID)
				s.bench.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
					_ = r.Close(context.Background())
					return backends.Exit{}, errBoom
				}
				s.Execute(t.Context(), request("kill -9 1"), nil)
				synctest.Wait()
				if !s.holds[r.spec.Workspace] {
					t.Error("the files went with the sandbox")
				}
				if _, err := s.EndSession(t.Context(), "hermes", "s1"); err != nil {
					t.Error(err)
				}
				if s.holds[r.spec.Workspace] {
					t.Error("the files are still there")
				}
			})
		})
	}
}

// Also one that is on its way out for another reason, before and after it was
// settled that its files stay.
func TestASessionThatEndsWhileItsSandboxGoesLeavesNoFiles(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(*bench, *listening, func()){
		"while it is closed":       func(b *bench, _ *listening, end func()) { b.fakeBackend.closing = times(1, end) },
		"when its files were kept": func(_ *bench, l *listening, end func()) { l.at = times(1, end) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := &listening{at: func() {}}
				b, k := library(t, func(b *bench) { b.made = heard })
				ended, answered := make(chan error, 1), make(chan bailiff.Answer, 1)
				at(b, heard, func() {
					go func() {
						_, err := b.EndSession(context.Background(), "hermes", "s1")
						ended <- err
					}()
					time.Sleep(time.Second)
					go func() { answered <- b.Execute(context.Background(), request("true"), nil) }()
					time.Sleep(time.Second)
				})
				wantRun(t, b, request("true"))
				time.Sleep(2 * time.Hour) // of being idle
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if a := <-answered; a.Status != bailiff.Completed {
					t.Errorf("answer is %+v", a)
				}
				if got := strings.Join(k.done, " "); got != "open remove open" {
					t.Errorf("the files: %s", got)
				}
				if _, known := b.kept.all["docker-"+b.fakeBackend.sandboxes()[0].spec.Workspace]; !known {
					t.Error("the new files are not remembered")
				}
			})
		})
	}
}

// listening does something when it hears of the end of a sandbox.
type listening struct {
	blind
	at func()
}

func (l *listening) SandboxReaped(string, string) { l.at() }

// times is what happens the first so many times.
func times(n int32, do func()) func() {
	var done atomic.Int32
	return func() {
		if done.Add(1) <= n {
			do()
		}
	}
}

// A session's files on one backend are not those on another, though both are named
// after the session.
func TestASessionThatWorkedOnTwoBackendsLeavesFilesOnNeither(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, docker := library(t, func(b *bench) { b.judge.decision = allow() })
		other := newKeepingBackend(b.fakeBackend)
		b.config.Backends["bubblewrap"] = other
		wantRun(t, b, request("true"))
		b.judge.says(allow(func(d *bailiff.Decision) { d.Backend.Name = "bubblewrap" }))
		wantRun(t, b, request("true"))
		if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
			t.Error(err)
		}
		for name, k := range map[string]*keepingBackend{"docker": docker, "bubblewrap": other} {
			if left, _ := k.Workspaces(t.Context(), ""); len(left) > 0 {
				t.Errorf("on %s there are %v", name, left)
			}
		}
	})
}

func TestWorkspacesOfASessionThatEndedAreRemovedSideBySideAndAFewAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var left []ledger.Workspace
		b, k := library(t, func(b *bench) {
			for i := range 2*maxRemoving + 1 {
				w := ledger.Workspace{Backend: "docker", Name: fmt.Sprint("workspace-", i), Caller: "hermes", Session: "s1",
					Used: time.Now()}
				left = append(left, w)
				b.kept.all[w.Key()] = w
			}
		})
		for _, w := range left {
			k.holds[w.Name] = true
		}
		k.meanwhile = func() { time.Sleep(time.Second) }
		began := time.Now()
		if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("%d workspaces that take a second each were removed in %s, want %d at a time", len(left), took, maxRemoving)
		}
		if there, _ := k.Workspaces(t.Context(), ""); len(there) > 0 || kept(b.leases, "all") > 0 {
			t.Errorf("left are %v, and %d leases", there, kept(b.leases, "all"))
		}
	})
}

func TestWhatIsFrozenOnOneBackendStaysThoughItsSessionWorksOnAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, docker := library(t, func(b *bench) { b.judge.decision = allow() })
		b.config.Backends["bubblewrap"] = newKeepingBackend(b.fakeBackend)
		wantRun(t, b, request("true"))
		workspace := b.fakeBackend.sandboxes()[0].spec.Workspace
		if err := b.Halt(t.Context(), func(bailiff.Session) bool { return true }); err != nil {
			t.Error(err)
		}
		b.judge.says(allow(func(d *bailiff.Decision) { d.Backend.Name = "bubblewrap" }))
		wantRun(t, b, request("true"))
		time.Sleep(2 * time.Hour) // of being idle
		docker.wantAfterSweep(t, b, workspace)
	})
}
