package docker

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

func TestConformanceOfPodman(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: the suite once more, with podman")
	}
	spec := testSpec(t)
	spec.PIDs, spec.MemoryMB = 512, 512
	backendtest.Run(t, backendtest.Config{
		Open:  func(t testing.TB) backends.Backend { return podmanBackend(t, spec.Owner) },
		Spec:  spec,
		Tries: backendtest.OnBackend,
	})
}

func TestPodmanLeavesASandboxNoCapability(t *testing.T) {
	b := podmanBackend(t, owner(t))
	sandbox, err := b.Open(t.Context(), testSpec(t))
	backendtest.Must(t, err)
	backendtest.NoError(t, b.checkCapabilities(t.Context(), sandbox.ID()))
	spec := testSpec(t)
	found, err := b.bring(t.Context(), "")
	backendtest.Must(t, err)
	host := confinement(spec)
	host.CapDrop = []string{"CHOWN"}
	made, err := b.engine.ContainerCreate(t.Context(), b.config(spec, found, linux), host, nil, nil, "")
	backendtest.Must(t, err)
	if err := b.inspect(t.Context(), made.ID, confinement(spec)); !errors.Is(err, backends.ErrUnsupported) ||
		!strings.Contains(err.Error(), "CAP_") {
		t.Errorf("a container with capabilities is found to be %v, want them named", err)
	}
}

func TestPodmanRemovesTheWorkspaceThatIsNamedAndNoOther(t *testing.T) {
	mine, other := owner(t), owner(t)+"-other"
	b := podmanBackend(t, mine, other)
	for _, whose := range []string{mine, other} {
		spec := testSpec(t)
		spec.Owner, spec.Workspace = whose, "w"
		sandbox, err := b.Open(t.Context(), spec)
		backendtest.Must(t, err)
		backendtest.Must(t, sandbox.Close(t.Context()))
	}
	backendtest.NoError(t, b.RemoveWorkspace(t.Context(), mine, "w"))
	for whose, want := range map[string]int{mine: 0, other: 1} {
		if list, err := b.Workspaces(t.Context(), whose); err != nil || len(list) != want {
			t.Errorf("%s has the workspaces %q, %v; want %d", whose, list, err, want)
		}
	}
}

// Podman keeps "size" among a volume's options and bounds nothing by it.
func TestPodmanIsAskedForABoundThatItKeepsOrRefuses(t *testing.T) {
	b := podmanBackend(t, owner(t))
	spec := testSpec(t)
	spec.Workspace, spec.DiskMB = "w", 64
	b.cfg.StateDir = ""
	sandbox, err := b.Open(t.Context(), spec)
	if err == nil {
		_ = sandbox.Close(t.Context())
		t.Skip("LEFT OUT: podman bounds volumes here")
	}
	backendtest.Fault(t, err, backends.ErrUnsupported, "disk_mb: ")
}

func TestPodmanSaysWhyASandboxDoesNotStart(t *testing.T) {
	b := podmanBackend(t, owner(t))
	found, err := b.bring(t.Context(), "")
	backendtest.Must(t, err)
	spec := testSpec(t)
	_, err = b.begin(t.Context(), "bailiff-"+strings.ToLower(owner(t)), spec, found, linux, nil) // no runner
	backendtest.Fault(t, err, backends.ErrUnavailable, runnerPath)
}

// podmanBackend is a backend on podman's service; what the owners left behind is
// removed at the end.
func podmanBackend(t testing.TB, owners ...string) *Backend {
	t.Helper()
	b, err := New(Config{Host: startPodman(t), Image: testImage, Runner: backendtest.Runner(t), StateDir: t.TempDir(),
		Log: slog.New(slog.NewTextHandler(backendtest.Shown(t), nil))})
	backendtest.Must(t, err)
	b.lendImage(t)
	t.Cleanup(func() {
		for _, owner := range owners {
			removeFrom(t, b, owner)
		}
	})
	return b
}

// startPodman starts podman's service for a test and returns its address. One whose
// test was killed ends when nobody has asked it anything for a while. What it has
// of images is kept for the next test, in ${BAILIFF_CACHE:-~/.cache/bailiff}.
func startPodman(t testing.TB) string {
	t.Helper()
	const what = "PODMAN (run scripts/install-deps)"
	program, err := exec.LookPath("podman")
	if err == nil && os.Getuid() != 0 {
		err = errors.New("only root can bound what runs there")
	}
	backendtest.Needs(t, what, err)
	socket := filepath.Join(t.TempDir(), "podman.sock")
	service := exec.Command(program, "--root", filepath.Join(cache(t), "podman"), "--runroot", "/run/bailiff-podman", "--storage-driver",
		"overlay",
		"--cgroup-manager", "cgroupfs", "--events-backend", "none", "system", "service", "--time", "60", "unix://"+socket)
	service.Env = append(os.Environ(), "CONTAINERS_CONF="+podmanSettings(t))
	service.Stderr = t.Output()
	backendtest.Must(t, service.Start())
	t.Cleanup(func() { _ = service.Process.Kill(); _ = service.Wait() })
	backendtest.Await(t, "podman listens", func() bool { // its socket is there a moment before
		conn, err := net.Dial("unix", socket)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return "unix://" + socket
}

func cache(t testing.TB) string {
	t.Helper()
	if folder := os.Getenv("BAILIFF_CACHE"); folder != "" {
		return folder
	}
	home, err := os.UserHomeDir()
	backendtest.Must(t, err)
	return filepath.Join(home, ".cache", "bailiff")
}

// podmanSettings keep podman from raising limits of its own beyond this process's,
// which takes a capability that root need not have.
func podmanSettings(t testing.TB) string {
	t.Helper()
	var files, processes unix.Rlimit
	backendtest.Must(t, errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &files), unix.Getrlimit(unix.RLIMIT_NPROC, &processes)))
	path := filepath.Join(t.TempDir(), "containers.conf")
	text := fmt.Sprintf("[containers]\ndefault_ulimits = [\"nofile=%d:%[1]d\", \"nproc=%d:%[2]d\"]\n", min(files.Max, 20_000),
		min(processes.Max, 32_768))
	backendtest.Must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// lendImage gives podman the test image, once.
func (b *Backend) lendImage(t testing.TB) {
	t.Helper()
	from := testEngine(t)
	want, err := from.ImageInspect(t.Context(), testImage)
	backendtest.Must(t, err)
	if have, err := b.engine.ImageInspect(t.Context(), testImage); err == nil && have.ID == want.ID {
		return
	}
	packed, err := from.ImageSave(t.Context(), []string{testImage})
	backendtest.Must(t, err)
	defer packed.Close()
	loaded, err := b.engine.ImageLoad(t.Context(), packed)
	backendtest.Must(t, err)
	loaded.Body.Close()
}

func TestProgramsOnPodmanTrustTheWayOutWithoutVariables(t *testing.T) {
	spec := testSpec(t)
	spec.Network = backends.Egress
	backendtest.TrustsWithoutVariables(t, backendtest.Open(t, podmanBackend(t, owner(t)), spec))
}

// Podman's sandboxes without a network are told no resolver.
func TestProgramsOnPodmanThatKnowNoProxyFindNoNames(t *testing.T) {
	spec := testSpec(t)
	spec.Network = backends.Egress
	sandbox := backendtest.Open(t, podmanBackend(t, owner(t)), spec)
	backendtest.FindsNoNames(t, sandbox, "/etc/resolv.conf leads programs to another resolver, or to none")
}

// Podman takes no wish for a runtime: the one of its service is what may be named.
func TestPodmanMakesSandboxesByTheRuntimeOfItsServiceOrNone(t *testing.T) {
	b := podmanBackend(t, owner(t))
	b.cfg.Owner = owner(t)
	t.Cleanup(func() { backendtest.NoError(t, b.Close()) })
	sandbox := backendtest.Open(t, b, testSpec(t))
	var told struct{ OCIRuntime string }
	backendtest.Must(t, b.askPodman(t.Context(), http.MethodGet, "/containers/"+sandbox.ID()+"/json", &told))
	b.cfg.Runtime = told.OCIRuntime
	backendtest.NoError(t, b.Ready(t.Context()))
	backendtest.NoError(t, backendtest.Open(t, b, testSpec(t)).Close(t.Context()))

	engine, err := b.describe(t.Context())
	backendtest.Must(t, err)
	for other := range engine.Runtimes {
		if other != told.OCIRuntime {
			b.cfg.RuntimesAllowed = []string{other}
			break
		}
	}
	if len(b.cfg.RuntimesAllowed) == 0 {
		t.Fatalf("podman knows no runtime but %q", told.OCIRuntime)
	}
	spec := testSpec(t)
	spec.Runtime = b.cfg.RuntimesAllowed[0]
	_, err = b.Open(t.Context(), spec)
	backendtest.Fault(t, err, backends.ErrUnavailable,
		`runtime: the engine makes the sandbox by "`+told.OCIRuntime+`", not by "`+spec.Runtime)
}
