package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// FirstArgument is [wire.Isolate], said to the first process there.
const FirstArgument = "first"

func namespacesOf(s wire.Seclusion) uintptr {
	if s.Network {
		return unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET
	}
	return unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
}

// Isolate starts the first process of a place that the first argument describes, and ends as it does, or before it: then
// the kernel ends all of them.
func Isolate(rest []string) error {
	if len(rest) == 0 {
		return errors.New("keeping apart: nothing says from what")
	}
	s, err := wire.ParseSeclusion(rest[0])
	if err != nil {
		return err
	}
	runtime.LockOSThread() // with whose end the first process would end
	first, err := os.StartProcess("/proc/self/exe", append([]string{"bailiff-runner", FirstArgument}, rest...), &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{Cloneflags: namespacesOf(s), Pdeathsig: syscall.SIGKILL, Setsid: true},
	})
	if err != nil {
		return fmt.Errorf("keeping apart, which needs a root that may make namespaces: %w", err)
	}
	os.Stdin.Close()
	os.Stdout.Close()
	state, err := first.Wait()
	if err != nil {
		return err
	}
	os.Exit(max(state.ExitCode(), 0))
	return nil
}

// FirstProcess is the first process of the place: it mounts what there is, and goes on with the rest.
func FirstProcess(rest []string) error {
	if len(rest) == 0 || os.Getpid() != 1 {
		return fmt.Errorf("%q is for the first process of a place apart", FirstArgument)
	}
	s, err := wire.ParseSeclusion(rest[0])
	if err != nil {
		return err
	}
	if err := mountOver(s); err != nil {
		return fmt.Errorf("keeping apart: %w", err)
	}
	runtime.LockOSThread()
	return syscall.Exec("/proc/self/exe", append([]string{"bailiff-runner"}, rest[1:]...), []string{})
}

func mountOver(s wire.Seclusion) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("taking mounts for its own: %w", err)
	}
	if s.Root {
		if err := closeRoot(); err != nil {
			return err
		}
	}
	if err := mountProc(); err != nil {
		return err
	}
	if s.PIDs > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: uint64(s.PIDs), Max: uint64(s.PIDs)}); err != nil {
			return fmt.Errorf("bounding processes: %w", err)
		}
	}
	if s.Network {
		return raiseLoopback()
	}
	return nil
}

// mountProc shows the processes there are, and the kernel's settings to be read.
func mountProc() error {
	const settings = "/proc/sys"
	err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err == nil {
		err = unix.Mount(settings, settings, "", unix.MS_BIND, "")
	}
	if err == nil {
		err = unix.MountSetattr(unix.AT_FDCWD, settings, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	if err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	return nil
}

// writable are the folders that stay so, as far as there are any.
var writable = []string{Workspace, homes, "/tmp", "/var/tmp", "/run", "/dev/shm"}

// closeRoot makes everything read-only but some folders, each of which becomes a
// mount of its own for that.
func closeRoot() error {
	if err := errors.Join(os.MkdirAll(Workspace, 0o700), os.MkdirAll(homes, 0o700)); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=16m"); err != nil &&
		!errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("emptying /run: %w", err)
	}
	var there []string
	for _, folder := range writable {
		err := unix.Mount(folder, folder, "", unix.MS_BIND, "")
		if err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("keeping %s writable: %w", folder, err)
		}
		if err == nil {
			there = append(there, folder)
		}
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("making the root read-only: %w", err)
	}
	for _, folder := range there {
		if err := unix.MountSetattr(unix.AT_FDCWD, folder, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY,
			Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
			return fmt.Errorf("keeping %s writable: %w", folder, err)
		}
	}
	return nil
}

// raiseLoopback has 127.0.0.1 answer, as it does wherever there is no other network.
func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("raising the loopback: %w", err)
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("raising the loopback: %w", err)
	}
	return nil
}
