package protected

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// entry is what a folder has, by its type alone.
type entry struct {
	name string
	kind fs.FileMode
}

func (e entry) isDir() bool { return e.kind.IsDir() }

// maxPath is how long a path may be for the kernel.
const maxPath = 4000

// openBelow opens a folder by its name from another one. No link leads it elsewhere.
func openBelow(at int, name string) (int, error) {
	fd, err := openBeneath(at, name)
	if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, unix.EPERM) {
		return fd, err
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err = unix.Openat(at, ".", flags, 0)
	for part := range strings.SplitSeq(path.Clean(name), "/") {
		if err != nil {
			return -1, err
		}
		above := fd
		fd, err = unix.Openat(above, part, flags, 0)
		_ = unix.Close(above)
	}
	return fd, err
}

// scan tells what a folder holds, without the two names that each has.
func scan(at int, name string, tell func(name []byte, kind fs.FileMode) error) error {
	fd, err := openBelow(at, name)
	if err != nil {
		return err
	}
	return scanOpen(fd, tell)
}
