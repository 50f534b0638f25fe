package confine

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Withdraw puts this process out of its commands' reach, and sets what they
// inherit: no new privileges, no core files, no descriptors, no right to go before others.
func Withdraw() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing this process to others: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming a subreaper: %w", err)
	}
	if _, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("renouncing new privileges: %w", errno)
	}
	for resource, what := range renounced {
		if err := renounce(resource); err != nil {
			return fmt.Errorf("renouncing %s: %w", what, err)
		}
	}
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("keeping open files from commands: %w", err)
	}
	// Signals from inside are heard and dropped. They are not ignored, for
	// commands would inherit that.
	signal.Notify(make(chan os.Signal, 1))
	return heedThreadsSignal()
}

// renounced are limits within which commands have nothing. The sidecar may have turns before others, to reload before other work.
var renounced = map[int]string{unix.RLIMIT_CORE: "core files", unix.RLIMIT_NICE: "turns before other programs"}

// renounce sets a limit to zero, unless it is: gVisor lets some be read and not be set.
func renounce(resource int) error {
	var given syscall.Rlimit
	if err := syscall.Getrlimit(resource, &given); err != nil || given == (syscall.Rlimit{}) {
		return err
	}
	return syscall.Setrlimit(resource, &syscall.Rlimit{})
}

// threadsSignal is what libraries for threads use among themselves; Go leaves it as it
// is found. A program that posix_spawn starts, as make does, has it ignored.
const threadsSignal = 32

// heedThreadsSignal sets that signal to its default, which commands inherit.
func heedThreadsSignal() error {
	var byDefault [4]uint64 // a handler, flags, a restorer, a mask: none
	_, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, threadsSignal, uintptr(unsafe.Pointer(&byDefault)), 0,
		unsafe.Sizeof(byDefault[3]), 0, 0)
	if errno != 0 {
		return fmt.Errorf("setting a signal to its default: %w", errno)
	}
	return nil
}
