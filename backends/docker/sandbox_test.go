package docker

import (
	"archive/tar"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestNamedWorkspacesOutliveSandboxes(t *testing.T) {
	b := testBackend(t)
	named, unnamed := testSpec(t), testSpec(t)
	named.Workspace = "agent:main:telegram:dm:42"

	for _, spec := range []backends.Spec{named, unnamed} {
		sb := backendtest.Open(t, b, spec)
		output(t, sb, "echo kept >/workspace/note")
		backendtest.Must(t, sb.Close(t.Context()))
	}
	const read = "cat /workspace/note 2>/dev/null; stat -c '%u %a' /workspace"
	again := backendtest.Open(t, b, named)
	if got, want := output(t, again, read), "kept\n10000 700\n"; got != want {
		t.Errorf("the named workspace holds %q, want %q", got, want)
	}
	backendtest.Says(t, backendtest.Open(t, b, unnamed), "ls -A /workspace", "")

	if err := b.RemoveWorkspace(t.Context(), named.Owner, named.Workspace); err == nil {
		t.Error("a workspace was removed from under a sandbox")
	}
	backendtest.Must(t, again.Close(t.Context()))
	for range 2 { // the second time there is none, which is no fault
		backendtest.Must(t, b.RemoveWorkspace(t.Context(), named.Owner, named.Workspace))
	}
	if got, want := output(t, backendtest.Open(t, b, named), read), "10000 700\n"; got != want {
		t.Errorf("after its removal the workspace holds %q, want %q", got, want)
	}
}

// While one opening fails, another may be about to start the runner, which must not be written then. One that was written by
// halves is written again.
func TestAFailedOpeningHasNoRunnerWrittenAnew(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	const read = "stat -c '%i %Z' /.bailiff/runner"
	first := output(t, backendtest.Open(t, b, spec), read)
	fail := func() {
		t.Helper()
		unknown := spec
		unknown.Image = "bailiff.invalid/none:1"
		if _, err := b.Open(t.Context(), unknown); err == nil {
			t.Fatal("a sandbox of an unknown image was opened")
		}
	}
	fail()
	again := backendtest.Open(t, b, spec)
	if got := output(t, again, read); got != first {
		t.Errorf("the runner is the file %q, want %q as before", got, first)
	}
	found, err := b.engine.ContainerInspect(t.Context(), again.ID())
	backendtest.Must(t, err)
	for _, m := range found.Mounts {
		if m.Destination == "/"+runnerFolder {
			backendtest.Must(t, b.fill(t.Context(), entry{owner: spec.Owner, image: found.Image, volume: m.Name, target: runnerFolder,
				header: tar.Header{Typeflag: tar.TypeReg, Name: path.Base(runnerPath), Mode: 0o111}}))
		}
	}
	fail()
	if got := output(t, backendtest.Open(t, b, spec), read); got == first {
		t.Error("the runner is the file that was replaced")
	}
}

// Sooner than the second in which the engine says that it made a volume is over.
func TestAWorkspaceIsMadeAnewAtOnceAfterItsRemoval(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Workspace = "w"
	for range 3 {
		made, err := b.workspaceVolume(t.Context(), spec)
		backendtest.Must(t, err)
		if b.isSeeded(made.Volume) {
			t.Error("a new workspace counts as filled")
		}
		backendtest.Must(t, b.seed(made.Volume, func() error { return nil }))
		backendtest.Must(t, b.RemoveWorkspace(t.Context(), spec.Owner, spec.Workspace))
	}
}

func TestVolumesOfEarlierVersionsAreRemovedToo(t *testing.T) {
	b := testBackend(t)
	me := owner(t)
	for name, labels := range map[string]map[string]string{
		"bailiff-runner-" + backends.Digest(me):    {labelOwner: me, labelRunner: "x"},
		"bailiff-workspace-" + backends.Digest(me): {labelOwner: me, labelWorkspace: "w"},
	} {
		if _, err := b.engine.VolumeCreate(t.Context(), volume.CreateOptions{Name: name, Labels: labels}); err != nil {
			t.Fatal(err)
		}
	}
	_, sweeping := b.Sweep(t.Context(), me, keepNone)
	found, listing := b.Workspaces(t.Context(), me)
	if len(found) != 1 || found[0] != "w" {
		t.Errorf("after a sweep the workspaces are %v, want w", found)
	}
	removing := b.RemoveWorkspace(t.Context(), me, "w")
	backendtest.NoError(t, errors.Join(sweeping, listing, removing))
	left, err := b.engine.VolumeList(t.Context(), volumesOf(me))
	if err != nil || len(left.Volumes) > 0 {
		t.Errorf("%d volumes are left behind, %v", len(left.Volumes), err)
	}
}

func TestWorkspacesBelongToTheirOwner(t *testing.T) {
	if workspaceVolumeName("a", "bc") == workspaceVolumeName("ab", "c") {
		t.Error("two owners share a volume")
	}
}

func TestClosing(t *testing.T) {
	b := testBackend(t)
	sb := backendtest.Open(t, b, testSpec(t))
	for range 2 {
		backendtest.Must(t, sb.Close(t.Context()))
	}
	<-sb.Done()
	if _, err := b.engine.ContainerInspect(t.Context(), sb.ID()); !errdefs.IsNotFound(err) {
		t.Errorf("the container is still there: %v", err)
	}
	if _, err := sb.Run(t.Context(), shell("true"), func([]byte) {}); err == nil {
		t.Error("a closed sandbox ran a command")
	}
}

func TestSweeping(t *testing.T) {
	b := testBackend(t)
	spec, foreign := testSpec(t), testSpec(t)
	foreign.Owner += "-other"
	t.Cleanup(func() { removeAll(t, foreign.Owner) })
	kept, left, other := backendtest.Open(t, b, spec), backendtest.Open(t, b, spec), backendtest.Open(t, b, foreign)
	neverStarted := created(t, b, "bailiff-never-"+backends.Digest(spec.Owner), spec)
	stopped := backendtest.Open(t, b, spec)
	backendtest.Must(t, b.engine.ContainerKill(t.Context(), stopped.ID(), "KILL"))
	beingOpened, done := b.opening.Name("bailiff-")
	defer done()
	spared := created(t, b, beingOpened, spec)

	removed, err := b.Sweep(t.Context(), spec.Owner, func(id string) bool { return id == kept.ID() })
	if err != nil || removed != 3 {
		t.Errorf("Sweep removed %d, %v; want 3: the one left, the one never started, the one stopped", removed, err)
	}
	for id, want := range map[string]bool{kept.ID(): true, other.ID(): true, spared: true, left.ID(): false, neverStarted: false,
		stopped.ID(): false} {
		if _, err := b.engine.ContainerInspect(t.Context(), id); (err == nil) != want {
			t.Errorf("container %s is there: %v, want %v", short(id), err == nil, want)
		}
	}
	backendtest.Says(t, kept, "echo alive", "alive\n")
}

func TestSweepingRemovesWhatIsPastItsTimeWhoeverMadeIt(t *testing.T) {
	b, foreign := testBackend(t), testSpec(t)
	foreign.Owner += "-gone"
	t.Cleanup(func() { removeAll(t, foreign.Owner) })
	foreign.Expires = time.Now().Add(-11 * time.Minute)
	spoken, stopped := backendtest.Open(t, b, foreign), backendtest.Open(t, b, foreign)
	backendtest.Must(t, b.engine.ContainerKill(t.Context(), stopped.ID(), "KILL"))
	if _, err := b.Sweep(t.Context(), owner(t), keepNone); err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.ContainerInspect(t.Context(), stopped.ID()); err == nil {
		t.Error("one that has stopped is left")
	}
	backendtest.Says(t, spoken, "echo alive", "alive\n")
}

func TestOnlyWhatNobodyCanNeedIsAbandoned(t *testing.T) {
	now := time.Now()
	long, lately := now.Add(-11*time.Minute), now.Add(-9*time.Minute)
	for _, c := range []struct {
		name          string
		made, expires time.Time // zero: no label says it
		state         string
		abandoned     bool
	}{
		{"ended, and past its time", long, long, "exited", true},
		{"half removed, and past its time", long, long, "dead", true},
		{"never started, and past its time", long, long, "created", true},
		{"just over", long, lately, "exited", false},
		{"without an end", long, time.Time{}, "exited", false},
		{"just made, by a clock that is behind", now, long, "created", false},
		{"running", long, long, "running", false},
		{"paused", long, long, "paused", false},
	} {
		summary := container.Summary{State: c.state, Created: c.made.Unix(), Labels: map[string]string{labelOwner: "o"}}
		if !c.expires.IsZero() {
			summary.Labels[labelExpires] = c.expires.UTC().Format(time.RFC3339)
		}
		if got := isAbandoned(summary, now); got != c.abandoned {
			t.Errorf("%s: %v, want %v", c.name, got, c.abandoned)
		}
	}
}

func TestSweepingRemovesRunnersThatNothingUses(t *testing.T) {
	b := testBackend(t)
	volumes := func() int {
		t.Helper()
		if _, err := b.Sweep(t.Context(), owner(t), keepNone); err != nil {
			t.Fatal(err)
		}
		found, err := b.engine.VolumeList(t.Context(), volumesOf(owner(t)))
		backendtest.Must(t, err)
		return len(found.Volumes)
	}
	for range 2 { // the second sandbox finds the volume gone
		backendtest.Says(t, backendtest.Open(t, b, testSpec(t)), "echo fine", "fine\n")
		_, done := b.opening.Name("bailiff-")
		if volumes() != 1 {
			t.Error("the runner was removed while a sandbox was being opened")
		}
		if done(); volumes() != 0 {
			t.Error("the runner is left behind though nothing uses it")
		}
	}
}

func created(t *testing.T, b *Backend, name string, spec backends.Spec) string {
	t.Helper()
	found, err := b.bring(t.Context(), spec.Image)
	backendtest.Must(t, err)
	program, err := b.runnerVolume(t.Context(), spec.Owner, found.ID, linux)
	backendtest.Must(t, err)
	id, err := b.create(t.Context(), name, spec, found, linux, mounts(spec, program, ""))
	backendtest.Must(t, err)
	t.Cleanup(func() { _ = b.remove(context.Background(), id) })
	return id
}

func TestASandboxThatIsEndedFromOutsideIsOverAndAnotherTakesItsPlace(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(context.Context, *client.Client, string) error
	}{
		{"its runner is killed", func(ctx context.Context, engine *client.Client, id string) error {
			return engine.ContainerKill(ctx, id, "KILL")
		}},
		{"it is stopped", func(ctx context.Context, engine *client.Client, id string) error {
			return engine.ContainerStop(ctx, id, container.StopOptions{})
		}},
		{"it is removed", func(ctx context.Context, engine *client.Client, id string) error {
			return engine.ContainerRemove(ctx, id, container.RemoveOptions{Force: true})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := testBackend(t)
			spec := testSpec(t)
			spec.Workspace = "w"
			sb := backendtest.Open(t, b, spec)
			output(t, sb, "echo kept >note")
			ended := whileRunning(t, sb, func() {
				backendtest.Must(t, c.end(t.Context(), b.engine, sb.ID()))
			})
			if ended == nil || errors.Is(ended, backends.ErrNotStarted) {
				t.Errorf("the command that ran says %v", ended)
			}
			<-sb.Done()
			if _, err := sb.Run(t.Context(), shell("true"), func([]byte) {}); !errors.Is(err, backends.ErrNotStarted) {
				t.Errorf("the next command says %v, want ErrNotStarted", err)
			}
			backendtest.Says(t, backendtest.Open(t, b, spec), "cat note", "kept\n")
			_, err := b.Sweep(t.Context(), spec.Owner, keepNone)
			left, listing := b.engine.ContainerList(t.Context(), container.ListOptions{All: true, Filters: ownedBy(spec.Owner)})
			if err := errors.Join(err, listing); err != nil || len(left) > 0 {
				t.Errorf("%d containers are left behind, %v", len(left), err)
			}
		})
	}
}

func TestTheEngineDiesWhileACommandRuns(t *testing.T) {
	engine := startRelay(t)
	b := testBackend(t, func(c *Config) { c.Host = engine.host() })
	sb, err := b.Open(t.Context(), testSpec(t))
	backendtest.Must(t, err)
	if ended := whileRunning(t, sb, engine.stop); ended == nil {
		t.Error("Run returned no error")
	}
	<-sb.Done()
	for what, err := range map[string]error{"Ready": b.Ready(t.Context()), "Open": opening(t, b, testSpec(t)),
		"Close": sb.Close(t.Context())} {
		t.Run(what, func(t *testing.T) {
			backendtest.Fault(t, err, backends.ErrUnavailable, "cannot reach the Docker engine at "+engine.host())
		})
	}
	engine.start(t)
	if err := b.Ready(t.Context()); err != nil {
		t.Errorf("Ready says %v though the engine is back", err)
	}
	backendtest.Says(t, backendtest.Open(t, b, testSpec(t)), "echo back", "back\n")
	if err := sb.Close(t.Context()); err != nil {
		t.Errorf("closing what the engine's death left behind: %v", err)
	}
}

// whileRunning does something in the middle of a command and returns how Run ended.
func whileRunning(t *testing.T, sb backends.Sandbox, do func()) error {
	t.Helper()
	started := make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		first := true
		_, err := sb.Run(context.Background(), shell("echo started; sleep 600"), func([]byte) {
			if first {
				close(started)
			}
			first = false
		})
		ended <- err
	}()
	<-started
	do()
	return <-ended
}

func opening(t *testing.T, b *Backend, spec backends.Spec) error {
	t.Helper()
	sb, err := b.Open(t.Context(), spec)
	if err == nil {
		t.Cleanup(func() { _ = sb.Close(context.Background()) })
	}
	return err
}

func TestARunnerThatDoesNotStart(t *testing.T) {
	script := filepath.Join(t.TempDir(), "runner")
	backendtest.Must(t, os.WriteFile(script, []byte("not a program\n"), 0o755))
	for _, c := range []struct{ name, runner, says string }{
		{"no such file", "/nowhere/bailiff-runner", "/nowhere/bailiff-runner"},
		{"not a program", script, "exec format error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := testBackend(t, func(cfg *Config) { cfg.Runner = c.runner })
			err := opening(t, b, testSpec(t))
			backendtest.Fault(t, err, backends.ErrUnavailable, c.says)
			left, err := b.engine.ContainerList(t.Context(), container.ListOptions{All: true, Filters: ownedBy(owner(t))})
			if err != nil || len(left) > 0 {
				t.Errorf("%d containers are left behind, %v", len(left), err)
			}
		})
	}
}

func TestMounts(t *testing.T) {
	folder := t.TempDir()
	backendtest.Must(t, os.WriteFile(filepath.Join(folder, "note"), []byte("from the host\n"), 0o644))
	b := testBackend(t, func(c *Config) { c.MountsAllowed = []string{folder} })
	backendtest.Must(t, os.Chmod(filepath.Dir(folder), 0o755))
	spec := testSpec(t)
	spec.Mounts = []bailiff.Mount{{Source: folder, Target: "/mnt/notes", ReadOnly: true}}
	if got, want := output(t, backendtest.Open(t, b, spec), "cat /mnt/notes/note; touch /mnt/notes/x 2>/dev/null || echo refused"),
		"from the host\nrefused\n"; got != want {
		t.Errorf("the mount gives %q, want %q", got, want)
	}
	spec.Mounts[0].Source = "/etc"
	if err := opening(t, b, spec); !errors.Is(err, backends.ErrUnsupported) {
		t.Errorf("a mount that is not allowed gives %v, want ErrUnsupported", err)
	}
}

func TestNetworks(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Network = "full"
	if got, want := output(t, backendtest.Open(t, b, spec), "ls /sys/class/net"), "eth0\nlo\n"; got != want {
		t.Errorf("the full network has the interfaces %q, want %q", got, want)
	}
	spec.Network = backends.Egress
	if got, want := output(t, backendtest.Open(t, b, spec), "ls /sys/class/net"), "lo\n"; got != want {
		t.Errorf("the network egress has the interfaces %q, want %q", got, want)
	}
	for _, network := range []string{"", "host", "container:x"} {
		spec.Network = network
		if err := opening(t, b, spec); !errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), "network") {
			t.Errorf("network %q gives %v, want ErrUnsupported", network, err)
		}
	}
}

func TestProgramsTrustTheWayOutWithoutVariables(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Network = backends.Egress
	for range 2 { // the second finds the volume there
		backendtest.TrustsWithoutVariables(t, backendtest.Open(t, b, spec))
	}
	none := testSpec(t)
	none.Network = "none"
	backendtest.Says(t, backendtest.Open(t, b, none), "test -L /etc/ssl/certs/ca-certificates.crt || echo an own file", "an own file\n")
	_, err := b.Sweep(t.Context(), owner(t), keepNone)
	backendtest.Must(t, err)
	if left, err := b.engine.VolumeList(t.Context(), volumesOf(owner(t))); err != nil || len(left.Volumes) > 0 {
		t.Errorf("%d volumes are left behind, %v", len(left.Volumes), err)
	}
}
