package bubblewrap_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/bubblewrap"
	"github.com/bailiff-dev/bailiff/backends/loop"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// stateDir is a folder that the sandbox's user can pass through.
func stateDir(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "bailiff-bubblewrap")
	backendtest.Must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	backendtest.Must(t, os.Chmod(folder, 0o711))
	return folder
}

func backend(t testing.TB, change ...func(*bubblewrap.Config)) *bubblewrap.Backend {
	t.Helper()
	cfg := bubblewrap.Config{Runner: backendtest.Runner(t), StateDir: stateDir(t)}
	for _, f := range change {
		f(&cfg)
	}
	b, err := bubblewrap.New(cfg)
	backendtest.Must(t, err)
	return b
}

var spec = backends.Spec{Owner: "test", Session: "s", Network: "none", CPUs: 2, MemoryMB: 512, DiskMB: 256, PIDs: 600, ReadOnly: true}

func open(t testing.TB) backends.Backend { return backend(t) }

const endsWithSidecar = "its sandboxes end with the sidecar: a sweep finds control groups alone"

// Of all backends this one is tried for what rests on the runner alone, too: its sandboxes are the cheapest.
func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Config{Name: "bubblewrap",
		Against: "bubblewrap on the machine of the tests, as root and as a user without rights", Open: open, Spec: spec,
		Without: map[string]string{"A sweep removes what its owner does not keep": endsWithSidecar,
			"A sweep spares what is being opened": endsWithSidecar}})
}

// Where nobody has delegated control groups, an unprivileged sidecar has to
// accept that their limits are missing.
func TestConformanceForAnUnprivilegedUser(t *testing.T) {
	if !backendtest.Unprivileged(t) {
		return
	}
	unbounded := func(t testing.TB) backends.Backend {
		return backend(t, func(c *bubblewrap.Config) { c.AcceptMissing = []string{"cpus", "memory_mb", "pids"} })
	}
	wanted := spec
	wanted.CPUs, wanted.MemoryMB, wanted.PIDs = 0, 0, 0
	backendtest.Run(t, backendtest.Config{Open: unbounded, Spec: wanted, Tries: backendtest.OnUser, Without: map[string]string{
		"What it cannot do is refused by the name of the field": "the configuration accepts that limits are missing",
		"A sweep removes what its owner does not keep":          endsWithSidecar,
		"A sweep spares what is being opened":                   endsWithSidecar,
	}})
}

func TestAKilledSidecarLeavesNothing(t *testing.T) { backendtest.TestKilledSidecar(t, open, spec) }

func TestWhatAPausedSidecarRunsEnds(t *testing.T) {
	backendtest.TestPausedSidecar(t, func(t testing.TB) backends.Backend {
		return backend(t, func(c *bubblewrap.Config) { c.Silence = backendtest.Silence })
	}, spec)
}

func TestAKilledSidecarLeavesNoDiskMounted(t *testing.T) {
	backendtest.Needs(t, "LOOP DEVICES", loop.Possible())
	backendtest.TestKilledSidecar(t, open, bounded("w", 64))
}

func bounded(workspace string, diskMB int) backends.Spec {
	wanted := spec
	wanted.Workspace, wanted.DiskMB = workspace, diskMB
	return wanted
}

func TestTheBoundOfAWorkspaceIsKeptOrRefused(t *testing.T) {
	backendtest.Needs(t, "LOOP DEVICES", loop.Possible())
	b := backend(t)
	accepting := backend(t, func(c *bubblewrap.Config) { c.AcceptMissing = []string{"disk_mb"} })
	for _, b := range []*bubblewrap.Backend{b, accepting} {
		backendtest.Once(t, b, bounded("disk", 64), "echo on a disk >file")
		backendtest.Once(t, b, bounded("folder", 0), "echo in a folder >file")
	}
	for _, c := range []struct {
		name, said string
		spec       backends.Spec
		refused    bool
	}{
		{"as it was made", "on a disk\n", bounded("disk", 64), false},
		{"no bound is asked for any more", "on a disk\n", bounded("disk", 0), false},
		{"another bound", "on a disk\n", bounded("disk", 32), true},
		{"it was made without one", "in a folder\n", bounded("folder", 64), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sandbox, err := b.Open(context.Background(), c.spec)
			if err == nil {
				sandbox.Close(context.Background())
			}
			if c.refused != (errors.Is(err, backends.ErrUnsupported) && strings.Contains(err.Error(), "disk_mb")) || !c.refused &&
				err != nil {
				t.Errorf("Open says %v, want a refusal that names disk_mb: %v", err, c.refused)
			}
			backendtest.OnceSays(t, accepting, c.spec, "cat file", c.said)
		})
	}
}

func TestAMissingLimitIsRefusedUnlessItIsAccepted(t *testing.T) {
	b := backend(t)
	accepting := backend(t, func(c *bubblewrap.Config) { c.AcceptMissing = []string{"disk_mb"} })
	t.Setenv("PATH", "/nowhere") // where no mkfs is
	if _, err := b.Open(context.Background(), bounded("w", 64)); !errors.Is(err, backends.ErrUnsupported) ||
		!strings.Contains(err.Error(), "disk_mb") {
		t.Errorf("error is %v, want one that wraps ErrUnsupported and names disk_mb", err)
	}
	backendtest.OnceSays(t, accepting, bounded("w", 64), "echo kept >file; cat file", "kept\n")
}

func TestAWritableRootKeepsItsShareOfTheDisk(t *testing.T) {
	wanted := bounded("", 64)
	wanted.ReadOnly = false
	backendtest.OnceSays(t, backend(t), wanted, "head -c 100M /dev/zero >/big 2>/dev/null; stat -c %s /big", "4194304\n")
}

func TestADiskThatWasNotFinishedIsMadeAnewOrRemoved(t *testing.T) {
	backendtest.Needs(t, "LOOP DEVICES", loop.Possible())
	folder := stateDir(t)
	b := backend(t, func(c *bubblewrap.Config) { c.StateDir = folder })
	backendtest.Once(t, b, bounded("w", 64), "true")
	disks, err := filepath.Glob(filepath.Join(folder, "disks", "*"))
	if err != nil || len(disks) != 1 {
		t.Fatalf("the disks are %v, %v", disks, err)
	}
	backendtest.Must(t, b.RemoveWorkspace(t.Context(), spec.Owner, "w"))
	if err := os.WriteFile(disks[0]+".part", []byte("half of it"), 0o600); err != nil { // as one that is killed leaves it
		t.Fatal(err)
	}
	if names, err := b.Workspaces(t.Context(), spec.Owner); err != nil || !slices.Equal(names, []string{"w"}) {
		t.Errorf("the workspaces are %v, %v", names, err)
	}
	backendtest.OnceSays(t, b, bounded("w", 64), "ls -A", "")
	backendtest.NoError(t, b.RemoveWorkspace(t.Context(), spec.Owner, "w"))
	if left, err := os.ReadDir(filepath.Join(folder, "disks")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

func BenchmarkTrue(b *testing.B) { backendtest.Benchmark(b, backend(b), spec) }

func TestWhatNamespacesCannotDoIsRefusedByName(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*backends.Spec)
	}{
		{"network", func(s *backends.Spec) { s.Network = "full" }},
		{"network", func(s *backends.Spec) { s.Network = "" }},
		{"images", func(s *backends.Spec) { s.Image = "debian" }},
		{"pids", func(s *backends.Spec) { s.PIDs = 3 }},
		{"mounts", func(s *backends.Spec) { s.Mounts = []bailiff.Mount{{Source: "/var/run", Target: "/x"}} }},
	} {
		t.Run(c.field, func(t *testing.T) {
			wanted := spec
			c.change(&wanted)
			_, err := backend(t).Open(context.Background(), wanted)
			backendtest.Fault(t, err, backends.ErrUnsupported, c.field)
		})
	}
}

func TestReadySaysWhatIsWrong(t *testing.T) {
	closed := stateDir(t)
	backendtest.Must(t, os.Chmod(closed, 0o700))
	for _, c := range []struct {
		name, fault string
		change      func(*bubblewrap.Config)
		path        string
	}{
		{"nothing", "", func(*bubblewrap.Config) {}, os.Getenv("PATH")},
		{"bwrap is not installed", "install bubblewrap", func(*bubblewrap.Config) {}, "/nowhere"},
		{"the runner is not there", "finding the runner", func(c *bubblewrap.Config) { c.Runner = "/nowhere" }, os.Getenv("PATH")},
		{"the runner is no runner", "gave no answer", func(c *bubblewrap.Config) { c.Runner = "/bin/true" }, os.Getenv("PATH")},
		{"the root is not there", "root", func(c *bubblewrap.Config) { c.Root = "/nowhere" }, os.Getenv("PATH")},
		{"the way to the workspaces is closed", "chmod o+x", func(c *bubblewrap.Config) { c.StateDir = filepath.Join(closed, "state") },
			os.Getenv("PATH")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if os.Getuid() != 0 && strings.Contains(c.fault, "chmod") {
				return // the workspaces are then this user's, and so is the way
			}
			backendtest.Runner(t)
			t.Setenv("PATH", c.path)
			err := backend(t, c.change).Ready(t.Context())
			backendtest.Fault(t, err, backends.ErrUnavailable, c.fault)
		})
	}
}

func TestConfigurationFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, fault string
		cfg         bubblewrap.Config
	}{
		{"no runner", "bailiff-runner", bubblewrap.Config{StateDir: "/s"}},
		{"a relative state folder", "state folder", bubblewrap.Config{Runner: "/r", StateDir: "s"}},
		{"the host's root as root", "root", bubblewrap.Config{Runner: "/r", StateDir: "/s", Root: "/usr/.."}},
		{"root as user", "user", bubblewrap.Config{Runner: "/r", StateDir: "/s", User: "0:0"}},
		{"a limit nobody knows", "cpus", bubblewrap.Config{Runner: "/r", StateDir: "/s", AcceptMissing: []string{"cpu"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := bubblewrap.New(c.cfg); err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error is %v, want it to speak of %s", err, c.fault)
			}
		})
	}
}

func TestMountsShowTheFoldersThatAreAllowed(t *testing.T) {
	shown := stateDir(t)
	backendtest.Must(t, os.WriteFile(filepath.Join(shown, "file"), []byte("shown"), 0o644))
	wanted := spec
	wanted.Mounts = []bailiff.Mount{{Source: shown, Target: "/data", ReadOnly: true}}
	b := backend(t, func(c *bubblewrap.Config) { c.MountsAllowed = []string{shown} })
	backendtest.OnceSays(t, b, wanted, "cat /data/file; echo x 2>/dev/null >/data/file || echo ' read-only'",
		"shown read-only\n")
}

func TestAFolderThatIsGoneIsNamedWithTheWayToTakeItAway(t *testing.T) {
	gone := filepath.Join(stateDir(t), "gone")
	wanted := spec
	wanted.Mounts = []bailiff.Mount{{Source: gone, Target: "/data"}}
	_, err := backend(t, func(c *bubblewrap.Config) { c.MountsAllowed = []string{gone} }).Open(t.Context(), wanted)
	backendtest.Fault(t, err, backends.ErrUnavailable, "the folder "+gone+", which sandboxes show, is not there")
}

func TestARootOfOnesOwnIsShownWithoutItsPrivateFolders(t *testing.T) {
	root := stateDir(t)
	for _, name := range []string{"usr", "etc", "opt/tool", "root", "var"} {
		backendtest.Must(t, os.MkdirAll(filepath.Join(root, name), 0o755))
	}
	for name, to := range map[string]string{"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64"} {
		backendtest.Must(t, os.Symlink(to, filepath.Join(root, name)))
	}
	wanted := spec
	wanted.Mounts = []bailiff.Mount{{Source: "/usr", Target: "/usr", ReadOnly: true}}
	b := backend(t, func(c *bubblewrap.Config) { c.Root, c.MountsAllowed = root, []string{"/usr"} })
	backendtest.OnceSays(t, b, wanted, "cd /; echo *", "bin dev etc home lib lib64 opt proc run tmp usr var workspace\n")
}

func TestAWorkspaceOfAnyShapeIsRemoved(t *testing.T) {
	t.Parallel()
	b := backend(t)
	backendtest.RemovesAnyWorkspace(t, b, bounded("shape", 0))
}

func TestACommandThatFillsItsWorkspaceAloneIsStopped(t *testing.T) {
	backendtest.Long(t)
	t.Parallel()
	bounded := spec
	bounded.DiskMB, bounded.WorkspaceMB = 0, 8
	sandbox, err := backend(t).Open(t.Context(), bounded)
	backendtest.Must(t, err)
	t.Cleanup(func() { sandbox.Close(context.Background()) })
	exit, err := sandbox.Run(t.Context(), runner.Shell("head -c 16M /dev/zero >big; exec sleep 600"), func([]byte) {})
	if err != nil || !exit.Excess.Stopped {
		t.Errorf("it ended as %+v, %v, want it stopped for what it wrote", exit, err)
	}
}

// takeAll takes what there is of watchers, and holds it.
const takeAll = `
import ctypes, time
libc, taken = ctypes.CDLL(None), 0
while libc.inotify_init1(0) >= 0:
    taken += 1
print(taken, flush=True)
time.sleep(600)
`

// A session that takes all that it gets of what the kernel counts by user leaves others, and the user, most of it.
func TestASandboxLeavesOthersRoomToWatchFiles(t *testing.T) {
	b := backend(t)
	all := hostsNumber(t, "/proc/sys/fs/inotify/max_user_instances")
	greedy, other := backendtest.Open(t, b, spec), backendtest.Open(t, b, spec)
	backendtest.Output(t, greedy, "setsid python3 -c '"+takeAll+"' >/tmp/taken 2>&1 &")
	taken := ""
	backendtest.Await(t, "a sandbox to have taken all", func() bool {
		taken = backendtest.Output(t, greedy, "cat /tmp/taken")
		return taken != ""
	})
	if n, err := strconv.Atoi(strings.TrimSpace(taken)); err != nil || n < 8 || n > max(all/4, 32) {
		t.Errorf("a sandbox took %q of the %d watchers of its user, want a quarter at most and enough for usual tools", taken, all)
	}
	watching := "import ctypes; print(sum(ctypes.CDLL(None).inotify_init1(0) >= 0 for _ in range(8)))"
	backendtest.Says(t, other, "python3 -c '"+watching+"'", "8\n")
	backendtest.Says(t, other, "echo 5 2>/dev/null >/proc/sys/user/max_inotify_instances || echo refused", "refused\n")
	var host unix.Rlimit
	backendtest.Must(t, unix.Getrlimit(unix.RLIMIT_SIGPENDING, &host))
	inside, err := strconv.ParseUint(strings.TrimSpace(backendtest.Output(t, other, "ulimit -Hi")), 10, 64)
	if err != nil || inside != host.Max/4 && inside != host.Cur/4 {
		t.Errorf("a sandbox may have %d signals queued, %v; its user %d", inside, err, host.Max)
	}
}

func hostsNumber(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	backendtest.Must(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	backendtest.Must(t, err)
	return n
}

// watcher prints the names of files that are made or changed in its folder, as what builds anew at each change hears of them.
const watcher = `
import ctypes, os, struct
libc = ctypes.CDLL(None)
fd = libc.inotify_init1(0)
assert libc.inotify_add_watch(fd, b".", 0x2 | 0x80 | 0x100) > 0
print("watches", flush=True)
while True:
    data, at = os.read(fd, 65536), 0
    while at < len(data):
        length = struct.unpack_from("iIII", data, at)[3]
        print(data[at + 16:at + 16 + length].rstrip(b"\0").decode(), flush=True)
        at += 16 + length
`

// What watches the files of a folder that is shown hears of changes on both sides, however they are made.
func TestAWatcherHearsOfChangesFromTheHostAndFromInside(t *testing.T) {
	t.Parallel()
	shown := stateDir(t)
	backendtest.Must(t, os.Chmod(shown, 0o777))
	wanted := spec
	wanted.Mounts = []bailiff.Mount{{Source: shown, Target: "/project"}}
	b := backend(t, func(c *bubblewrap.Config) { c.MountsAllowed = []string{shown} })
	sandbox, other := backendtest.Open(t, b, wanted), backendtest.Open(t, b, wanted)
	backendtest.Output(t, sandbox, "cd /project && setsid python3 -c '"+watcher+"' >/tmp/heard 2>&1 &")
	hears := func(what string) {
		t.Helper()
		backendtest.Await(t, "a watcher to hear of "+what, func() bool {
			return slices.Contains(strings.Fields(backendtest.Output(t, sandbox, "cat /tmp/heard")), what)
		})
	}
	hears("watches")
	backendtest.Must(t, os.WriteFile(filepath.Join(shown, "written"), nil, 0o666))
	hears("written")
	backendtest.Must(t, os.Rename(filepath.Join(shown, "written"), filepath.Join(shown, "renamed")))
	hears("renamed") // as editors save
	backendtest.Output(t, sandbox, "echo x >/project/inside")
	hears("inside")
	backendtest.Output(t, other, "echo x >/project/beside")
	hears("beside")
}
