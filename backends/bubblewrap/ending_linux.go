package bubblewrap

import "syscall"

// endingWithThread has a process killed when the thread that started it ends, as all do when
// this process does.
func endingWithThread() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
