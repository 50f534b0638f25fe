package docker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

func TestTheNextSidecarAdoptsWhatRuns(t *testing.T) {
	spec := testSpec(t)
	spec.Workspace, spec.Expires = "w", time.Now().Add(time.Hour)
	first := backendtest.Open(t, testBackend(t), spec)
	output(t, first, "echo kept >/tmp/note; echo too >/workspace/note")
	_ = whileRunning(t, first, func() { abandon(first) })

	adopted := adopt(t, testBackend(t), first.ID(), spec)
	if adopted.ID() != first.ID() {
		t.Errorf("adopted is %s, not %s", adopted.ID(), first.ID())
	}
	if got, want := output(t, adopted, "cat /tmp/note /workspace/note"), "kept\ntoo\n"; got != want {
		t.Errorf("the adopted sandbox holds %q, want %q", got, want)
	}
	backendtest.Says(t, adopted, "while grep -qsx sleep /proc/[0-9]*/comm; do :; done; echo gone", "gone\n")
	backendtest.Must(t, adopted.Close(t.Context()))
	if _, err := adopted.(*sandbox).backend.Adopt(t.Context(), first.ID(), spec); !errors.Is(err, backends.ErrUnavailable) {
		t.Errorf("adopting what was removed gives %v", err)
	}
}

func TestWhatRunsInTheBackgroundIsAdoptedToo(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	first := backendtest.Open(t, b, spec)
	if _, err := first.Start(t.Context(), shell("echo begun; read line; echo $line"), "p1"); err != nil {
		t.Fatal(err)
	}
	abandon(first)
	adopted := adopt(t, b, first.ID(), spec)
	found, err := adopted.Processes(t.Context())
	if err != nil || len(found) != 1 || found[0].Tag() != "p1" {
		t.Fatalf("the adopted sandbox has the processes %v, %v", found, err)
	}
	backendtest.Must(t, found[0].Write(t.Context(), []byte("adopted\n")))
	<-found[0].Done()
	log, err := found[0].Log(t.Context(), 0, 100)
	if err != nil || string(log.Data) != "begun\nadopted\n" {
		t.Errorf("it wrote %q, %v", log.Data, err)
	}
}

func TestASandboxThatNobodyAdoptsEndsWithAllThatRunsInIt(t *testing.T) {
	b := testBackend(t)
	b.linger = time.Second
	sb := backendtest.Open(t, b, testSpec(t))
	if _, err := sb.Start(t.Context(), shell("sleep 1000"), "p1"); err != nil {
		t.Fatal(err)
	}
	abandon(sb)
	ended, failed := b.engine.ContainerWait(t.Context(), sb.ID(), container.WaitConditionNotRunning)
	select {
	case <-ended:
	case err := <-failed:
		t.Fatal(err)
	}
	if removed, err := b.Sweep(t.Context(), owner(t), keepNone); err != nil || removed != 1 {
		t.Errorf("Sweep removed %d, %v; want the one that ended", removed, err)
	}
}

// A later run of a sidecar has what it adopted for itself: the earlier one, should it live still, starts nothing there and
// does not remove it.
func TestWhatALaterRunHasAdoptedIsItsAlone(t *testing.T) {
	spec := testSpec(t)
	of := func(epoch int64) *Backend {
		b := testBackend(t)
		b.cfg.Epoch = func() int64 { return epoch }
		return b
	}
	first, err := of(7).Open(t.Context(), spec)
	backendtest.Must(t, err)
	output(t, first, "echo kept >/tmp/note")
	adopted := adopt(t, of(8), first.ID(), spec)
	finds := func() {
		t.Helper()
		if got := output(t, adopted, "cat /tmp/note"); got != "kept\n" {
			t.Errorf("the later run finds %q in it", got)
		}
	}
	finds()
	if _, err := of(7).Adopt(t.Context(), first.ID(), spec); !errors.Is(err, backends.ErrSuperseded) {
		t.Errorf("adopting it with the earlier epoch gives %v", err)
	}
	if err := first.Close(t.Context()); !errors.Is(err, backends.ErrSuperseded) {
		t.Errorf("closing it for the earlier run gives %v", err)
	}
	finds()
	backendtest.NoError(t, adopted.Close(t.Context()))
}

// A sandbox whose runner does not say whose it is, is removed by the sidecar that surely has its name, and by no other.
func TestASandboxThatMayBeALaterRunsIsNotRemoved(t *testing.T) {
	t.Parallel()
	spec, doubt := testSpec(t), errors.New("the store does not answer")
	b := testBackend(t, func(c *Config) {
		c.Epoch, c.CheckOwner = func() int64 { return 7 }, func() error { return doubt }
	})
	paused, ended, sound := backendtest.Open(t, b, spec), backendtest.Open(t, b, spec), backendtest.Open(t, b, spec)
	backendtest.Must(t, b.engine.ContainerPause(t.Context(), paused.ID()))
	backendtest.Must(t, b.engine.ContainerKill(t.Context(), ended.ID(), "KILL"))
	<-ended.Done()
	there := func(sb backends.Sandbox) bool {
		_, err := b.engine.ContainerInspect(t.Context(), sb.ID())
		if err != nil && !errdefs.IsNotFound(err) {
			t.Fatal(err)
		}
		return err == nil
	}
	for _, sb := range []backends.Sandbox{paused, ended} {
		if err := sb.Close(t.Context()); !errors.Is(err, backends.ErrOwnerUnknown) || !errors.Is(err, doubt) || !there(sb) {
			t.Errorf("in doubt, closing it gives %v, and it is there: %v", err, there(sb))
		}
	}
	if err := sound.Close(t.Context()); err != nil || there(sound) {
		t.Errorf("closing one whose runner answers gives %v, and it is there: %v", err, there(sound))
	}
	doubt = nil
	for _, sb := range []backends.Sandbox{paused, ended} {
		if err := sb.Close(t.Context()); err != nil || there(sb) {
			t.Errorf("without a doubt, closing it gives %v, and it is there: %v", err, there(sb))
		}
	}
	volumes := func() int {
		found, err := b.engine.VolumeList(t.Context(), volumesOf(owner(t)))
		backendtest.Must(t, err)
		return len(found.Volumes)
	}
	doubt = errors.New("the store does not answer again")
	if _, err := b.Sweep(t.Context(), owner(t), keepNone); !errors.Is(err, doubt) || volumes() == 0 {
		t.Errorf("in doubt a sweep of volumes gives %v, and leaves %d", err, volumes())
	}
	doubt = nil
	if _, err := b.Sweep(t.Context(), owner(t), keepNone); err != nil || volumes() != 0 {
		t.Errorf("without a doubt a sweep of volumes gives %v, and leaves %d", err, volumes())
	}
}

// abandon leaves a sandbox as the death of its sidecar does.
func abandon(sb backends.Sandbox) { _ = sb.(*sandbox).Client.Close() }

func adopt(t testing.TB, b *Backend, id string, spec backends.Spec) backends.Sandbox {
	t.Helper()
	adopted, err := b.Adopt(t.Context(), id, spec)
	backendtest.Must(t, err)
	return adopted
}

func TestOnlyWhatWasMadeForTheSpecIsAdopted(t *testing.T) {
	b := testBackend(t)
	made := testSpec(t)
	made.Workspace, made.Expires = "w", time.Now().Add(time.Hour)
	id := backendtest.Open(t, b, made).ID()
	for _, c := range []struct {
		name   string
		change func(*backends.Spec)
	}{
		{"another owner", func(s *backends.Spec) { s.Owner += "x" }},
		{"another session", func(s *backends.Spec) { s.Session = "another" }},
		{"another workspace", func(s *backends.Spec) { s.Workspace = "v" }},
		{"no workspace", func(s *backends.Spec) { s.Workspace = "" }},
		{"another image", func(s *backends.Spec) { s.Image = testImage }},
		{"another network", func(s *backends.Spec) { s.Network = "full" }},
		{"a network that is none", func(s *backends.Spec) { s.Network = "host" }},
		{"another bound on memory", func(s *backends.Spec) { s.MemoryMB++ }},
		{"another bound on the disk", func(s *backends.Spec) { s.DiskMB++ }},
		{"another bound on processes", func(s *backends.Spec) { s.PIDs-- }},
		{"another share of the processors", func(s *backends.Spec) { s.CPUs = 2 }},
		{"a writable root", func(s *backends.Spec) { s.ReadOnly = false }},
		{"another expiry", func(s *backends.Spec) { s.Expires = s.Expires.Add(time.Minute) }},
		{"no expiry", func(s *backends.Spec) { s.Expires = time.Time{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := made
			c.change(&spec)
			if _, err := b.Adopt(t.Context(), id, spec); err == nil {
				t.Error("it was adopted")
			}
		})
	}
	adopt(t, b, id, made) // all of them left it as it was
}

func TestWhatChangedSinceIsNotAdopted(t *testing.T) {
	for _, c := range []struct {
		name, says string
		change     func(context.Context, *Backend, string) error
	}{
		{"it was given more memory", memoryMB, func(ctx context.Context, b *Backend, id string) error {
			more := container.Resources{Memory: 512 * mib, MemorySwap: 512 * mib}
			_, err := b.engine.ContainerUpdate(ctx, id, container.UpdateConfig{Resources: more})
			return err
		}},
		{"it was paused", "paused", func(ctx context.Context, b *Backend, id string) error { return b.engine.ContainerPause(ctx, id) }},
		{"it was stopped", "exited", func(ctx context.Context, b *Backend, id string) error {
			return b.engine.ContainerKill(ctx, id, "KILL")
		}},
		{"commands run as another user now", "10001", func(_ context.Context, b *Backend, _ string) error {
			b.cfg.User = "10001:10001"
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := testBackend(t)
			spec := testSpec(t)
			id := backendtest.Open(t, b, spec).ID()
			backendtest.Must(t, c.change(t.Context(), b, id))
			if _, err := b.Adopt(t.Context(), id, spec); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("adopting says %v, want it to speak of %q", err, c.says)
			}
			if _, err := b.engine.ContainerInspect(t.Context(), id); err != nil {
				t.Errorf("what was not adopted is gone: %v", err)
			}
		})
	}
}

func TestASandboxIsAdoptedByItsIDOnly(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	id := backendtest.Open(t, b, spec).ID()
	if _, err := b.Adopt(t.Context(), short(id), spec); err == nil {
		t.Error("a part of its id was enough")
	}
}

func TestASandboxWhoseTimeIsOverIsNotAdopted(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Expires = time.Now().Add(-time.Second)
	if _, err := b.Adopt(t.Context(), backendtest.Open(t, b, spec).ID(), spec); err == nil ||
		!strings.Contains(err.Error(), "its time is over") {
		t.Errorf("adopting says %v", err)
	}
}

// A sidecar can die at any byte of what it says to a runner.
func TestHalfAFrameOfTheFirstSidecarIsSurvived(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	sb := backendtest.Open(t, b, spec)
	var frame bytes.Buffer
	if err := wire.NewWriter(&frame).Send(wire.Frame{Kind: wire.Start, Stream: 1, Last: true,
		Payload: make([]byte, wire.MaxPayload)}); err != nil {
		t.Fatal(err)
	}
	for _, said := range []int{1, 5, 17, 18, 19, 1000, frame.Len() / 2, frame.Len() - 1} {
		abandon(sb)
		sayOnly(t, b, sb.ID(), frame.Bytes()[:said])
		sb = adopt(t, b, sb.ID(), spec)
		if got := output(t, sb, "echo whole"); got != "whole\n" {
			t.Errorf("after %d bytes of a frame the next command prints %q", said, got)
		}
	}
}

// sayOnly writes to a runner, and returns when the engine has passed it on and
// let the connection go.
func sayOnly(t *testing.T, b *Backend, id string, said []byte) {
	t.Helper()
	conn, err := b.engine.ContainerAttach(t.Context(), id, container.AttachOptions{Stream: true, Stdin: true, Stdout: true})
	backendtest.Must(t, err)
	defer conn.Close()
	_, err = conn.Conn.Write(said)
	backendtest.Must(t, errors.Join(err, conn.CloseWrite()))
	_, _ = io.Copy(io.Discard, conn.Reader)
}

// Who attaches while a runner speaks hears it from the middle of a frame on.
func TestASandboxIsAdoptedInTheMiddleOfWhatItsRunnerSays(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	sb := backendtest.Open(t, b, spec)
	for range 10 {
		first, flooded, ended := sb, make(chan struct{}), make(chan struct{})
		go func() {
			flood := shell("yes $RANDOM")
			flood.HeadBytes = 1 << 30
			heard := 0
			_, _ = first.Run(context.Background(), flood, func(p []byte) {
				if heard += len(p); heard-len(p) < 1<<20 && heard >= 1<<20 {
					close(flooded)
				}
			})
			close(ended)
		}()
		<-flooded
		sb = adopt(t, b, first.ID(), spec)
		backendtest.Says(t, sb, "echo calm", "calm\n")
		abandon(first)
		<-ended
	}
}
