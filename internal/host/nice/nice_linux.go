package nice

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Run does work on a thread of its own, which is raised and ends with the work. A panic of the work is the caller's.
func Run(work func()) {
	done := make(chan any)
	go func() {
		defer close(done)
		defer func() {
			if cause := recover(); cause != nil {
				done <- cause
			}
		}()
		runtime.LockOSThread() // for good: no other goroutine may have the thread
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, level)
		work()
	}()
	if cause := <-done; cause != nil {
		panic(cause)
	}
}

// RaiseProcess raises all threads of this process, and those that they start.
func RaiseProcess() {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, level)
		}
	}
}
