package protected

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"sync"

	"golang.org/x/sys/unix"
)

// mostTries bounds how often a folder is opened that is renamed at the same time.
const mostTries = 100

func openBeneath(at int, name string) (int, error) {
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(at, name, &unix.OpenHow{
			Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NONBLOCK | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS})
		if tries >= mostTries || !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}

var buffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// scanOpen reads a folder and closes it. os.File does the same at three times the cost, and a
// survey reads each folder of a project twice for a command.
func scanOpen(fd int, tell func(name []byte, kind fs.FileMode) error) error {
	defer func() { _ = unix.Close(fd) }()
	buffer, _ := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := unix.Getdents(fd, buffer[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		if err := tellEach(fd, buffer[:n], tell); err != nil {
			return err
		}
	}
}

// tellEach reads entries as getdents64(2) has them: inode, offset, length, type, name.
func tellEach(fd int, text []byte, tell func(name []byte, kind fs.FileMode) error) error {
	for len(text) > 19 {
		length := int(binary.NativeEndian.Uint16(text[16:]))
		name, _, _ := bytes.Cut(text[19:length], []byte{0})
		kind, err := kindOf(fd, text[18], name)
		if err == nil && string(name) != "." && string(name) != ".." {
			err = tell(name, kind)
		}
		if err != nil {
			return err
		}
		text = text[length:]
	}
	return nil
}

func kindOf(fd int, is byte, name []byte) (fs.FileMode, error) {
	switch is {
	case unix.DT_DIR:
		return fs.ModeDir, nil
	case unix.DT_REG:
		return 0, nil
	case unix.DT_UNKNOWN: // the file system does not say
		var stat unix.Stat_t
		if err := unix.Fstatat(fd, string(name), &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil && !errors.Is(err, unix.ENOENT) {
			return 0, err
		}
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFDIR:
			return fs.ModeDir, nil
		case unix.S_IFREG:
			return 0, nil
		}
	}
	return fs.ModeIrregular, nil
}
