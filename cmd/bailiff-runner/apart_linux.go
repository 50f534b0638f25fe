package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// apartArgument has a runner that is root put what the arguments after the next one
// start where it meets nothing else of its machine: processes, their memory and
// messages at least. The next argument is a list of what else it is kept from, which
// may be empty: "network" (there is none but its own loopback), "root" (nothing is
// writable but some folders), "pids=N" (its user has no more processes at once).
const apartArgument = "apart"

// firstArgument is the same, said to the first process there.
const firstArgument = "first"

// seclusion is what the list says.
type seclusion struct {
	network, root bool
	pids          uint64
}

func parseSeclusion(list string) (s seclusion, err error) {
	for _, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		pids, bounded := strings.CutPrefix(word, "pids=")
		switch {
		case word == "network":
			s.network = true
		case word == "root":
			s.root = true
		case bounded:
			if s.pids, err = strconv.ParseUint(pids, 10, 31); err != nil || s.pids == 0 {
				return s, fmt.Errorf("keeping apart: %q is no number of processes", pids)
			}
		default:
			return s, fmt.Errorf("keeping apart: %q is nothing to be kept from", word)
		}
	}
	return s, nil
}

func (s seclusion) namespaces() uintptr {
	if s.network {
		return unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET
	}
	return unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
}

// apart starts the first process and ends as it does, or before it: then the kernel
// ends all of them.
func apart(rest []string) error {
	if len(rest) == 0 {
		return errors.New("keeping apart: nothing says from what")
	}
	s, err := parseSeclusion(rest[0])
	if err != nil {
		return err
	}
	runtime.LockOSThread() // with whose end the first process would end
	first, err := os.StartProcess("/proc/self/exe", append([]string{"bailiff-runner", firstArgument}, rest...), &os.ProcAttr{
		Dir: "/", Env: []string{}, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{Cloneflags: s.namespaces(), Pdeathsig: syscall.SIGKILL, Setsid: true},
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

// first furnishes the place and goes on with the rest.
func first(rest []string) error {
	if len(rest) == 0 || os.Getpid() != 1 {
		return fmt.Errorf("%q is for the first process of a place apart", firstArgument)
	}
	s, err := parseSeclusion(rest[0])
	if err != nil {
		return err
	}
	if err := s.furnish(); err != nil {
		return fmt.Errorf("keeping apart: %w", err)
	}
	runtime.LockOSThread()
	return syscall.Exec("/proc/self/exe", append([]string{"bailiff-runner"}, rest[1:]...), []string{})
}

func (s seclusion) furnish() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("taking mounts for its own: %w", err)
	}
	if s.root {
		if err := closeRoot(); err != nil {
			return err
		}
	}
	if err := mountProc(); err != nil {
		return err
	}
	if s.pids > 0 {
		if err := unix.Setrlimit(unix.RLIMIT_NPROC, &unix.Rlimit{Cur: s.pids, Max: s.pids}); err != nil {
			return fmt.Errorf("bounding processes: %w", err)
		}
	}
	if s.network {
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

// open are the folders that stay writable, as far as there are any.
var open = []string{workspace, homes, "/tmp", "/var/tmp", "/run", "/dev/shm"}

// closeRoot makes everything read-only but some folders, each of which becomes a
// mount of its own for that.
func closeRoot() error {
	if err := errors.Join(os.MkdirAll(workspace, 0o700), os.MkdirAll(homes, 0o700)); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size=16m"); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("emptying /run: %w", err)
	}
	var there []string
	for _, folder := range open {
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
		if err := unix.MountSetattr(unix.AT_FDCWD, folder, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY, Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}); err != nil {
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
