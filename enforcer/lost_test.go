package enforcer

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// wantOnce sees that the next answer says something, and the one after that does not.
func wantOnce(t *testing.T, b *bench, req bailiff.Request, says string) {
	t.Helper()
	if a := b.Execute(t.Context(), req, nil); a.Status != bailiff.Completed || !strings.Contains(a.Message, says) {
		t.Errorf("answer is %+v, want it to say %q", a, says)
	}
	if a := b.Execute(t.Context(), req, nil); strings.Contains(a.Message, says) {
		t.Errorf("it says so again: %q", a.Message)
	}
}

func TestASessionIsToldWhyItsProcessesWentWithTheirSandbox(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		goes func(*testing.T, *bench)
		why  string
	}{
		"removed by an operator": {func(_ *testing.T, b *bench) { b.RemoveSandbox("sandbox-1") }, "An operator removed the sandbox."},
		"failed": {func(t *testing.T, b *bench) { _ = b.fakeBackend.sandboxes()[0].Close(t.Context()) },
			"lost with its sandbox"},
		"too old": {func(*testing.T, *bench) { time.Sleep(2 * day) }, "greatest age"},
		"not allowed any more": {func(t *testing.T, b *bench) {
			b.judge.says(bailiff.Denial("house", "No."))
			b.Rejudge(t.Context())
			synctest.Wait()
			b.judge.says(allow())
		}, "no longer allow the sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				over, short := b.start(t, inBackground("short"))
				short.ends(backends.Exit{Code: 3})
				b.ended(t, over)
				id, _ := b.start(t, inBackground("serve"))
				c.goes(t, b)
				synctest.Wait()
				other := request("true")
				other.Session.UserID = "43"
				if a := b.Execute(t.Context(), other, nil); strings.Contains(a.Message, id) {
					t.Errorf("another user was told %q", a.Message)
				}
				wantOnce(t, b, request("true"), "Background process "+id+" is gone: ")
				a := b.Execute(t.Context(), about("poll", id), nil)
				if a.Status != bailiff.Failed || a.Code != bailiff.CodeProcess || !strings.Contains(a.Message, c.why) {
					t.Errorf("polling it was answered %+v", a)
				}
				if a := b.Execute(t.Context(), about("log", over), nil); !strings.Contains(a.Message,
					"had ended (completed, exit code 3)") {
					t.Errorf("asking for the log of the one that had ended was answered %+v", a)
				}
				if _, err := b.EndSession(t.Context(), "hermes", "s1"); err != nil {
					t.Fatal(err)
				}
				if a := b.Execute(t.Context(), about("poll", id), nil); !strings.Contains(a.Message, "has no background process") {
					t.Errorf("after its end the session is answered %+v", a)
				}
				b.Close(t.Context())
			})
		})
	}
}

func TestASessionIsToldWhatANewStartOfTheSidecarCostIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(*bench, *job)
		why       string
	}{
		"its sandbox": {func(b *bench, _ *job) { _ = b.fakeBackend.sandboxes()[0].Close(context.Background()) },
			"could not be gone on with"},
		"its process too": {func(_ *bench, j *job) { _ = j.Forget(context.Background()) }, "was lost while"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			asScripts(b)
			wantRun(t, b, code("a = 1"))
			id, job := b.start(t, inBackground("serve"))
			b.kill()
			c.meanwhile(b, job)
			next := b.restarted(t)
			asScripts(next)
			if a := next.Execute(t.Context(), request("true"), nil); !strings.Contains(a.Message, id) ||
				!strings.Contains(a.Message, c.why) {
				t.Errorf("answer is %+v", a)
			}
			wantOnce(t, next, code("b = 2"), "their interpreter was ended, since the sidecar was started anew")
		})
	}
}

func TestASessionIsToldThatItsVariablesWentWithASandboxThatFailed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	asScripts(b)
	wantRun(t, b, code("a = 1"))
	_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
	wantOnce(t, b, code("b = 2"), "their interpreter was ended, since its sandbox failed")
}

func TestASessionGoesOnInItsFolderAfterItsSandboxFailedIfTheFolderStays(t *testing.T) {
	t.Parallel()
	for folder, stays := range map[string]bool{"/workspace": true, "/workspace/deep": true, "/workspaces": false, "/tmp/x": false} {
		t.Run(folder, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, func(b *bench) {
					b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
						return backends.Exit{Workdir: folder}, nil
					}
				})
				b.config.Backends["docker"] = newKeepingBackend(b.fakeBackend)
				wantRun(t, b, request("cd there"))
				_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
				b.fakeBackend.fault = errBoom
				if a := b.Execute(t.Context(), request("true"), nil); a.Status != bailiff.Unavailable {
					t.Errorf("while no sandbox is to be had, the answer is %+v", a)
				}
				synctest.Wait()
				b.fakeBackend.fault = nil
				wantOnce(t, b, request("true"), "was replaced")
				want := ""
				if stays {
					want = folder
				}
				if at := b.fakeBackend.sandboxes()[1].cmds[0].Workdir; at != want {
					t.Errorf("it goes on in %q, want %q", at, want)
				}
				b.Close(t.Context())
			})
		})
	}
}

func TestAFolderGoesWithTheFilesOfASandboxThatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(b *bench) {
			b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
				return backends.Exit{Workdir: "/workspace/deep"}, nil
			}
		})
		b.config.Backends["docker"] = newKeepingBackend(b.fakeBackend)
		wantRun(t, b, request("cd deep"))
		_ = b.fakeBackend.sandboxes()[0].Close(t.Context())
		_, _ = b.Sweep(t.Context())
		time.Sleep(2 * time.Hour)
		_, _ = b.Sweep(t.Context())
		if n := kept(b.leases, "workdirs"); n != 0 {
			t.Errorf("%d are remembered", n)
		}
		b.Close(t.Context())
	})
}

func TestACommandWhoseSandboxIsLostUnderItIsAnsweredInPlainWords(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fakeBackend.run = func(context.Context, backends.Command, func([]byte)) (backends.Exit, error) {
		_ = b.fakeBackend.sandboxes()[0].Close(context.Background())
		return backends.Exit{}, errBoom
	}
	a := b.Execute(t.Context(), request("true"), nil)
	if a.Code != bailiff.CodeOutcomeUnknown || !strings.Contains(a.Message, "look at what it did before repeating it") ||
		strings.Contains(a.Message, "boom") {
		t.Errorf("answer is %+v", a)
	}
}
