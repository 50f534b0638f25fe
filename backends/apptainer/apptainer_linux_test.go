package apptainer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/apptainer"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

var spec = backends.Spec{Owner: "test", Session: "s", Network: "none", CPUs: 2, MemoryMB: 512, DiskMB: 256, PIDs: 600, ReadOnly: true}

// onStandIn makes backends of a sidecar that is root, whose program is the stand-in.
func onStandIn(t testing.TB, change ...func(*apptainer.Config)) *apptainer.Backend {
	t.Helper()
	needRoot(t)
	return backend(t, newStandIn(t), standInImage(t), change...)
}

func open(t testing.TB) backends.Backend { return onStandIn(t) }

const endsWithSidecar = "its sandboxes end with the sidecar: a sweep finds control groups and folders alone"

var rootsLack = map[string]string{
	"A sweep removes what its owner does not keep": endsWithSidecar,
	"A sweep spares what is being opened":          endsWithSidecar,
}

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Config{Name: "apptainer", Open: open, Spec: spec, Tries: backendtest.OnBackend, Without: rootsLack,
		Against: "apptainer 1.4.5, by `make apptainer-test`, as root and as a user without rights; in every other run a stand-in that " +
			"answers as that program was recorded to"})
}

// A sidecar that is not root has to accept that nobody delegated control groups to it.
func unprivileged(t *testing.T, program, image string) {
	open := func(t testing.TB) backends.Backend {
		return backend(t, program, image, func(c *apptainer.Config) { c.AcceptMissing = []string{"cpus", "memory_mb", "pids"} })
	}
	wanted := spec
	wanted.CPUs, wanted.MemoryMB, wanted.PIDs, wanted.DiskMB = 0, 0, 0, 0
	backendtest.Run(t, backendtest.Config{Open: open, Spec: wanted, Tries: backendtest.OnUser, Without: map[string]string{
		"A sweep removes what its owner does not keep":          endsWithSidecar,
		"A sweep spares what is being opened":                   endsWithSidecar,
		"What it cannot do is refused by the name of the field": "the configuration accepts that limits are missing",
		"No more is written than the bound on the disk":         "only root can bound what is written",
		"The host's files are out of sight": "an image's own /root, which is looked for too, is the user's where a " +
			"user has unpacked it",
		"Nothing is writable but the folders meant for it": "without root the program makes /dev a folder of the user's, in memory and " +
			"of bounded size",
	}})
}

func TestConformanceForAnUnprivilegedUser(t *testing.T) {
	needSquash(t)
	if backendtest.Unprivileged(t) {
		unprivileged(t, newStandIn(t), standInImage(t))
	}
}

func TestAKilledSidecarLeavesNothing(t *testing.T) { backendtest.TestKilledSidecar(t, open, spec) }

// hostile are variables by which the program would let something in: those for the
// inside it lets in whatever it is told, and by others it takes options.
func hostile(t *testing.T, folder string) {
	t.Helper()
	for _, prefix := range []string{"APPTAINER", "SINGULARITY"} {
		t.Setenv(prefix+"ENV_LEAKED", "leaked-value")
		t.Setenv(prefix+"_BIND", folder+":/leaked")
		t.Setenv(prefix+"_BINDPATH", folder+":/leaked")
		t.Setenv(prefix+"_NO_PRIVS", "0")
		t.Setenv(prefix+"_ADD_CAPS", "CAP_SYS_ADMIN")
	}
	t.Setenv("LEAKED", "leaked-value")
}

func leaksNothing(t *testing.T, b backends.Backend) {
	t.Helper()
	sandbox, err := b.Open(context.Background(), spec)
	backendtest.Must(t, err)
	defer sandbox.Close(context.Background())
	if out := backendtest.Output(t, sandbox, `ls -d /leaked 2>/dev/null; grep -c . /proc/self/environ >/dev/null; env | grep -i leaked; `+
		`grep -l `+
		`leaked-value /proc/[0-9]*/environ 2>/dev/null; echo end`); out != "end\n" {
		t.Errorf("inside is %s", out)
	}
	if values := environments(t); strings.Contains(values, "leaked") {
		t.Errorf("a process inside, or the program, has the variables %q", values)
	}
}

// environments are those of all that this process has started, itself left out.
func environments(t *testing.T) (all string) {
	t.Helper()
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	parents := map[int]int{}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), "\nPPid:\t")
		line, _, _ := strings.Cut(rest, "\n")
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parents[pid], _ = strconv.Atoi(line)
	}
	for pid := range parents {
		for above := parents[pid]; above > 1; above = parents[above] {
			if above == os.Getpid() {
				text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
				all += string(text)
				break
			}
		}
	}
	if !strings.Contains(all, "APPTAINER_") {
		t.Error("nothing of the sandbox is among what this process started")
	}
	return all
}

func TestNothingOfTheSidecarsVariablesGetsIn(t *testing.T) {
	folder := t.TempDir()
	b := onStandIn(t)
	hostile(t, folder)
	leaksNothing(t, b)
}

func TestLimitsAreForWhatIsInsideAndNotForTheProgram(t *testing.T) {
	b := onStandIn(t)
	sandbox, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	defer sandbox.Close(context.Background())
	folders, err := filepath.Glob("/sys/fs/cgroup/pids/bailiff-*-" + strconv.Itoa(os.Getpid()) + "-*/cgroup.procs")
	unified, _ := filepath.Glob("/sys/fs/cgroup/bailiff-*-" + strconv.Itoa(os.Getpid()) + "-*/cgroup.procs")
	if folders = append(folders, unified...); err != nil || len(folders) != 1 {
		t.Fatalf("the groups are %v, %v", folders, err)
	}
	members, err := os.ReadFile(folders[0])
	backendtest.Must(t, err)
	for _, pid := range strings.Fields(string(members)) {
		words, _ := os.ReadFile("/proc/" + pid + "/cmdline")
		if !strings.Contains(string(words), "runner") && !strings.Contains(string(words), "supervise") {
			t.Errorf("in the group is %q", words)
		}
	}
	if len(strings.Fields(string(members))) == 0 {
		t.Error("nobody is in the group")
	}
}

func TestMountsShowTheFoldersThatAreAllowed(t *testing.T) {
	shown := filepath.Join(t.TempDir(), `a "b",c:d`)
	backendtest.Must(t, os.Mkdir(shown, 0o755))
	backendtest.Must(t, os.WriteFile(filepath.Join(shown, "file"), []byte("shown"), 0o644))
	wanted := spec
	wanted.Mounts = []bailiff.Mount{{Source: shown, Target: "/data", ReadOnly: true}}
	b := onStandIn(t, func(c *apptainer.Config) { c.MountsAllowed = []string{shown} })
	backendtest.OnceSays(t, b, wanted, "cat /data/file; echo x 2>/dev/null >/data/file || echo ' read-only'",
		"shown read-only\n")
}

func TestAWritableRootKeepsItsShareOfTheDisk(t *testing.T) {
	wanted := spec
	wanted.DiskMB, wanted.ReadOnly = 64, false
	backendtest.OnceSays(t, onStandIn(t), wanted, "head -c 100M /dev/zero >/big 2>/dev/null; stat -c %s /big", "4194304\n")
}

func TestReadySaysWhatIsWrong(t *testing.T) {
	needRoot(t)
	program, folder := newStandIn(t), t.TempDir()
	older := filepath.Join(folder, "apptainer")
	failing := filepath.Join(folder, "singularity")
	for path, script := range map[string]string{older: program + ` "$@" | grep -v -e --no-eval`,
		failing: `printf 'FATAL:  \033[2Jno\r\nroom\n' >&2; exit 255`} {
		backendtest.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	for _, c := range []struct {
		name, fault string
		change      func(*apptainer.Config)
		path        string
	}{
		{"nothing", "", func(*apptainer.Config) {}, os.Getenv("PATH")},
		{"the program is not installed", "install apptainer", func(c *apptainer.Config) { c.Program = "" }, "/nowhere"},
		{"the program is not there", "no such file", func(c *apptainer.Config) { c.Program = "/nowhere" }, os.Getenv("PATH")},
		{"the program is too old", "does not know --no-eval", func(c *apptainer.Config) { c.Program = older }, os.Getenv("PATH")},
		{"the program fails", "singularity: exit status 255: FATAL: [2Jno room", func(c *apptainer.Config) { c.Program = failing },
			os.Getenv("PATH")},
		{"images cannot be unpacked", "squashfs-tools", func(*apptainer.Config) {}, "/nowhere"},
		{"the image of a registry", "", func(c *apptainer.Config) { c.Image = "docker://debian:12" }, os.Getenv("PATH")},
		{"the image is not there", "image: there is no file /gone.sif", func(c *apptainer.Config) { c.Image = "/gone.sif" },
			os.Getenv("PATH")},
		{"the image is none", "is no SIF file", func(c *apptainer.Config) { c.Image = older }, os.Getenv("PATH")},
		{"the image is pinned", "", func(c *apptainer.Config) { c.Image = "/gone.sif#sha256:" + strings.Repeat("0", 64) },
			os.Getenv("PATH")},
		{"the runner is not there", "finding the runner", func(c *apptainer.Config) { c.Runner = "/nowhere" }, os.Getenv("PATH")},
		{"the runner is no runner", "gave no answer", func(c *apptainer.Config) { c.Runner = "/bin/true" }, os.Getenv("PATH")},
	} {
		t.Run(c.name, func(t *testing.T) {
			backendtest.Runner(t)
			b := backend(t, program, "", c.change)
			t.Setenv("PATH", c.path)
			if c.path == "/nowhere" {
				b = backend(t, program, "", c.change)
			}
			err := b.Ready(t.Context())
			backendtest.Fault(t, err, backends.ErrUnavailable, c.fault)
		})
	}
}

func TestConfigurationFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, fault string
		cfg         apptainer.Config
	}{
		{"no runner", "bailiff-runner", apptainer.Config{StateDir: "/s"}},
		{"a relative state folder", "state folder", apptainer.Config{Runner: "/r", StateDir: "s"}},
		{"a relative program", "program", apptainer.Config{Runner: "/r", StateDir: "/s", Program: "apptainer"}},
		{"root as user", "user", apptainer.Config{Runner: "/r", StateDir: "/s", User: "0:0"}},
		{"a relative image", "image", apptainer.Config{Runner: "/r", StateDir: "/s", Image: "debian:12"}},
		{"an image without a name", "image", apptainer.Config{Runner: "/r", StateDir: "/s", Image: "docker://"}},
		{"a limit nobody knows", "cpus", apptainer.Config{Runner: "/r", StateDir: "/s", AcceptMissing: []string{"cpu"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := apptainer.New(c.cfg); err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("error is %v, want it to speak of %s", err, c.fault)
			}
		})
	}
}

// What a sidecar was making when it was killed is thrown away by the next, what is in
// use by this one is not.
func TestASweepThrowsAwayWhatWasBeingMade(t *testing.T) {
	folder := t.TempDir()
	b := onStandIn(t, func(c *apptainer.Config) { c.StateDir = folder })
	sandbox, err := b.Open(t.Context(), spec)
	backendtest.Must(t, err)
	defer sandbox.Close(context.Background())
	left := filepath.Join(folder, "works", "123", "image.sif")
	backendtest.Must(t, errors.Join(os.Mkdir(filepath.Dir(left), 0o700), os.WriteFile(left, []byte("half of it"), 0o600)))
	if _, err := b.Sweep(t.Context(), spec.Owner, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if works, err := os.ReadDir(filepath.Join(folder, "works")); err != nil || len(works) != 1 || works[0].Name() == "123" {
		t.Errorf("left are %v, %v, want the one of the sandbox", works, err)
	}
	backendtest.Says(t, sandbox, "echo fine", "fine\n")
	backendtest.NoError(t, sandbox.Close(context.Background()))
	if works, err := os.ReadDir(filepath.Join(folder, "works")); err != nil || len(works) != 0 {
		t.Errorf("left are %v, %v", works, err)
	}
}

func BenchmarkTrue(b *testing.B) { backendtest.Benchmark(b, onStandIn(b), spec) }
