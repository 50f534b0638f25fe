package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Workspace and homes are where the user of [AsUser] may write; the last is home to others too in many
// images.
const (
	Workspace = "/workspace"
	homes     = "/home"
)

// AsUser has a runner that is root become the user that the first argument names as uid:gid, for good, and goes on with
// the rest.
func AsUser(rest []string) error {
	if len(rest) == 0 {
		return errors.New("settling: no user is named")
	}
	uid, gid, err := parseUser(rest[0])
	if err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("settling: only root can become somebody else")
	}
	if err := errors.Join(makeWorkspace(uid, gid), makeHome(uid, gid)); err != nil {
		return fmt.Errorf("settling: %w", err)
	}
	runtime.LockOSThread()
	if err := become(uid, gid); err != nil {
		return fmt.Errorf("settling as %s: %w", rest[0], err)
	}
	return syscall.Exec("/proc/self/exe", append([]string{"bailiff-runner"}, rest[1:]...), []string{})
}

func parseUser(text string) (uid, gid int, err error) {
	user, group, _ := strings.Cut(text, ":")
	if uid, err = strconv.Atoi(user); err == nil {
		gid, err = strconv.Atoi(group)
	}
	if err != nil || uid <= 0 || gid <= 0 {
		return 0, 0, fmt.Errorf("settling: %q is no uid:gid of numbers above zero", text)
	}
	return uid, gid, nil
}

func makeWorkspace(uid, gid int) error {
	if err := os.MkdirAll(Workspace, 0o700); err != nil {
		return err
	}
	return give(Workspace, uid, gid, 0o700)
}

// makeHome gives the folder of homes to the user. Where others have theirs in it,
// the user may add to it only, not put anything in the place of what is there.
func makeHome(uid, gid int) error {
	if err := os.MkdirAll(homes, 0o700); err != nil {
		return err
	}
	stat, err := os.Stat(homes)
	if err != nil {
		return err
	}
	if stat.Sys().(*syscall.Stat_t).Uid == uint32(uid) {
		return nil
	}
	others, err := os.ReadDir(homes)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return give(homes, 0, gid, os.ModeSticky|0o775)
	}
	return give(homes, uid, gid, 0o700)
}

func give(folder string, uid, gid int, mode os.FileMode) error {
	return errors.Join(os.Chown(folder, uid, gid), os.Chmod(folder, mode))
}

// become leaves nothing of root: no groups, no number to come back to, no
// capability held, inherited or to be had. That no program gives any is withdraw's
// work.
func become(uid, gid int) error {
	if err := dropBounds(); err != nil {
		return err
	}
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(gid, gid, gid), syscall.Setresuid(uid, uid, uid)); err != nil {
		return err
	}
	return dropCapabilities()
}

// dropBounds gives up that a program could bring capabilities back.
func dropBounds() error {
	for cap := uintptr(0); cap <= unix.CAP_LAST_CAP; cap++ {
		if _, _, errno := syscall.AllThreadsSyscall(syscall.SYS_PRCTL, unix.PR_CAPBSET_DROP, cap, 0); errno != 0 &&
			errno != syscall.EINVAL {
			return fmt.Errorf("giving up capability %d: %w", cap, errno)
		}
	}
	return nil
}

// dropCapabilities gives up those that are held or would be inherited.
func dropCapabilities() error {
	header, none := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return fmt.Errorf("giving up all capabilities: %w", errno)
	}
	return nil
}
