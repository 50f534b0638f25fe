package daytona

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// refused opens a sandbox that cannot be had, and wants nothing to be left of it.
func refused(t *testing.T, c *cloud, b *Backend, spec backends.Spec, as error, words string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	opened, err := b.Open(ctx, spec)
	if err == nil {
		t.Errorf("it was opened: %v", opened.Close(context.Background()))
	}
	if !errors.Is(err, as) || !strings.Contains(err.Error(), words) {
		t.Errorf("the fault is %v, want %v with %q", err, as, words)
	}
	if left := c.there(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestNothingIsLeftOfASandboxThatCouldNotBeMade(t *testing.T) {
	for name, c := range map[string]struct {
		mishap mishap
		words  string
	}{
		"its making is refused": {mishap{operation: "createSandbox", code: 400},
			"making a sandbox: Daytona answered 400: made to fail"},
		"its making fails":                 {mishap{operation: "createSandbox", code: 500}, "Daytona answered 500"},
		"nobody says whether it was made":  {mishap{operation: "createSandbox", lose: true}, "reaching Daytona"},
		"it is lost while it starts":       {mishap{operation: "getSandbox", code: 404}, "waiting for the sandbox"},
		"the runner cannot be brought":     {mishap{operation: "UploadFile", code: 507}, "preparing the sandbox"},
		"there is no terminal":             {mishap{operation: "CreatePtySession", code: 500}, "greeting the sandbox"},
		"the terminal cannot be connected": {mishap{operation: "ConnectPtySession", code: 502}, "Daytona answered 502"},
		"the key is refused in the middle": {mishap{operation: "CreateFolder", code: 403}, "set backends.daytona.api_key"},
		"its making would take for ever":   {mishap{operation: "createSandbox", hang: true}, "does not answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			cloud := newCloud(t)
			b := testBackend(t, cloud)
			cloud.inject(c.mishap)
			ctx := t.Context()
			if c.mishap.hang {
				short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
				defer cancel()
				ctx = short
			}
			_, err := b.Open(ctx, testSpec())
			backendtest.Fault(t, err, backends.ErrUnavailable, c.words)
			if left := cloud.there(); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
			if n := cloud.count("createSandbox"); n != 1 {
				t.Errorf("it was to be made %d times", n)
			}
		})
	}
}

func TestASandboxIsMadeThoughDaytonaIsBusy(t *testing.T) {
	c := newCloud(t)
	c.slowly = []string{"pending_build", "building_snapshot", "pulling_snapshot", "starting"}
	c.inject(mishap{operation: "createSandbox", code: 429, after: 1})
	for _, operation := range []string{"createSandbox", "CreatePtySession", "deleteSandbox"} {
		c.inject(mishap{operation: operation, code: 503})
	}
	c.inject(mishap{operation: "getSandbox", code: 500})
	for _, operation := range []string{"CreateFolder", "UploadFile", "SetFilePermissions", "deleteSandbox"} {
		c.inject(mishap{operation: operation, lose: true})
	}
	var steps []string
	ctx := backends.WithSteps(t.Context(), func(what string) { steps = append(steps, what) })
	in, err := testBackend(t, c).Open(ctx, testSpec())
	backendtest.Must(t, err)
	says(t, in, "echo hello", "hello\n")
	backendtest.NoError(t, in.Close(t.Context()))
	if left := c.there(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	want := "making a sandbox at Daytona, waiting for a sandbox at Daytona: creating, waiting for a sandbox at Daytona: pending build, " +
		"waiting for a sandbox at Daytona: building snapshot, waiting for a sandbox at Daytona: pulling snapshot, waiting for a sandbox " +
		"at Daytona: starting"
	if got := strings.Join(steps, ", "); got != want {
		t.Errorf("the steps were %q, want %q", got, want)
	}
}

func TestASandboxThatCannotBecomeOneSaysWhy(t *testing.T) {
	c := newCloud(t)
	c.slowly = []string{"building_snapshot", "build_failed"}
	c.twist = func(dto map[string]any) { dto["errorReason"] = "no such\nimage" }
	refused(t, c, testBackend(t, c), testSpec(), backends.ErrUnavailable, "the sandbox is build_failed: no such image")
}

// lost wants a sandbox to be over by itself, and all that it was made of.
func lost(t *testing.T, c *cloud, in backends.Sandbox) {
	t.Helper()
	select {
	case <-in.Done():
	case <-backendtest.Late(t):
		t.Fatal("the sandbox is not over")
	}
	_, err := in.Run(t.Context(), runner.Shell("echo again"), func([]byte) {})
	if !errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("a command in it ended as %v, want that it was not started", err)
	}
	backendtest.Await(t, "its machine is deleted", func() bool { return c.find(in.ID()) == nil })
	if err := in.Close(t.Context()); err != nil {
		t.Errorf("closing what is lost: %v", err)
	}
}

func TestAStreamThatIsCutInTheMiddleIsTheEndOfTheSandbox(t *testing.T) {
	c := newCloud(t)
	in := backendtest.Open(t, testBackend(t, c), testSpec())
	other := backendtest.Open(t, testBackend(t, c), testSpec())
	heard := make(chan struct{})
	ended := make(chan error)
	go func() {
		cmd := runner.Shell("echo begun; sleep 1000")
		cmd.HeadBytes, cmd.Timeout = 100, time.Hour
		_, err := in.Run(context.Background(), cmd, func([]byte) { close(heard) }) // a second run would close it again
		ended <- err
	}()
	<-heard
	c.find(in.ID()).lines.cut()
	if err := <-ended; err == nil || errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("the command ended as %v, want a fault of the sandbox after its start", err)
	}
	lost(t, c, in)
	says(t, other, "echo fine", "fine\n")
}

func TestASandboxThatDaytonaHasTakenAwayIsOver(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t, c)
	in := backendtest.Open(t, b, testSpec())
	if err := b.api.remove(t.Context(), in.ID()); err != nil { // as it does with what has expired
		t.Fatal(err)
	}
	lost(t, c, in)
	says(t, backendtest.Open(t, b, testSpec()), "echo anew", "anew\n")
}

func TestASandboxWithoutASignOfLifeIsOver(t *testing.T) {
	c := newCloud(t)
	p := newProxy(t, c)
	b := testBackend(t, c)
	b.life = 50 * time.Millisecond
	in := backendtest.Open(t, b, testSpec())
	says(t, in, "sleep 0.2; echo fine", "fine\n")
	p.hold()
	select {
	case <-in.Done():
	case <-backendtest.Late(t):
		t.Error("the sandbox is not over")
	}
	p.release()
	lost(t, c, in)
}

func TestASlowStreamLosesNothing(t *testing.T) {
	c := newCloud(t)
	p := newProxy(t, c)
	in := backendtest.Open(t, testBackend(t, c), testSpec())
	p.slow(64<<10, 8*time.Millisecond)
	cmd := runner.Shell("head -c 6000000 /dev/zero | tr '\\0' x")
	cmd.HeadBytes, cmd.Timeout = 10<<20, time.Minute
	n := 0
	exit, err := in.Run(t.Context(), cmd, func(p []byte) { n += len(p) })
	if err != nil || exit.Code != 0 || n != 6000000 {
		t.Errorf("%d bytes came, and it ended as %+v, %v", n, exit, err)
	}
}

func TestASandboxIsClosedThoughItsCallerHasGone(t *testing.T) {
	c := newCloud(t)
	in := backendtest.Open(t, testBackend(t, c), testSpec())
	gone, leave := context.WithCancel(t.Context())
	leave()
	backendtest.NoError(t, in.Close(gone))
	if left := c.there(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestARemovalThatFailedCanBeTriedAgain(t *testing.T) {
	c := newCloud(t)
	in := backendtest.Open(t, testBackend(t, c), testSpec())
	c.inject(mishap{operation: "deleteSandbox", code: 400, times: 2})
	backendtest.Await(t, "it is removed", func() bool { return in.Close(t.Context()) == nil })
	if left := c.there(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
