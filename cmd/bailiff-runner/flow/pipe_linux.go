package flow

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// File is an end of a pipe or socket. No thread waits for it in the kernel, so that
// it can be given up on, and keeps no thread busy.
func File(fd int) *os.File {
	_ = syscall.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), "stream")
}

// BytesIn is how many bytes a pipe holds.
func BytesIn(fd int) int {
	n, err := unix.IoctlGetInt(fd, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// Read reads once, and again where a signal disturbed it.
func Read(fd int, buf []byte) (n int, err error) {
	for {
		if n, err = unix.Read(fd, buf); err != unix.EINTR {
			return n, err
		}
	}
}
