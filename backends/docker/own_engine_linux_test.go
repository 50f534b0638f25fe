package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/docker/docker/api/types/image"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// ownImage is all that the engine of a test's own has: busybox.
const ownImage = "own:test"

// machine is what an engine of a test's own runs on, so that it may be killed:
// namespaces of its own for processes, mounts and the network, in which the
// engine of this machine is not seen. They end, with whatever runs in them, when
// the script has no more to read: however this test process dies.
type machine struct {
	folder string
	orders io.WriteCloser
	init   *exec.Cmd
}

// boot is what process 1 does. What an engine keeps is in $1; the rest goes with
// the machine.
const boot = `
mount -t proc proc /proc && mount -t tmpfs tmpfs /run || exit
while read -r order; do
	case $order in
	start) dockerd --config-file "$1/config" --host "unix://$1/sock" --data-root "$1/data" --exec-root /run/engine \
		--pidfile /run/engine.pid --cgroup-parent "/$2" --exec-opt native.cgroupdriver=cgroupfs --group 0 --bridge none \
		--iptables=false --ip-forward=false --ip-masq=false --userland-proxy=false >>"$1/log" 2>&1 </dev/null & engine=$! ;;
	kill) kill -9 $engine; wait $engine ;;
	esac
done`

// startMachine starts a machine and an engine on it, of which nothing is left at
// the end of the test.
func startMachine(t *testing.T) *machine {
	t.Helper()
	return startMachineWith(t, "{}\n")
}

// startMachineWith is startMachine with a configuration of the engine.
func startMachineWith(t *testing.T, config string) *machine {
	t.Helper()
	const engine = "AN ENGINE TO KILL"
	if os.Getuid() != 0 {
		backendtest.Needs(t, engine, errors.New("only root can start one"))
	}
	for _, program := range []string{"dockerd", "containerd", "busybox", "mount", "bash"} {
		_, err := exec.LookPath(program)
		backendtest.Needs(t, engine+" (run scripts/install-deps)", err)
	}
	folder, err := os.MkdirTemp("", "engine") // a short path, as sockets need
	backendtest.Must(t, err)
	m := &machine{folder: folder}
	t.Cleanup(func() { m.vanish(t) })
	backendtest.Must(t, os.WriteFile(filepath.Join(folder, "config"), []byte(config), 0o600))
	m.boot(t)
	m.importImage(t)
	return m
}

func (m *machine) host() string   { return "unix://" + filepath.Join(m.folder, "sock") }
func (m *machine) cgroup() string { return "bailiff-" + filepath.Base(m.folder) }

func (m *machine) boot(t *testing.T) {
	t.Helper()
	m.init = exec.Command("bash", "-c", boot, "boot", m.folder, m.cgroup())
	m.init.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:   syscall.CLONE_NEWPID | syscall.CLONE_NEWNET,
		Unshareflags: syscall.CLONE_NEWNS,
	}
	m.init.Stderr = t.Output()
	var err error
	if m.orders, err = m.init.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	backendtest.Must(t, m.init.Start())
	m.startEngine(t)
}

// halt ends everything at once, as the loss of power does.
func (m *machine) halt() {
	_ = m.init.Process.Kill()
	_ = m.init.Wait() // returns when all of its processes are gone
}

func (m *machine) order(t *testing.T, order string) {
	t.Helper()
	if _, err := io.WriteString(m.orders, order+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) startEngine(t *testing.T) {
	t.Helper()
	m.order(t, "start")
	m.await(t, "answers", func(answer error) bool { return answer == nil })
}

// killEngine kills the engine alone; what it started goes on.
func (m *machine) killEngine(t *testing.T) {
	t.Helper()
	m.order(t, "kill")
	m.await(t, "is gone", func(answer error) bool { return answer != nil })
}

// await waits until the engine answers, or does no more.
func (m *machine) await(t *testing.T, what string, holds func(answer error) bool) {
	t.Helper()
	b := m.backend(t)
	defer func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(m.folder, "log"))
			t.Logf("the engine said\n%s", log)
		}
	}()
	backendtest.Await(t, "the engine "+what, func() bool {
		_, answer := b.engine.Ping(t.Context())
		return holds(answer)
	})
}

func (m *machine) importImage(t *testing.T) {
	t.Helper()
	path, err := exec.LookPath("busybox")
	backendtest.Must(t, err)
	program, err := os.ReadFile(path)
	backendtest.Must(t, err)
	archive, err := pack(tar.Header{Typeflag: tar.TypeReg, Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))}, program)
	backendtest.Must(t, err)
	said, err := m.backend(t).engine.ImageImport(t.Context(), image.ImportSource{Source: archive, SourceName: "-"}, ownImage,
		image.ImportOptions{})
	backendtest.Must(t, err)
	defer said.Close()
	if text, err := io.ReadAll(said); err != nil || bytes.Contains(text, []byte("error")) {
		t.Fatalf("importing says %s, %v", text, err)
	}
}

// backend is a new sidecar's on this machine.
func (m *machine) backend(t *testing.T, change ...func(*Config)) *Backend {
	t.Helper()
	cfg := Config{Host: m.host(), Image: ownImage, Runner: backendtest.Runner(t), Owner: owner(t),
		Log: slog.New(slog.NewTextHandler(backendtest.Shown(t), nil))}
	for _, f := range change {
		f(&cfg)
	}
	b, err := New(cfg)
	backendtest.Must(t, err)
	t.Cleanup(func() { backendtest.NoError(t, b.Close()) })
	return b
}

// vanish removes the machine with its disk and its control groups.
func (m *machine) vanish(t *testing.T) {
	if m.init != nil {
		m.halt()
	}
	backendtest.NoError(t, errors.Join(os.RemoveAll(m.folder), m.removeGroups()))
}

func (m *machine) removeGroups() error {
	var groups []string
	var err error
	unified := filepath.Join("/sys/fs/cgroup", m.cgroup())
	controllers, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup/*", m.cgroup()))
	for _, top := range append(controllers, unified) {
		if _, absent := os.Stat(top); absent != nil {
			continue
		}
		err = errors.Join(err, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				groups = append(groups, path)
			}
			return err
		}))
	}
	for _, group := range slices.Backward(groups) { // those within others first
		err = errors.Join(err, os.Remove(group))
	}
	return err
}
