package removal

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// unlock opens a folder to its user, and never one that a link leads to. It goes by a descriptor,
// since kernels before 6.6 change modes by name through links only.
func unlock(at int, name string) {
	number, err := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	_ = unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", number), 0o700)
	_ = unix.Close(number)
}
