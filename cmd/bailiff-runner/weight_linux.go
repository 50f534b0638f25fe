package main

import (
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// back is by how much nicer a supervisor is than the runner.
const back = 5

// stepBack gives this process less weight than its parent has, and with it all that it starts.
// No privilege is needed for that, and without one no command takes it back.
func stepBack() {
	if left, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil { // 20 less the niceness
		nicer := uintptr(20 - left + back) // at most 19, as the kernel has it
		_, _, _ = syscall.AllThreadsSyscall(syscall.SYS_SETPRIORITY, unix.PRIO_PROCESS, 0, nicer)
	}
}

// backInGroup does the same for a session of processes where the kernel weighs sessions
// against each other, since that does without what each process says.
func backInGroup(pid int) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/autogroup", syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_, _ = syscall.Write(fd, []byte(strconv.Itoa(back)))
	_ = syscall.Close(fd)
}
