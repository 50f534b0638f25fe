// Package machine stands in for a machine that a cloud lends: a place on this
// kernel with processes, mounts, users, a network and a root of its own, in which
// programs are started as the user that is asked for. What fakes of clouds build their
// sandboxes of, in tests only.
//
// It is no kinder than a cloud: a program gets the variables it is given and no
// other, no workspace is made ahead, and root inside is root there and an
// ordinary user here. Its root is a folder with the host's /usr in it, which cannot be written to.
package machine

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// FirstID is the host's number for root inside; others follow it.
const FirstID = 100000

const users = 65536

// Machine is one such place.
type Machine struct {
	folder string
	root   string
	init   *exec.Cmd
	halt   sync.Once
	stop   sync.Once
}

//go:embed place.sh
var place string

// New starts a machine that ends with the test.
func New(tb testing.TB) *Machine {
	tb.Helper()
	return Restore(tb, "")
}

// Restore starts a machine with the files of a snapshot.
func Restore(tb testing.TB, snapshot string) *Machine {
	tb.Helper()
	Needs(tb)
	m, err := start(snapshot)
	if err != nil {
		tb.Fatalf("starting a machine: %v", err)
	}
	tb.Cleanup(m.Stop)
	return m
}

// Needs leaves a test out where no machine can be made.
func Needs(tb testing.TB) {
	tb.Helper()
	backendtest.Needs(tb, "a machine of its own", able())
}

func able() error {
	if os.Geteuid() != 0 {
		return errors.New("only root can make one")
	}
	for _, program := range []string{"nsenter", "setpriv", "pivot_root", "ip", "cp"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	return nil
}

func start(snapshot string) (*Machine, error) {
	folder, err := os.MkdirTemp("", "machine")
	if err != nil {
		return nil, err
	}
	m := &Machine{folder: folder, root: filepath.Join(folder, "root")}
	if err = os.Chmod(folder, 0o711); err == nil {
		err = m.populate(snapshot)
	}
	if err == nil {
		err = m.boot()
	}
	if err != nil {
		m.Stop()
		return nil, err
	}
	return m, nil
}

// made are the folders and files of a fresh machine.
var made = []struct {
	path string
	mode fs.FileMode
	text string
}{
	{path: "/", mode: 0o755}, {path: "/etc", mode: 0o755}, {path: "/usr", mode: 0o755}, {path: "/proc", mode: 0o755},
	{path: "/dev", mode: 0o755}, {path: "/root", mode: 0o700}, {path: "/home", mode: 0o755}, {path: "/run", mode: 0o755},
	{path: "/var", mode: 0o755}, {path: "/var/tmp", mode: fs.ModeSticky | 0o777}, {path: "/tmp", mode: fs.ModeSticky | 0o777},
	{path: "/opt", mode: 0o755}, {path: "/mnt", mode: 0o755}, {path: "/srv", mode: 0o755}, {path: "/.outside", mode: 0o700},
	{path: "/etc/passwd", mode: 0o644, text: "root:x:0:0::/root:/bin/bash\ndefault:x:1000:1000::/home/default:/bin/bash\n" +
		"nobody:x:65534:65534::/:/bin/false\n"},
	{path: "/etc/group", mode: 0o644, text: "root:x:0:\ntty:x:5:\ndefault:x:1000:\nnogroup:x:65534:\n"},
	{path: "/etc/hosts", mode: 0o644, text: "127.0.0.1 localhost machine\n"},
	{path: "/etc/nsswitch.conf", mode: 0o644, text: "passwd: files\ngroup: files\nhosts: files dns\n"},
}

// linked are links of the host's root into its /usr, shown what programs need of its
// /etc: they are mounted, read-only.
var (
	linked = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}
	shown  = []string{"/etc/alternatives", "/etc/ssl"}
)

func (m *Machine) populate(snapshot string) error {
	if snapshot != "" {
		return errors.Join(duplicate(snapshot, m.root), m.makeOne("/.outside", "", 0o700))
	}
	for _, f := range made {
		if err := m.makeOne(f.path, f.text, f.mode); err != nil {
			return err
		}
	}
	for _, path := range shown {
		if err := m.makeOne(path, "", 0o755); err != nil {
			return err
		}
	}
	for _, path := range linked {
		if err := m.link(path); err != nil {
			return err
		}
	}
	cache, err := os.ReadFile("/etc/ld.so.cache")
	if err != nil {
		return err
	}
	return m.makeOne("/etc/ld.so.cache", string(cache), 0o644)
}

// makeOne makes a file or a folder that is root's inside.
func (m *Machine) makeOne(path, text string, mode fs.FileMode) error {
	path = m.inside(path)
	var err error
	if text != "" {
		err = os.WriteFile(path, []byte(text), mode)
	} else {
		err = os.MkdirAll(path, 0o755)
	}
	return errors.Join(err, os.Lchown(path, FirstID, FirstID), os.Chmod(path, mode))
}

// link makes a link that the host has too; a folder is one of an old system.
func (m *Machine) link(path string) error {
	to, err := os.Readlink(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("want %s to be a link into /usr: %w", path, err)
	}
	return errors.Join(os.Symlink(to, m.inside(path)), os.Lchown(m.inside(path), FirstID, FirstID))
}

func (m *Machine) inside(path string) string { return filepath.Join(m.root, path) }

func duplicate(from, to string) error { return run("cp", "-a", "-T", from, to) }

func run(argv ...string) error {
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// boot starts the first process and waits until it stands in its own root.
func (m *Machine) boot() error {
	up, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer up.Close()
	words := new(strings.Builder)
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: FirstID, Size: users}}
	m.init = exec.Command("/bin/bash", "-c", place, "init", m.root)
	if _, err := m.init.StdinPipe(); err != nil { // open for as long as this process lives
		return err
	}
	m.init.Env = []string{"PATH=" + searchPath}
	m.init.ExtraFiles = []*os.File{theirs}
	log, err := os.Create(filepath.Join(m.folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	m.init.Stdout, m.init.Stderr = log, log
	m.init.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
			unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
		UidMappings: ids, GidMappings: ids, GidMappingsEnableSetgroups: true,
		Credential: &syscall.Credential{}, Setsid: true,
	}
	err = m.init.Start()
	theirs.Close()
	if err != nil {
		m.init = nil
		return err
	}
	_, _ = io.Copy(words, up)
	if m.init.Process.Signal(syscall.Signal(0)) == nil && !exists(m.inside(".outside")) {
		return nil
	}
	said, _ := os.ReadFile(log.Name())
	return fmt.Errorf("its first process failed: %s", said)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Halt ends everything inside; the files stay until Stop.
func (m *Machine) Halt() {
	m.halt.Do(func() {
		if m.init != nil {
			_ = m.init.Process.Kill()
			_ = m.init.Wait()
		}
	})
}

// Stop ends everything inside and removes the files.
func (m *Machine) Stop() {
	m.Halt()
	m.stop.Do(func() { _ = os.RemoveAll(m.folder) })
}

// Snapshot copies the files of the machine into a folder.
func (m *Machine) Snapshot(folder string) error { return duplicate(m.root, folder) }

// Load copies a folder to one inside, Unload one inside to a folder, with owners and
// modes as they are.
func (m *Machine) Load(folder, inside string) error   { return duplicate(folder, m.inside(inside)) }
func (m *Machine) Unload(inside, folder string) error { return duplicate(m.inside(inside), folder) }
