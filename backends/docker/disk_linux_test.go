package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// boundedBackend can make disks, which is what engines without quotas need.
func boundedBackend(t *testing.T) (*Backend, backends.Spec) {
	t.Helper()
	b := testBackend(t, func(c *Config) { c.StateDir = t.TempDir() })
	backendtest.Needs(t, "DISKS FOR WORKSPACES", b.disksPossible(t.Context()))
	spec := testSpec(t)
	spec.DiskMB, spec.Workspace = 64, "w"
	return b, spec
}

const fillWorkspace = "head -c 100M /dev/zero >big 2>/dev/null; stat -c %s big"

func TestANamedWorkspaceHoldsNoMoreThanItsShareOfTheDisk(t *testing.T) {
	b, spec := boundedBackend(t)
	sb := backendtest.Open(t, b, spec)
	backendtest.Says(t, sb, "ls -A; stat -c '%u %a' .", "10000 700\n")
	if got := strings.TrimSpace(output(t, sb, fillWorkspace)); len(got) != len("25000000") || got > "33554432" {
		t.Errorf("a workspace of 32 MiB took %s bytes", got)
	}
	backendtest.Says(t, sb, "rm big && echo again >note && cat note", "again\n")
}

func TestABoundedWorkspaceOutlivesItsSandboxes(t *testing.T) {
	b, spec := boundedBackend(t)
	other := spec
	other.Workspace = "other"
	first := backendtest.Open(t, b, spec)
	output(t, first, "echo kept >note")
	if err := b.engine.ContainerKill(t.Context(), first.ID(), "KILL"); err != nil { // it stays, as what has the volume
		t.Fatal(err)
	}
	backendtest.Says(t, backendtest.Open(t, b, other), "ls -A", "")
	unbounded := spec
	unbounded.DiskMB = 0
	for _, spec := range []backends.Spec{spec, unbounded} {
		sb := backendtest.Open(t, b, spec)
		if got := output(t, sb, "cat note"); got != "kept\n" {
			t.Errorf("with disk_mb %d the next sandbox finds %q", spec.DiskMB, got)
		}
		backendtest.Must(t, sb.Close(t.Context()))
	}
	larger := spec
	larger.DiskMB = 128
	if err := opening(t, b, larger); !errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), "disk_mb") {
		t.Errorf("with another bound Open says %v", err)
	}
}

func TestABoundedWorkspaceIsAdoptedWithItsSandbox(t *testing.T) {
	b, spec := boundedBackend(t)
	first := backendtest.Open(t, b, spec)
	output(t, first, "echo kept >note")
	abandon(first)
	backendtest.Says(t, adopt(t, b, first.ID(), spec), "cat note", "kept\n")
}

func TestNothingIsLeftOfABoundedWorkspace(t *testing.T) {
	b, spec := boundedBackend(t)
	sb := backendtest.Open(t, b, spec)
	if left := linksIn(t, b.cfg.StateDir); len(left) > 0 {
		t.Errorf("%v lead to a device that may become another's", left)
	}
	backendtest.Must(t, sb.Close(t.Context()))
	backendtest.Must(t, b.RemoveWorkspace(t.Context(), spec.Owner, spec.Workspace))
	for _, name := range []string{".ext4", ".ext4.part", ".device"} { // as a killed sidecar leaves
		backendtest.Must(t, os.WriteFile(filepath.Join(b.cfg.StateDir, workspaceVolumeName(spec.Owner, "half")+name), nil, 0o600))
	}
	if _, err := b.Sweep(t.Context(), spec.Owner, keepNone); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(b.cfg.StateDir); err != nil || len(left) > 0 {
		t.Errorf("left behind are %v, %v", left, err)
	}
}

func TestASweepSparesTheDisksOfWorkspaces(t *testing.T) {
	b, spec := boundedBackend(t)
	sb := backendtest.Open(t, b, spec)
	output(t, sb, "echo kept >note")
	if _, err := b.Sweep(t.Context(), spec.Owner, keepNone); err != nil {
		t.Fatal(err)
	}
	backendtest.Says(t, backendtest.Open(t, b, spec), "cat note", "kept\n")
}

func linksIn(t *testing.T, folder string) (links []string) {
	t.Helper()
	found, err := os.ReadDir(folder)
	backendtest.Must(t, err)
	for _, file := range found {
		if file.Type()&os.ModeSymlink != 0 {
			links = append(links, file.Name())
		}
	}
	return links
}

// A stopped container may be started by whoever may use the engine.
func TestAStoppedSandboxThatIsStartedAgainMountsNobodysDisk(t *testing.T) {
	b, spec := boundedBackend(t)
	stopped := backendtest.Open(t, b, spec)
	backendtest.Must(t, b.engine.ContainerKill(t.Context(), stopped.ID(), "KILL"))
	other := spec
	other.Workspace = "other"
	backendtest.Open(t, b, other) // which may get the device that the first had
	if err := b.engine.ContainerStart(context.Background(), stopped.ID(), container.StartOptions{}); err == nil {
		t.Error("it was started with whatever its device is now")
	}
}
