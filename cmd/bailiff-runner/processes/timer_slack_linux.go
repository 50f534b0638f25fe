package processes

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// The Go runtime looks after its threads by naps of 20 µs for as long as one is at
// work, which in a supervisor that waits for its command's start costs as much as
// all else that it does. How late the kernel may wake a thread is inherited by
// what it starts: supervisors are woken late, commands as the kernel would by itself.
const (
	lateWaking  = 2_000_000 // ns
	usualWaking = 50_000
)

// Lazily starts a process that is woken late.
func Lazily(start func()) { waking(lateWaking, usualWaking, start) }

// Precisely starts a process that is woken as the kernel would by itself.
func Precisely(start func()) { waking(usualWaking, lateWaking, start) }

func waking(during, after uintptr, start func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, during, 0, 0, 0) // cannot fail
	start()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, after, 0, 0, 0)
}
