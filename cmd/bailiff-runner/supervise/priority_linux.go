package supervise

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// nicer is by how much nicer a supervisor is than the runner.
const nicer = 5

// lowerPriority lets this process go after its parent, and with it all that it starts.
// No privilege is needed for that, and without one no command takes it back.
func lowerPriority() {
	if left, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // 20 less the niceness
		niceness := uintptr(20 - left + nicer) // at most 19, as the kernel has it
		_, _, _ = syscall.AllThreadsSyscall(syscall.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, niceness)
	}
}

// lowerAutogroup does the same for a session of processes where the kernel weighs sessions
// against each other, since the weight of each process does not count there.
func lowerAutogroup(pid int) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/autogroup", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = syscall.Write(fd, []byte(strconv.Itoa(nicer)))
	_ = syscall.Close(fd)
}
