package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// Each kill comes in the middle of an opening, with sandboxes in every other
// state beside it.
func TestAfterAKillOfTheEngineSandboxesOpenAndASweepLeavesNothing(t *testing.T) {
	m := startMachine(t)
	kill := func(t *testing.T) { m.killEngine(t) }
	powerOff := func(t *testing.T) { m.halt() }
	restart := func(t *testing.T) { m.startEngine(t) }
	reboot := func(t *testing.T) { m.boot(t) }
	for _, c := range []struct {
		name          string
		moment        events.Action
		down, upagain func(*testing.T)
	}{
		{"when a volume was made", events.ActionCreate, kill, restart},
		{"when the container was attached to", events.ActionAttach, kill, restart},
		{"when the container was started", events.ActionStart, kill, restart},
		{"by the loss of power", events.ActionAttach, powerOff, reboot},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := m.backend(t)
			spec := testSpec(t)
			spec.Workspace = "w"
			live := populate(t, b, spec)
			happened := await(t, b, c.moment)
			opened := make(chan error)
			go func() {
				spec := spec
				spec.Workspace = "v"
				_, err := b.Open(context.Background(), spec)
				opened <- err
			}()
			<-happened
			c.down(t)
			if err := <-opened; err != nil && !errors.Is(err, backends.ErrUnavailable) {
				t.Errorf("the opening in which it died says %v", err)
			}
			<-live.Done()
			if _, err := live.Run(t.Context(), busybox("true"), func([]byte) {}); !errors.Is(err, backends.ErrNotStarted) {
				t.Errorf("a sandbox of the dead engine says %v", err)
			}
			if err := opening(t, b, spec); !errors.Is(err, backends.ErrUnavailable) {
				t.Errorf("without an engine Open says %v", err)
			}
			halfMakeVolumes(t, m, spec)

			c.upagain(t)
			again := backendtest.Open(t, b, spec)
			if got := run(t, again, busybox("cat /workspace/note")); got != "kept\n" {
				t.Errorf("the workspace holds %q", got)
			}
			half := spec
			half.Workspace = "half"
			run(t, backendtest.Open(t, b, half), busybox("echo whole >/workspace/note"))
			if listed, err := b.Workspaces(t.Context(), spec.Owner); err != nil || !slices.Contains(listed, "half") {
				t.Errorf("the workspace that was half made is used and not listed: %v, %v", listed, err)
			}
			leavesNothing(t, b, spec.Owner)
		})
	}
}

func busybox(script string) backends.Command {
	return backends.Command{Argv: []string{"/bin/busybox", "sh", "-c", script}, Timeout: time.Minute, HeadBytes: 1 << 16}
}

// populate makes a sandbox that runs a command, one that ended, and one that was
// never started; it returns the first.
func populate(t *testing.T, b *Backend, spec backends.Spec) backends.Sandbox {
	t.Helper()
	live, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	run(t, live, busybox("echo kept >/workspace/note"))
	started := make(chan struct{})
	go func() {
		_, _ = live.Run(context.Background(), busybox("echo started; exec sleep 1000"), func([]byte) { close(started) })
	}()
	<-started
	spec.Workspace = ""
	stopped, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	backendtest.Must(t, b.engine.ContainerKill(t.Context(), stopped.ID(), "KILL"))
	created(t, b, "bailiff-never-"+backends.Digest(t.Name()), spec)
	return live
}

// await returns a channel that is closed when something is done to a container or volume.
func await(t *testing.T, b *Backend, what events.Action) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told, failed := b.engine.Events(ctx, events.ListOptions{Filters: filters.NewArgs(filters.Arg("event", string(what)))})
	happened := make(chan struct{})
	go func() {
		defer cancel()
		select {
		case <-told:
		case <-failed:
		}
		close(happened)
	}()
	return happened
}

// halfMakeVolumes leaves what an engine leaves that was killed after it made a
// volume's folder and before it wrote down its labels.
func halfMakeVolumes(t *testing.T, m *machine, spec backends.Spec) {
	t.Helper()
	for _, name := range []string{ownersVolumes(runnerVolumes, spec.Owner) + "half", workspaceVolumeName(spec.Owner, "half"),
		workspaceVolumeName(spec.Owner, "unused")} {
		backendtest.Must(t, os.MkdirAll(filepath.Join(m.folder, "data/volumes", name, "_data"), 0o701))
	}
}

// leavesNothing does what a sidecar does that has no sandbox.
func leavesNothing(t *testing.T, b *Backend, owner string) {
	t.Helper()
	if _, err := b.Sweep(t.Context(), owner, keepNone); err != nil {
		t.Error(err)
	}
	workspaces, err := b.Workspaces(t.Context(), owner)
	backendtest.NoError(t, err)
	for _, workspace := range workspaces {
		backendtest.NoError(t, b.RemoveWorkspace(t.Context(), owner, workspace))
	}
	containers, err := b.engine.ContainerList(t.Context(), container.ListOptions{All: true})
	backendtest.Must(t, err)
	volumes, err := b.engine.VolumeList(t.Context(), volume.ListOptions{})
	backendtest.Must(t, err)
	var left []string
	for _, c := range containers {
		left = append(left, "container "+strings.Join(c.Names, " ")+" "+c.Status)
	}
	for _, v := range volumes.Volumes {
		left = append(left, "volume "+v.Name)
	}
	if len(left) > 0 {
		t.Errorf("left behind are %s", strings.Join(left, ", "))
	}
}
