package modal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

var (
	unavailable = status.Error(codes.Unavailable, "the service is going down")
	internal    = status.Error(codes.Internal, "something broke")
	full        = status.Error(codes.FailedPrecondition, "the machine is full")
)

// throttled is Modal's answer to who asks too much.
func throttled(t testing.TB, seconds float32) error {
	t.Helper()
	said, err := status.New(codes.ResourceExhausted, "too many requests").WithDetails(
		pb.RPCRetryPolicy_builder{RetryAfterSecs: seconds}.Build())
	backendtest.Must(t, err)
	return said.Err()
}

func TestFaultsThatPassAreWaitedOut(t *testing.T) {
	for _, c := range []struct {
		name, method string
		faults       []fault
	}{
		{"a service that comes back", "SandboxCreateV2", []fault{{err: unavailable}, {err: internal}}},
		{"an answer that is lost", "SandboxCreateV2", []fault{{err: unavailable, after: true}}},
		{"too many requests", "SandboxCreateV2", []fault{{err: throttled(t, 0.2)}, {err: throttled(t, 0.1)}}},
		{"an app that is late", "AppGetOrCreate", []fault{{err: unavailable}}},
		{"a start whose answer is lost", "TaskExecStart", []fault{{}, {err: unavailable, after: true}}},
		{"input whose answer is lost", "TaskExecStdinWrite", []fault{{err: unavailable, after: true}, {err: internal}}},
		{"an upload that breaks off", "TaskExecStdinWriteStream", []fault{{err: unavailable}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cloud := newCloud(t)
			cloud.befall(c.method, c.faults...)
			sb := backendtest.Open(t, testBackend(t), testSpec(t))
			if got := output(t, sb, shell("echo once >>/tmp/count; cat /tmp/count")); got != "once\n" {
				t.Errorf("the command ran as %q", got)
			}
			if cloud.only().id != sb.ID() {
				t.Error("the sandbox is another one")
			}
		})
	}
}

func TestFaultsThatStayAreToldAndLeaveNothing(t *testing.T) {
	many := func(f fault) (all []fault) {
		for range 50 {
			all = append(all, f)
		}
		return all
	}
	for _, c := range []struct {
		name, method string
		faults       []fault
		says         string
	}{
		{"no room", "SandboxCreateV2", many(fault{err: throttled(t, 3600)}), "too many requests"},
		{"no answer to a making that was done", "SandboxCreateV2", many(fault{err: internal, after: true}), "something broke"},
		{"an image that cannot be looked for", "ImageGetOrCreate", many(fault{err: internal}), "bring image"},
		{"a machine that takes no files", "TaskExecStart", many(fault{err: full}), "putting the runner into the sandbox"},
		{"a machine that starts nothing", "TaskExecStart", append([]fault{{}}, many(fault{err: full})...),
			"starting the runner in the sandbox: the machine is full"},
		{"a machine that takes no input", "TaskExecStdinWrite", many(fault{err: status.Error(codes.FailedPrecondition, "no input")}),
			"greeting the sandbox"},
		{"an account that may do nothing", "SandboxCreateV2",
			many(fault{err: status.Error(codes.PermissionDenied, "the workspace is closed")}), "renew what backends.modal.token_id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cloud := newCloud(t)
			cloud.befall(c.method, c.faults...)
			_, err := testBackend(t).Open(t.Context(), testSpec(t))
			if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("opening says %v, want one sentence with %q", err, c.says)
			}
			backendtest.Await(t, "no machine is left", func() bool { return len(cloud.alive()) == 0 })
		})
	}
}

func TestWhatModalSaysIsOneHarmlessLineWithoutTheToken(t *testing.T) {
	hostile := status.Error(codes.PermissionDenied, "a\x1b]0;owned\a\nlevel=INFO "+tokenSecret)
	harmless := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "a]0;owned level=INFO [secret]") || strings.ContainsAny(err.Error(), "\x1b\a\n") {
			t.Errorf("the fault is %q", err)
		}
	}
	cloud := newCloud(t)
	b := testBackend(t)
	cloud.befall("AppGetOrCreate", fault{err: hostile})
	harmless(b.Ready(t.Context()))
	sb := backendtest.Open(t, b, testSpec(t))
	cloud.mu.Lock()
	cloud.cuts = []cut{{1, hostile}}
	cloud.mu.Unlock()
	_, err := sb.Run(t.Context(), shell("echo begun; sleep 1000"), func([]byte) {})
	harmless(err)
}

func TestAMakingThatHangsEndsWithItsCallerAndLeavesNothing(t *testing.T) {
	cloud := newCloud(t)
	cloud.befall("SandboxCreateV2", fault{hang: true, after: true})
	ctx, cancel := context.WithCancel(t.Context())
	opened := backendtest.Opening(ctx, testBackend(t), testSpec(t))
	backendtest.Await(t, "the machine is made", func() bool { return len(cloud.alive()) == 1 })
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) || !errors.Is(err, backends.ErrUnavailable) {
		t.Errorf("opening says %v", err)
	}
	backendtest.Await(t, "the machine is gone", func() bool { return len(cloud.alive()) == 0 })
}

func TestACallThatHangsHoldsUpNobody(t *testing.T) {
	cloud := newCloud(t)
	b := testBackend(t)
	cloud.befall("TaskExecStdinWrite", fault{hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	opened := backendtest.Opening(ctx, b, testSpec(t))
	backendtest.Await(t, "it greets the runner", func() bool { return cloud.called("TaskExecStdinWrite") > 0 })
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("opening says %v", err)
	}
	backendtest.Await(t, "the machine is gone", func() bool { return len(cloud.alive()) == 0 })
	cloud.lines.cut() // as the end of a machine does
	backendtest.Await(t, "nothing waits for the call", func() bool { return !strings.Contains(stacks(), "modal.(*stream)") })
}

func TestALineThatBreaksIsTakenUpWhereItBroke(t *testing.T) {
	cloud := newCloud(t)
	sb := backendtest.Open(t, testBackend(t), testSpec(t))
	cloud.mu.Lock()
	cloud.sip = 1009 // slow, and in pieces that are no frames
	for i := range 5 {
		cloud.cuts = append(cloud.cuts, cut{int64(20_000 * (i + 1)), unavailable})
	}
	cloud.mu.Unlock()
	const script = `echo once >>/tmp/count; i=0; while ((i < 20000)); do echo $i; ((++i)); done; cat /tmp/count`
	want := sha256.New()
	for i := range 20000 {
		fmt.Fprintln(want, i)
	}
	fmt.Fprintln(want, "once")
	cut := 0
	out, got := 0, sha256.New()
	exit, err := sb.Run(t.Context(), shell(script), func(p []byte) {
		got.Write(p)
		if out += len(p); out > 30_000*(cut+1) && cut < 2 {
			cut++
			cloud.lines.cut()
		}
	})
	if err != nil || exit.Code != 0 || hex.EncodeToString(got.Sum(nil)) != hex.EncodeToString(want.Sum(nil)) {
		t.Errorf("it ended as %+v, %v, with %d bytes that are not what was written", exit, err, out)
	}
	if n := cloud.called("TaskExecStdioRead"); n < 8 || cut != 2 {
		t.Errorf("outputs were asked for %d times, with %d cuts of the line", n, cut)
	}
}

func TestAStreamThatIsLostIsTheEndOfItsSandbox(t *testing.T) {
	cloud := newCloud(t)
	sb := backendtest.Open(t, testBackend(t), testSpec(t))
	cloud.mu.Lock()
	cloud.cuts = []cut{{1, status.Error(codes.DataLoss, "it is lost")}}
	cloud.mu.Unlock()
	_, err := sb.Run(t.Context(), shell("echo begun; sleep 1000"), func([]byte) {})
	if err == nil || errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("the command under way ended with %v", err)
	}
	ended(t, sb)
	backendtest.NoError(t, sb.Close(t.Context()))
	backendtest.Await(t, "its machine is gone", func() bool { return len(cloud.alive()) == 0 })
}

func TestASandboxThatModalEndsIsOver(t *testing.T) {
	cloud := newCloud(t)
	sb := backendtest.Open(t, testBackend(t), testSpec(t))
	done := make(chan error)
	running := make(chan struct{})
	go func() {
		_, err := sb.Run(t.Context(), shell("echo begun; sleep 1000"), func([]byte) { close(running) })
		done <- err
	}()
	<-running
	cloud.finish(cloud.only(), pb.GenericResult_GENERIC_STATUS_TIMEOUT)
	if err := <-done; err == nil || errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("the command under way ended with %v", err)
	}
	ended(t, sb)
	if err := sb.Close(t.Context()); err != nil {
		t.Errorf("closing what is gone says %v", err)
	}
}

func ended(t *testing.T, sb backends.Sandbox) {
	t.Helper()
	<-sb.Done()
	if _, err := sb.Run(t.Context(), shell("echo again"), func([]byte) {}); !errors.Is(err, backends.ErrNotStarted) {
		t.Errorf("the next command ends with %v", err)
	}
}

func TestAKeyThatRunsOutIsRenewed(t *testing.T) {
	cloud := newCloud(t)
	cloud.keysLife = 20 * time.Second
	sb := backendtest.Open(t, testBackend(t), testSpec(t))
	cloud.mu.Lock()
	for _, s := range cloud.sandboxes {
		s.key = jwt(s.task, time.Hour)
	}
	cloud.mu.Unlock()
	cloud.lines.cut()
	if got := output(t, sb, shell("echo still here")); got != "still here\n" {
		t.Errorf("it says %q", got)
	}
	if n := cloud.called("SandboxGetCommandRouterAccess"); n == 0 {
		t.Error("the key was not renewed")
	}
}

func TestATokenIsReadAtEachUse(t *testing.T) {
	cloud := newCloud(t)
	b := testBackend(t)
	sb := backendtest.Open(t, b, testSpec(t))
	cloud.mu.Lock()
	cloud.secret = "as-a-new-one-of-16"
	cloud.mu.Unlock()
	err := b.Ready(t.Context())
	if !errors.Is(err, backends.ErrUnavailable) ||
		!strings.Contains(err.Error(), "renew what backends.modal.token_id and token_secret name") {
		t.Errorf("with a token that is refused, Ready says %v", err)
	}
	if strings.Contains(err.Error(), tokenSecret) || strings.Contains(err.Error(), "\n") {
		t.Errorf("the secret is told: %v", err)
	}
	backendtest.Must(t, os.WriteFile(b.cfg.TokenSecret.File, []byte("as-a-new-one-of-16"), 0o600))
	if err := b.Ready(t.Context()); err != nil {
		t.Errorf("with a renewed token, Ready says %v", err)
	}
	if got := output(t, sb, shell("echo still here")); got != "still here\n" {
		t.Errorf("the sandbox made with the old one says %q", got)
	}
	if err := sb.Close(t.Context()); err != nil {
		t.Errorf("closing it says %v", err)
	}
	backendtest.Await(t, "its machine is gone", func() bool { return len(cloud.alive()) == 0 })
}

func TestWhatKeepsABackendFromBeingReadyIsSaid(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(testing.TB, *Config)
		says   string
	}{
		{"no runner", func(_ testing.TB, c *Config) { c.Runner += "-none" }, "finding the runner"},
		{"no variable", func(_ testing.TB, c *Config) { c.TokenID.Env = "BAILIFF_TEST_NONE" },
			"backends.modal.token_id: reading a credential: variable BAILIFF_TEST_NONE is empty"},
		{"no file", func(_ testing.TB, c *Config) { c.TokenSecret.File += "-none" },
			"backends.modal.token_secret: reading a credential: open "},
		{"nobody there", func(tb testing.TB, _ *Config) { tb.Setenv("MODAL_SERVER_URL", "http://127.0.0.1:1") }, "connection refused"},
		{"no such address", func(tb testing.TB, _ *Config) { tb.Setenv("MODAL_SERVER_URL", "modal") }, "invalid server URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			newCloud(t)
			cfg := testConfig(t)
			c.change(t, &cfg)
			b, err := New(cfg)
			backendtest.Must(t, err)
			err = b.Ready(t.Context())
			if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Ready says %v, want one sentence with %q", err, c.says)
			}
		})
	}
}

func TestSettings(t *testing.T) {
	if err := Defaults().Check(); err == nil || !strings.Contains(err.Error(), "token_id and token_secret are missing") {
		t.Errorf("without a token, Check says %v", err)
	}
	if _, err := New(Config{}); err == nil || !strings.Contains(err.Error(), "bailiff-runner") {
		t.Errorf("without a runner, New says %v", err)
	}
	for _, s := range Defaults().Settings() {
		if s.Check != nil && (s.Check("right-1.0") != nil || s.Check("wrong\nRUN x") == nil) {
			t.Errorf("%s takes what it should not, or not what it should", s.Key)
		}
	}
}
