package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/local"
)

var spec = backends.Spec{Owner: "test", Session: "s", Network: "full"}

func open(t testing.TB) backends.Backend {
	t.Helper()
	b, err := local.New(local.Config{Runner: backendtest.Runner(t), Workdir: t.TempDir(), StateDir: t.TempDir()})
	backendtest.Must(t, err)
	return b
}

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Config{Name: "local", Against: "the machine of the tests", Open: open, Spec: spec,
		Tries: backendtest.OnBackend, Without: map[string]string{
			"A command cannot look into the runner": "where bailiff is root, so are commands; as another user they cannot",
		}})
}

func TestConformanceForAnUnprivilegedUser(t *testing.T) {
	if backendtest.Unprivileged(t) {
		backendtest.Run(t, backendtest.Config{Open: open, Spec: spec, Tries: backendtest.OnUser})
	}
}

func TestAKilledSidecarLeavesNothing(t *testing.T) { backendtest.TestKilledSidecar(t, open, spec) }

func TestWhatAPausedSidecarRunsEnds(t *testing.T) {
	backendtest.TestPausedSidecar(t, func(t testing.TB) backends.Backend {
		b, err := local.New(local.Config{Runner: backendtest.Runner(t), Workdir: t.TempDir(), StateDir: t.TempDir(),
			Silence: backendtest.Silence})
		backendtest.Must(t, err)
		return b
	}, spec)
}

func BenchmarkTrue(b *testing.B) { backendtest.Benchmark(b, open(b), spec) }

func TestWhatTheHostCannotDoIsRefusedByName(t *testing.T) {
	for _, c := range []struct {
		field string
		spec  backends.Spec
	}{
		{"network", backends.Spec{Network: "none"}},
		{"network", backends.Spec{}},
		{"image", backends.Spec{Network: "full", Image: "debian"}},
		{"cpus", backends.Spec{Network: "full", CPUs: 1}},
		{"memory_mb", backends.Spec{Network: "full", MemoryMB: 1}},
		{"disk_mb", backends.Spec{Network: "full", DiskMB: 1}},
		{"pids", backends.Spec{Network: "full", PIDs: 1}},
		{"read_only", backends.Spec{Network: "full", ReadOnly: true}},
		{"mounts", backends.Spec{Network: "full", Mounts: []bailiff.Mount{{Source: "/a", Target: "/b"}}}},
	} {
		t.Run(c.field, func(t *testing.T) {
			_, err := open(t).Open(context.Background(), c.spec)
			backendtest.Fault(t, err, backends.ErrUnsupported, c.field)
		})
	}
}

func TestReadyNamesTheMissingFolder(t *testing.T) {
	b, err := local.New(local.Config{Runner: backendtest.Runner(t), Workdir: "/nowhere"})
	backendtest.Must(t, err)
	if err := b.Ready(context.Background()); !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("error is %v, want one that wraps ErrUnavailable and names the folder", err)
	}
}
