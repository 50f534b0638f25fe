package modal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

func TestWhatModalIsToldOfASandbox(t *testing.T) {
	c := newCloud(t)
	spec := testSpec(t)
	spec.CPUs, spec.MemoryMB, spec.Workspace, spec.Expires = 2, 512, "w", time.Now().Add(time.Hour)
	spec.Session = "agent:main:telegram:dm:42"
	backendtest.Open(t, testBackend(t), spec)
	s := c.only()
	d := s.request.GetDefinition()
	for what, fact := range map[string]bool{
		"no network":             d.GetNetworkAccess().GetNetworkAccessType() == pb.NetworkAccess_BLOCKED,
		"a bound on CPUs":        d.GetResources().GetMilliCpuMax() == 2000 && d.GetResources().GetMilliCpu() == 125,
		"a bound on memory":      d.GetResources().GetMemoryMbMax() == 512 && d.GetResources().GetMemoryMb() == 128,
		"an hour to live":        d.GetTimeoutSecs() > 3500 && d.GetTimeoutSecs() <= 3600,
		"an end when it is idle": d.GetIdleTimeoutSecs() == 180,
		"its workspace": len(d.GetVolumeMounts()) == 1 && d.GetVolumeMounts()[0].GetMountPath() == "/workspace" &&
			!d.GetVolumeMounts()[0].GetReadOnly(),
		"whose it is":             s.tag(tagOwner) == backends.Digest(spec.Owner),
		"which session's it is":   s.tag(tagSession) == backends.Digest(spec.Session),
		"which workspace's it is": s.tag(tagWorkspace) == backends.Digest("w"),
		"when it may go":          s.tag(tagExpires) == strconv.FormatInt(spec.Expires.Unix(), 10),
		"its own name":            s.tag(tagName) == d.GetName(),
		"what to run it in":       d.GetRuntime() == "gvisor",
	} {
		if !fact {
			t.Errorf("Modal is not told of %s: %v", what, s.request)
		}
	}
	if strings.Contains(s.request.String(), "telegram") {
		t.Errorf("the session's name is told: %v", s.request)
	}
}

func TestEverySandboxEndsByItself(t *testing.T) {
	for _, c := range []struct {
		name    string
		expires time.Time
		want    time.Duration
	}{
		{"without a time", time.Time{}, 24 * time.Hour},
		{"far away", time.Now().Add(1000 * time.Hour), 24 * time.Hour},
		{"in ten minutes", time.Now().Add(10 * time.Minute), 10 * time.Minute},
		{"at once", time.Now(), time.Second},
	} {
		got := (&Backend{}).parameters("n", backends.Spec{Network: "full", Expires: c.expires}, nil)
		if got.Timeout > c.want || got.Timeout < c.want-2*time.Second || got.Timeout < time.Second || got.Timeout%time.Second != 0 {
			t.Errorf("%s, the sandbox lives for %v, want %v", c.name, got.Timeout, c.want)
		}
		if got.IdleTimeout <= 0 || got.IdleTimeout > min(got.Timeout, idle) || got.BlockNetwork {
			t.Errorf("%s, Modal is told %+v", c.name, got)
		}
	}
}

func TestWhatModalCannotDoIsRefusedByName(t *testing.T) {
	newCloud(t)
	b := testBackend(t)
	for field, change := range map[string]func(*backends.Spec){
		"network":   func(s *backends.Spec) { s.Network = "egress" },
		"mounts":    func(s *backends.Spec) { s.Mounts = []bailiff.Mount{{Source: "/srv", Target: "/srv"}} },
		"image":     func(s *backends.Spec) { s.Image = "debian\nRUN curl evil.test" },
		"workspace": func(s *backends.Spec) { s.Workspace = strings.Repeat("w", 33) },
		"disk_mb":   func(s *backends.Spec) { s.DiskMB = 1 },
		"pids":      func(s *backends.Spec) { s.PIDs = 100 },
		"read_only": func(s *backends.Spec) { s.ReadOnly = true },
	} {
		spec := testSpec(t)
		change(&spec)
		_, err := b.Open(t.Context(), spec)
		backendtest.Fault(t, err, backends.ErrUnsupported, "on Modal "+field+" must be")
	}
	spec := testSpec(t)
	spec.DiskMB, spec.PIDs, spec.ReadOnly = 1, 600, true
	backendtest.Open(t, testBackend(t, func(c *Config) { c.AcceptMissing = []string{diskMB, pids, readOnly} }), spec)
	spec.PIDs = 63
	if _, err := testBackend(t, inVM).Open(t.Context(), spec); !errors.Is(err, backends.ErrUnsupported) ||
		!strings.Contains(err.Error(), "disk_mb") {
		t.Errorf("of the disk of a virtual machine it says %v", err)
	}
	spec.DiskMB = 0
	if _, err := testBackend(t, inVM).Open(t.Context(), spec); !errors.Is(err, backends.ErrUnsupported) ||
		!strings.Contains(err.Error(), "pids is 63, want at least 64") {
		t.Errorf("of too few processes it says %v", err)
	}
}

func inVM(c *Config) { c.Runtime = vm }

func TestInAVirtualMachineCommandsAreApartFromTheRestOfIt(t *testing.T) {
	c := newCloud(t)
	for _, network := range []string{"none", "full"} {
		spec := testSpec(t)
		spec.Network, spec.PIDs, spec.ReadOnly = network, 200, true
		sb := backendtest.Open(t, testBackend(t, inVM), spec)
		if got := c.only().request.GetDefinition().GetRuntime(); got != "vm" {
			t.Errorf("it runs in %q", got)
		}
		if got := output(t, sb, shell("ulimit -u; echo $(stat -c %u /proc/[0-9]* | sort -u); echo x 2>/dev/null >/run/x && rm /run/x; "+
			"echo x 2>/dev/null >/opt/x || echo closed")); got != "200\n10000\nclosed\n" {
			t.Errorf("with the network %s a command says %q", network, got)
		}
		backendtest.NoError(t, sb.Close(t.Context()))
		backendtest.Await(t, "it is over", func() bool { return len(c.alive()) == 0 })
	}
}

func TestARunnerThatHearsOfNobodyEndsItself(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t)
	b.linger = time.Second
	sb := backendtest.Open(t, b, testSpec(t)).(*sandbox)
	if _, err := sb.Start(t.Context(), shell("sleep 1000"), "p1"); err != nil {
		t.Fatal(err)
	}
	_ = sb.Client.Close() // as a sidecar that is killed: Modal is told nothing
	s := c.only()
	backendtest.Await(t, "no program runs in the machine, so that Modal ends it", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, e := range s.execs {
			select {
			case <-e.done:
			default:
				return false
			}
		}
		return true
	})
}

func TestNoVariableIsSetThroughModal(t *testing.T) {
	c := newCloud(t)
	sb := backendtest.Open(t, testBackend(t), testSpec(t))
	cmd := shell("echo $VALUE")
	cmd.Env = map[string]bailiff.Secret{"VALUE": bailiff.NewSecret("which-nobody-may-write-down")}
	if got := output(t, sb, cmd); got != "which-nobody-may-write-down\n" {
		t.Errorf("the command said %q", got)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, said := range c.heard {
		if strings.Contains(said, "which-nobody-may") || strings.Contains(said, "VALUE") {
			t.Errorf("Modal was told %s", said)
		}
	}
}

func TestAnImageIsBroughtOnceAndKnownByItsID(t *testing.T) {
	c := newCloud(t)
	c.images["registry.test/slow:1"], c.building["registry.test/slow:1"] = "im-slow", true
	b := testBackend(t)
	var steps []string
	ctx := backends.WithSteps(t.Context(), func(what string) { steps = append(steps, what) })
	for image, want := range map[string]string{"": "im-usual", "registry.test/slow:1": "im-slow", "im-slow": "im-slow"} {
		if id, err := b.Resolve(ctx, image); err != nil || id != want {
			t.Errorf("image %q is %s, %v, want %s", image, id, err, want)
		}
	}
	if len(steps) != 2 || !strings.HasPrefix(steps[0], "having Modal bring image ") {
		t.Errorf("the steps were %q", steps)
	}
	asked := c.called("ImageGetOrCreate")
	spec := testSpec(t)
	spec.Image = "im-slow"
	backendtest.Open(t, b, spec)
	if got := c.only().request.GetDefinition().GetImageId(); got != "im-slow" || c.called("ImageGetOrCreate") != asked {
		t.Errorf("the sandbox is made of %s, after %d questions more", got, c.called("ImageGetOrCreate")-asked)
	}
	_, err := b.Resolve(ctx, "registry.test/none")
	if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), "no such image: manifest unknown") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("of an image that is nowhere it says %v", err)
	}
}

func TestARunnerThatCannotStartSaysWhy(t *testing.T) {
	c := newCloud(t)
	program := filepath.Join(t.TempDir(), "runner")
	backendtest.Must(t, os.WriteFile(program, []byte("#!/bin/sh\necho the machine is of another kind >&2\nexit 1\n"), 0o755))
	b := testBackend(t, func(c *Config) { c.Runner = program })
	_, err := b.Open(t.Context(), testSpec(t))
	backendtest.Fault(t, err, backends.ErrUnavailable, "the machine is of another kind")
	backendtest.Await(t, "its machine is gone", func() bool { return len(c.alive()) == 0 })
}

func TestClosingEndsTheMachineThoughItsCallerIsGone(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t)
	for _, workspace := range []string{"", "w"} {
		spec := testSpec(t)
		spec.Workspace = workspace
		sb := backendtest.Open(t, b, spec)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		backendtest.NoError(t, errors.Join(sb.Close(gone), sb.Close(gone)))
		if len(c.alive()) > 0 {
			t.Error("the machine is not over when its sandbox is closed")
		}
	}
	backendtest.Await(t, "nothing listens or writes to a machine", func() bool {
		return !strings.Contains(stacks(), "modal.(*stream)") && !strings.Contains(stacks(), "modal.listen.")
	})
	if users := b.current.users; users != 1 || len(b.users) > 0 {
		t.Errorf("%d use the account, want the backend alone, and %v have workspaces", users, b.users)
	}
}

func TestTheNextMachineFindsWhatTheLastOneWrote(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t)
	spec := testSpec(t)
	spec.Workspace = "w"
	first := backendtest.Open(t, b, spec)
	output(t, first, shell("echo one >file"))
	second := backendtest.Open(t, b, spec) // the first goes on, as one that is being replaced may
	if got := output(t, second, shell("cat file; echo two >>file")); got != "one\n" {
		t.Errorf("beside the first the second finds %q", got)
	}
	backendtest.NoError(t, first.Close(t.Context()))
	c.mu.Lock()
	c.cuts = []cut{{1, status.Error(codes.DataLoss, "it is lost")}}
	c.mu.Unlock()
	_, _ = second.Run(t.Context(), shell("echo begun; sleep 1000"), func([]byte) {})
	<-second.Done() // nobody has closed it yet
	third := backendtest.Open(t, b, spec)
	if got := output(t, third, shell("cat file")); got != "one\ntwo\n" {
		t.Errorf("after the second was lost the third finds %q", got)
	}
	c.befall("TaskExecStart", fault{err: full})
	if _, err := b.Open(t.Context(), spec); !errors.Is(err, backends.ErrUnavailable) ||
		!strings.Contains(err.Error(), "writing out the workspace") {
		t.Errorf("where the files cannot be had, opening says %v", err)
	}
}

// stacks are what all goroutines are at.
func stacks() string {
	text := make([]byte, 1<<20)
	return string(text[:runtime.Stack(text, true)])
}

func TestSweeping(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t)
	spec, other := testSpec(t), testSpec(t)
	other.Owner += " no more"
	var mine []string
	for range 3 {
		mine = append(mine, backendtest.Open(t, b, spec).ID())
	}
	theirs := backendtest.Open(t, b, other).ID()
	c.befall("SandboxTagsGetV2", fault{err: unavailable})
	swept, err := b.Sweep(t.Context(), spec.Owner, func(id string) bool { return id == mine[0] })
	if err != nil || swept != 2 {
		t.Errorf("swept %d, %v, want 2", swept, err)
	}
	if left := c.alive(); len(left) != 2 || left[0] != theirs || left[1] != mine[0] {
		t.Errorf("left are %v, want %s and %s", left, theirs, mine[0])
	}
}

func TestASweepSparesWhatIsBeingOpened(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t)
	ctx, cancel := context.WithCancel(t.Context())
	c.befall("TaskExecStart", fault{hang: true})
	opened := backendtest.Opening(ctx, b, testSpec(t))
	backendtest.Await(t, "the machine is there", func() bool { return c.called("TaskExecStart") > 0 })
	if swept, err := b.Sweep(t.Context(), testSpec(t).Owner, func(string) bool { return false }); swept != 0 || err != nil {
		t.Errorf("swept %d, %v, while it is being opened", swept, err)
	}
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("opening says %v", err)
	}
	backendtest.Await(t, "its machine is gone", func() bool { return len(c.alive()) == 0 })
}

func TestWorkspacesAreListedHoweverManyThereAre(t *testing.T) {
	c := newCloud(t)
	b := testBackend(t)
	for i := range 2*page + 1 {
		name := volumeName("somebody", strconv.Itoa(i))
		c.volumes[name] = &volume{id: "vo-" + name, name: name, created: c.later()}
	}
	c.volumes["of-another-program"] = &volume{id: "vo-x", name: "of-another-program", created: c.later()}
	names, err := b.Workspaces(t.Context(), "somebody")
	if err != nil || len(names) != 2*page+1 || names[0] != strconv.Itoa(2*page) {
		t.Errorf("listed are %d workspaces, %v", len(names), err)
	}
	backendtest.NoError(t, b.RemoveWorkspace(t.Context(), "somebody", "7"))
	if names, _ := b.Workspaces(t.Context(), "somebody"); len(names) != 2*page {
		t.Errorf("%d workspaces are left", len(names))
	}
}

func shell(script string) backends.Command {
	cmd := runner.Shell(script)
	cmd.Timeout, cmd.HeadBytes = time.Minute, 16<<20
	return cmd
}

func output(t testing.TB, sb backends.Sandbox, cmd backends.Command) string {
	t.Helper()
	var out strings.Builder
	if exit, err := sb.Run(t.Context(), cmd, func(p []byte) { out.Write(p) }); err != nil || exit.Code != 0 {
		t.Fatalf("it ended as %+v, %v: %s", exit, err, out.String())
	}
	return out.String()
}
