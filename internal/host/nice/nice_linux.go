package nice

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Run does work on a thread of its own, which is raised and ends with the work.
func Run(work func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: no other goroutine may have the thread
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, Level)
		work()
	}()
	<-done
}

// RaiseProcess raises all threads of this process, and those that they start.
func RaiseProcess() {
	threads, _ := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		if id, err := strconv.Atoi(thread.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, Level)
		}
	}
}
