// Bailiff-runner is the small static program that stays resident inside a
// sandbox and runs commands there. It speaks package wire over its own standard
// input and output and ends, with everything it started, when its input ends, or
// when it has heard nothing for as long as its client said.
//
// Each command gets a supervisor, which is this program again, started ahead. A
// supervisor is a child subreaper: all that its command starts, double-forked or
// in a session of its own, stays below it, so that it can be counted and killed,
// and told from what another command started. It starts the command, reads its
// output, waits; the runner keeps the time, kills, and reports. A supervisor that
// has nothing left below it serves the next command. As many wait as were needed
// at once of late.
//
// What runs for a client ends when another greets the runner, but for background
// commands: their supervisors keep the last part of their output, leave it to the
// runner at the end, and the client of that time asks for it. A command that converses
// has two more pipes to its supervisor, on which lines come and go.
//
// No command can speak in the runner's name nor look into it: runner and
// supervisors are not dumpable (from their very start if the file is installed
// without read permission, mode 0111), commands inherit standard input and output
// only, and no socket leads to either. A command that kills its supervisor has killed
// itself: its orphans fall to the runner, which ends them.
//
// Where the sandbox has no network but its loopback, and the client asks for it, the runner
// listens there and passes connections on: it reads and understands nothing of them. One
// that waits takes no buffer, and one that is not read holds up no other.
//
// In a machine that is the sandbox's alone it is started as root, and comes to its
// place by arguments that are done one after the other: "text" for a stream that
// carries text only, "files FOLDER" for an input that comes as files, "apart LIST"
// to be the first process of a place in which there is nothing else of the machine,
// "settle UID:GID" to become an ordinary user. What carries the stream stays root's, so
// that no command can speak to it.
//
// With the argument "empty" it removes all that is in the workspace and ends, for engines that cannot remove
// a tree of any depth themselves.
//
// With the argument "answer" it says so and ends: a command by which a runner is tried that needs nothing of an image.
//
// With the argument "confine" it first renounces, for all that it starts, calls of
// the kernel that no command needs. Without it, as on the host itself, a command
// may be able to change the resource limits of runner and supervisors: that is
// noticed, and ends the runner's service.
//
// With the argument "gvisor" it does so in gVisor, and in no other kernel (file gvisor_linux.go).
//
// Where more processes want a processor than there are, the runner and the sidecar go before
// commands: a supervisor has less weight, and what it starts inherits that.
//
// A supervisor and the command's first process share their working directory
// (CLONE_FS). That is how the runner knows where a shell stood at its end without
// a word of its own in the user's script.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/internal/host/removal"
)

const superviseArgument = "supervise"

func main() {
	debug.SetGCPercent(25)
	debug.SetMemoryLimit(8 << 20)
	if runtime.GOMAXPROCS(0) > 2 {
		runtime.GOMAXPROCS(2)
	}
	if err := withdraw(); err != nil {
		fail(err)
	}
	if len(os.Args) == 2 && os.Args[1] == superviseArgument {
		lowerWeight()
		startThreads(supervisorsThreads)
		supervise()
		return
	}
	if err := follow(os.Args[1:]); err != nil {
		fail(err)
	}
}

// follow does what the first argument says, and the rest inside that.
func follow(arguments []string) error {
	switch {
	case len(arguments) == 0:
		return reside(false)
	case arguments[0] == wire.Text:
		return overText(arguments[1:])
	case arguments[0] == wire.InputFiles:
		return fromFiles(arguments[1:])
	case arguments[0] == wire.Apart:
		return apart(arguments[1:])
	case arguments[0] == firstArgument:
		return first(arguments[1:])
	case arguments[0] == wire.Settle:
		return settle(arguments[1:])
	case arguments[0] == wire.LeaveRoom:
		if err := leaveRoom(); err != nil {
			return err
		}
		return follow(arguments[1:])
	case arguments[0] == wire.Empty && len(arguments) == 1:
		return removal.Contents(context.Background(), workspace)
	case arguments[0] == wire.Answer && len(arguments) == 1:
		_, err := os.Stdout.WriteString(wire.Answered)
		return err
	case arguments[0] == wire.Confine && len(arguments) == 1:
		if err := errors.Join(takeLess(), confine()); err != nil {
			return err
		}
		return reside(true)
	case arguments[0] == wire.GVisor && len(arguments) == 1:
		if err := inGVisor(); err != nil {
			return err
		}
		if err := confine(); err != nil {
			return err
		}
		return reside(true)
	}
	return fmt.Errorf("bailiff starts this program inside sandboxes; %q is no argument that it takes there", arguments[0])
}

func reside(confined bool) error {
	runtime.GOMAXPROCS(2) // one of them may be waiting for a child that was stopped
	startThreads(runnersThreads)
	return serve(file(0), file(1), confined)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bailiff-runner:", err)
	os.Exit(125)
}

// withdraw puts this process out of its commands' reach, and sets what they
// inherit: no new privileges, no core files, no descriptors, no right to go before others.
func withdraw() error {
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

// More threads than a runner, and than a supervisor, ever needs at once.
const (
	runnersThreads     = 16
	supervisorsThreads = 4
)

// startThreads makes the Go runtime start its threads now. It keeps them; were
// it to start one while commands have used up the number of processes that the
// sandbox may have, it would give up.
func startThreads(threads int) {
	var ready, all sync.WaitGroup
	ready.Add(threads)
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
		})
	}
	all.Wait()
}
