package backendtest

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// floodPath is the file whose lock a test of any user has while it floods the machine.
const floodPath = "/tmp/bailiff-tests-burn"

// Alone has a test that floods the machine with processes, memory, output or files wait until no other test of
// any package on this machine does so, and keep others from it until it has ended. Tests that do not flood run beside it.
func Alone(t testing.TB) {
	t.Helper()
	lock, err := floodFile()
	Must(t, err)
	t.Cleanup(func() { lock.Close() })
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	Must(t, err)
}

// floodFile opens the file. It is not created where it is, for the kernel refuses that in a folder that all may write to.
func floodFile() (*os.File, error) {
	lock, err := os.Open(floodPath)
	if errors.Is(err, fs.ErrNotExist) {
		lock, err = os.OpenFile(floodPath, os.O_RDONLY|os.O_CREATE, 0o644)
	}
	return lock, err
}

// byFlood tries a promise by a flood.
func byFlood(try func(*testing.T, box)) func(*testing.T, box) {
	return func(t *testing.T, b box) {
		Alone(t)
		try(t, b)
	}
}
