package runner

import "golang.org/x/sys/unix"

// onMainThread says whether the calling thread is the process's first one, which
// lives as long as the process.
func onMainThread() bool { return unix.Gettid() == unix.Getpid() }
