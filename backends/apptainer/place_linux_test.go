package apptainer_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The names under which this program makes a place, and is what process 1 is called
// there.
const (
	placeName = "apptainer-place"
	initName  = "appinit"
)

const sceneVariable = "STANDIN_SCENE"

// hostsUser marks a root that holds no programs: the machine's are shown in it.
const hostsUser = ".usr-of-the-host"

// makePlace makes the place around this process and becomes the command.
func makePlace() {
	runtime.LockOSThread()
	var s scene
	if err := json.Unmarshal([]byte(os.Getenv(sceneVariable)), &s); err != nil {
		panic(err)
	}
	s.build()
	if s.Hostname != "" {
		must(unix.Sethostname([]byte(s.Hostname)))
	}
	if s.Flags&unix.CLONE_NEWNET != 0 {
		must(raiseLoopback())
	}
	unix.Umask(0o022)
	must(s.drop())
	s.begin()
}

func must(err error) {
	if err != nil {
		_, _, line, _ := runtime.Caller(1)
		fatal("the stand-in's place, line %d: %v", line, err)
	}
}

// build mounts what is seen inside and makes it the root.
func (s scene) build() {
	must(unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""))
	size := ""
	if !s.Root {
		size = "size=65536k"
	}
	must(unix.Mount("tmpfs", s.Session, "tmpfs", unix.MS_NOSUID, size))
	for _, folder := range []string{"layer", "root", "etc", "tmp", "var-tmp", "upper", "work"} {
		must(os.Mkdir(filepath.Join(s.Session, folder), 0o755))
	}
	for _, b := range s.Binds {
		s.point(b.Target, isFolder(b.Source))
	}
	for _, folder := range s.Scratch {
		s.point(folder, true)
	}
	s.layer()
	if _, err := os.Stat(s.at(hostsUser)); err == nil {
		must(unix.Mount("/usr", s.at("usr"), "", unix.MS_BIND|unix.MS_REC, ""))
		must(unix.MountSetattr(-1, s.at("usr"), unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}))
	}
	s.usual()
	for i, folder := range s.Scratch {
		path := filepath.Join(s.Session, fmt.Sprint("scratch", i))
		must(os.Mkdir(path, 0o755))
		must(unix.Mount(path, s.at(folder), "", unix.MS_BIND, ""))
	}
	for _, b := range s.Binds {
		s.bind(b)
	}
	must(unix.Chdir(s.at("")))
	must(unix.PivotRoot(".", "."))
	must(unix.Unmount(".", unix.MNT_DETACH))
	must(unix.Chdir("/"))
	if s.Pwd != "" {
		must(unix.Chdir(s.Pwd))
	}
}

func isFolder(path string) bool {
	about, err := os.Stat(path)
	return err == nil && about.IsDir()
}

func (s scene) at(path string) string { return filepath.Join(s.Session, "root", path) }

// point makes where something can be mounted that the image lacks.
func (s scene) point(target string, folder bool) {
	if _, err := os.Lstat(filepath.Join(s.Image, target)); err == nil {
		return
	}
	path := filepath.Join(s.Session, "layer", target)
	if folder {
		must(os.MkdirAll(path, 0o755))
		return
	}
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	must(os.WriteFile(path, nil, 0o644))
}

// layer shows the image, and over it what may be written to.
func (s scene) layer() {
	options := "lowerdir=" + filepath.Join(s.Session, "layer") + ":" + s.Image
	upper, work := filepath.Join(s.Session, "upper"), filepath.Join(s.Session, "work")
	if s.Overlay != "" {
		upper, work = filepath.Join(s.Overlay, "upper"), filepath.Join(s.Overlay, "work")
		must(os.MkdirAll(upper, 0o755))
		must(os.MkdirAll(work, 0o755))
	}
	var flags uintptr = unix.MS_NODEV
	if s.Overlay != "" || s.InMemory {
		options += ",upperdir=" + upper + ",workdir=" + work
	} else {
		options += ",ro"
	}
	must(unix.Mount("overlay", s.at(""), "overlay", flags, options))
}

// usual mounts what is there in every place.
func (s scene) usual() {
	if !s.Contained {
		for _, folder := range []string{"/dev", "/proc", "/sys", "/tmp"} {
			must(unix.Mount(folder, s.at(folder), "", unix.MS_BIND|unix.MS_REC, ""))
		}
		return
	}
	if !isFolder(s.at("dev")) {
		fatal("container creation failed: mount hook function failure: mount /var/lib/apptainer/mnt/session/dev->/dev error: while " +
			"mounting /var/lib/apptainer/mnt/session/dev: destination /dev doesn't exist in container")
	}
	s.devices()
	must(unix.Mount("proc", s.at("proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV, ""))
	if s.System {
		must(unix.Mount("sysfs", s.at("sys"), "sysfs", unix.MS_NOSUID|unix.MS_NODEV, ""))
	}
	s.names()
	for name, folder := range map[string]string{"tmp": "/tmp", "var-tmp": "/var/tmp"} {
		path := filepath.Join(s.Session, name)
		must(os.Chmod(path, 0o777|os.ModeSticky))
		if isFolder(s.at(folder)) { // it warns otherwise
			must(unix.Mount(path, s.at(folder), "", unix.MS_BIND, ""))
		}
	}
}

func (s scene) devices() {
	must(unix.Mount("tmpfs", s.at("dev"), "tmpfs", unix.MS_NOSUID, "mode=755"))
	for _, name := range []string{"null", "zero", "random", "urandom", "tty"} {
		must(os.WriteFile(s.at("dev/"+name), nil, 0o644))
		must(unix.Mount("/dev/"+name, s.at("dev/"+name), "", unix.MS_BIND, ""))
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
		"stderr": "/proc/self/fd/2", "ptmx": "/dev/pts/ptmx"} {
		must(os.Symlink(to, s.at("dev/"+name)))
	}
	for _, m := range [][3]string{{"pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"}, {"shm", "tmpfs", "mode=1777"},
		{"mqueue", "mqueue", ""}} {
		must(os.Mkdir(s.at("dev/"+m[0]), 0o755))
		must(unix.Mount(m[1], s.at("dev/"+m[0]), m[1], unix.MS_NOSUID, m[2]))
	}
}

// names fills in files of /etc with what the machine and the caller are called.
func (s scene) names() {
	files := map[string]string{"resolv.conf": "nameserver 192.0.2.1\n", "hostname": s.Hostname + "\n"}
	if !s.Root {
		files["passwd"], files["group"] = fmt.Sprintf("caller:x:%d:%d::/:/bin/sh\n", s.UID, s.GID), fmt.Sprintf("caller:x:%d:\n", s.GID)
	}
	for name, text := range files {
		path := filepath.Join(s.Session, "etc", name)
		must(os.WriteFile(path, []byte(text), 0o644))
		if _, err := os.Stat(s.at("etc/" + name)); err == nil { // it warns otherwise
			must(unix.Mount(path, s.at("etc/"+name), "", unix.MS_BIND, ""))
		}
	}
}

func (s scene) bind(b bound) {
	if _, err := os.Stat(b.Source); err != nil {
		fatal("container creation failed: mount hook function failure: mount %s->%s error: while mounting %s: mount source %s doesn't "+
			"exist", b.Source, b.Target, b.Source, b.Source)
	}
	if _, err := os.Stat(s.at(b.Target)); err != nil { // it lies within another bind
		if isFolder(b.Source) {
			must(os.MkdirAll(s.at(b.Target), 0o755))
		} else {
			must(os.WriteFile(s.at(b.Target), nil, 0o644))
		}
	}
	must(unix.Mount(b.Source, s.at(b.Target), "", unix.MS_BIND|unix.MS_REC, ""))
	set := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if strings.HasPrefix(b.Source, "/dev/") {
		set.Attr_set = unix.MOUNT_ATTR_NOSUID
	}
	if b.ReadOnly {
		set.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	must(unix.MountSetattr(-1, s.at(b.Target), 0, &set))
}

// raiseLoopback brings up the one interface of a network of one's own.
func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	name, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	name.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, name)
}

const lastCapability = 63

func everyCapability() (list []uintptr) {
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		list = append(list, c)
	}
	return list
}

// drop makes the calling thread the user, without any privilege.
func (s scene) drop() error {
	for c := uintptr(0); c <= lastCapability; c++ {
		_ = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) // of numbers that are none too
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if s.Root {
		uid, gid := uintptr(s.UID), uintptr(s.GID)
		for _, call := range [][4]uintptr{{unix.SYS_SETGROUPS}, {unix.SYS_SETRESGID, gid, gid, gid}, {unix.SYS_SETRESUID, uid, uid, uid}} {
			if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
				return errno
			}
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, errno := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0); errno != 0 {
		return errno
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// begin becomes the command, or where there is to be an init, starts it and waits.
func (s scene) begin() {
	os.Clearenv()
	for _, pair := range s.Env {
		name, value, _ := strings.Cut(pair, "=")
		must(os.Setenv(name, value))
	}
	path, err := exec.LookPath(s.Argv[0])
	if err != nil && strings.Contains(s.Argv[0], "/") {
		fatal("stat %s: no such file or directory", s.Argv[0])
	} else if err != nil {
		fatal("%q: executable file not found in $PATH", s.Argv[0])
	}
	if filepath.Base(os.Args[0]) == initName {
		cmd := exec.Command(path, s.Argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		_ = cmd.Run()
		os.Exit(cmd.ProcessState.ExitCode())
	}
	must(unix.Exec(path, s.Argv, os.Environ()))
}
