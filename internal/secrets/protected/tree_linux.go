package protected

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tree hears of names that come and go in folders. A nil tree hears nothing.
type tree struct {
	fd      int
	device  uint64
	folders map[int32]bool // whether each is one of git's own
	most    int
	isDirty bool
	isLost  bool
}

// heard are the changes of which the kernel tells: those of names, and those of who may look into a folder.
const heard = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_ATTRIB | unix.IN_DELETE_SELF |
	unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK

// localSystems are the file systems that only this kernel writes, by the names in statfs(2).
var localSystems = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true,
	unix.TMPFS_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true, zfsMagic: true, bcachefsMagic: true}

const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
)

// shareOfWatches is the part of a user's watches that one folder may take: editors need theirs.
const shareOfWatches = 8

// newTree listens to nothing yet; nil where what is heard would not be all.
func newTree(dir *os.File) *tree {
	var system unix.Statfs_t
	var about unix.Stat_t
	if unix.Fstatfs(int(dir.Fd()), &system) != nil || !localSystems[int64(system.Type)] || unix.Fstat(int(dir.Fd()), &about) != nil {
		return nil
	}
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return nil
	}
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	return &tree{fd: fd, device: uint64(about.Dev), folders: map[int32]bool{}, most: most / shareOfWatches}
}

// add listens to a folder. One that cannot be listened to loses the tree.
func (t *tree) add(fd int, isGits bool) {
	if t.isLost {
		return
	}
	var about unix.Stat_t
	if unix.Fstat(fd, &about) != nil || uint64(about.Dev) != t.device {
		t.isLost = true
		return
	}
	at, err := unix.InotifyAddWatch(t.fd, fmt.Sprint("/proc/self/fd/", fd), heard)
	if err != nil || len(t.folders) >= t.most {
		t.isLost = true
		return
	}
	t.folders[int32(at)] = t.folders[int32(at)] || isGits
}

// isQuiet says that since the last time no name was heard of that counts.
func (t *tree) isQuiet(counts func(name string, isFolder, isGits bool) bool) bool {
	if t == nil || t.isLost {
		return false
	}
	t.isDirty = false
	buffer, _ := buffers.Get().(*[32 << 10]byte)
	defer buffers.Put(buffer)
	for {
		n, err := unix.Read(t.fd, buffer[:])
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return !t.isDirty
		case err != nil || n <= 0:
			t.isLost = true
			return false
		default:
			t.hear(buffer[:n], counts)
		}
	}
}

// hear reads events as inotify(7) has them: watch, mask, cookie, length, name.
func (t *tree) hear(text []byte, counts func(name string, isFolder, isGits bool) bool) {
	for len(text) >= unix.SizeofInotifyEvent {
		at, mask := int32(binary.NativeEndian.Uint32(text)), binary.NativeEndian.Uint32(text[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(text[12:]))
		name, _, _ := bytes.Cut(text[unix.SizeofInotifyEvent:end], []byte{0})
		text = text[end:]
		isGits, isKnown := t.folders[at]
		switch isFolder := mask&unix.IN_ISDIR != 0; {
		case mask&unix.IN_IGNORED != 0:
			delete(t.folders, at)
		case mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT|unix.IN_DELETE_SELF|unix.IN_MOVE_SELF) != 0, !isKnown:
			t.isDirty = true
		case mask&unix.IN_ATTRIB != 0 && !isFolder: // content is compared in any case
		case !t.isDirty && counts(string(name), isFolder, isGits):
			t.isDirty = true
		}
	}
}

func (t *tree) close() {
	if t != nil {
		_ = unix.Close(t.fd)
	}
}
