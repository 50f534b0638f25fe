package quota

import (
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what a folder holds: the bytes that its disk gave, and its entries at any depth.
type usage struct{ bytes, files int64 }

// exceeds says whether it is more than a bound, in which zero stands for none.
func (u usage) exceeds(most usage) bool {
	return most.bytes > 0 && u.bytes > most.bytes || most.files > 0 && u.files > most.files
}

// walk is a way through a folder that can be done in parts. It has at most four descriptors at any
// depth, follows no link, counts a file of several names once, and leaves out what is mounted
// inside. What the commands of a session change meanwhile is counted as it was met. A folder that its
// user, who is this process's too, has closed is open while it is counted.
type walk struct {
	most  usage
	found usage
	// hidden says that a folder was closed or moved while it was counted.
	hidden bool
	root   int
	mount  mountID
	// at are the folders from the root to the one where it stands, whose descriptor and unread
	// entries list has. It is empty when all was counted.
	at   []level
	list *os.File
	// linked are the files of several names that were met, the first mostLinked of them.
	linked map[node]bool
}

// level is a folder on the way: its name in the one above, whether all its entries were counted,
// the folders inside that are to be walked, and the mode that it had if it was closed.
type level struct {
	name   string
	is     node
	read   bool
	todo   []string
	closed bool
	mode   uint32
}

type node struct {
	major, minor uint32
	number       uint64
}

// mountID names what is mounted at a place. Two folders of one file system may be two mounts, and
// kernels before 5.8 tell the device only.
type mountID struct {
	major, minor uint32
	id           uint64
}

// batch is how many entries are counted between two looks at the clock.
const batch = 64

// mostLinked bounds what is remembered of files of several names; a further one counts by each.
const mostLinked = 1 << 16

// newWalk begins a walk, which stops as soon as more than most was found.
func newWalk(folder string, most usage) (*walk, error) {
	root, err := unix.Open(folder, openFolder&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: folder, Err: err}
	}
	w := &walk{most: most, root: root, linked: map[node]bool{}}
	about, err := look(root, "")
	if err != nil {
		w.close()
		return nil, &os.PathError{Op: "statx", Path: folder, Err: err}
	}
	w.mount = mountOf(about)
	w.found.bytes = allocated(about)
	if err := w.stand(root, ".", nodeOf(about)); err != nil {
		w.close()
		return nil, &os.PathError{Op: "open", Path: folder, Err: err}
	}
	return w, nil
}

func (w *walk) close() {
	for len(w.at) > 0 {
		w.leave()
	}
	w.list.Close() // a nil file takes it
	unix.Close(w.root)
}

// advance goes on for a time. It is true when nothing is left to do: all was counted, or more than
// the bound was found.
func (w *walk) advance(most time.Duration) bool {
	for end := time.Now().Add(most); len(w.at) > 0 && !w.found.exceeds(w.most); {
		if !time.Now().Before(end) {
			return false
		}
		w.step()
	}
	return true
}

// step counts some entries of the folder where it stands, or goes to the next folder.
func (w *walk) step() {
	here := &w.at[len(w.at)-1]
	switch last := len(here.todo) - 1; {
	case !here.read:
		names, err := w.list.Readdirnames(batch)
		for _, name := range names {
			w.add(name)
		}
		here.read = err != nil
	case last >= 0:
		name := here.todo[last]
		here.todo = here.todo[:last]
		w.enter(name)
	default:
		w.leave()
	}
}

// add counts an entry. One that is gone, or that is mounted there, is none.
func (w *walk) add(name string) {
	about, err := look(int(w.list.Fd()), name)
	w.hidden = w.hidden || err == unix.EACCES
	if err != nil || w.isMounted(about) {
		return
	}
	w.found.files++
	folder := isFolder(about)
	if !folder && about.Nlink > 1 {
		if w.linked[nodeOf(about)] {
			return
		}
		if len(w.linked) < mostLinked {
			w.linked[nodeOf(about)] = true
		}
	}
	w.found.bytes += allocated(about)
	if folder {
		here := &w.at[len(w.at)-1]
		here.todo = append(here.todo, name)
	}
}

// enter goes down, if the name is still a folder of the same mount.
func (w *walk) enter(name string) {
	above := int(w.list.Fd())
	if about, err := look(above, name); err == nil && !w.isMounted(about) {
		_ = w.stand(above, name, nodeOf(about)) // a folder that others closed was counted itself
	}
}

// leave goes up to the folder it came from. If the one where it stands was moved, it goes there
// from the root.
func (w *walk) leave() {
	from := w.at[len(w.at)-1]
	w.at = w.at[:len(w.at)-1]
	up, err := -1, error(unix.ENOENT)
	if len(w.at) > 0 {
		up, err = unix.Openat(int(w.list.Fd()), "..", openFolder, 0)
	}
	if from.closed {
		_ = unix.Fchmod(int(w.list.Fd()), from.mode)
	}
	if len(w.at) == 0 {
		return
	}
	if err == nil {
		if about, err := look(up, ""); err == nil && nodeOf(about) == w.at[len(w.at)-1].is {
			w.goOnIn(up)
			return
		}
		unix.Close(up)
	}
	w.comeBack()
}

// comeBack goes down from the root to the folder where it ought to stand. What is no longer on that
// way was moved, and hidden from the count.
func (w *walk) comeBack() {
	way := w.at
	w.at = nil
	defer func() { w.hidden = w.hidden || len(w.at) < len(way) }()
	above := w.root
	for i, folder := range way {
		at, err := unix.Openat(above, folder.name, openFolder, 0) // the root's name is "."
		if err != nil {
			return
		}
		if about, err := look(at, ""); err != nil || nodeOf(about) != folder.is {
			unix.Close(at)
			return
		}
		w.at = way[:i+1]
		w.goOnIn(at)
		above = at
	}
}

// stand opens a folder and stands there, to read its entries.
func (w *walk) stand(above int, name string, is node) error {
	here := level{name: name, is: is}
	folder, err := unix.Openat(above, name, openFolder, 0)
	if err == unix.EACCES || err == nil && !isSearchable(folder) {
		if err == nil {
			unix.Close(folder)
		}
		folder, here.mode, err = w.unlock(above, name)
		here.closed = err == nil
	}
	if err != nil {
		return err
	}
	if about, err := look(folder, ""); err != nil || nodeOf(about) != is {
		unix.Close(folder)
		return errors.Join(err, unix.ESTALE)
	}
	w.at = append(w.at, here)
	w.list.Close()
	w.list = os.NewFile(uintptr(folder), name)
	return nil
}

// isSearchable says whether what is in a folder can be looked at.
func isSearchable(folder int) bool {
	_, err := look(folder, ".")
	return err != unix.EACCES
}

// unlock opens a folder that its user has closed, and tells the mode that it had.
func (w *walk) unlock(above int, name string) (folder int, mode uint32, err error) {
	at, err := unix.Openat(above, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, 0, err
	}
	defer unix.Close(at)
	about, err := look(at, "")
	if err != nil {
		return -1, 0, err
	}
	mode = uint32(about.Mode) & 0o7777
	if err := unix.Chmod("/proc/self/fd/"+strconv.Itoa(at), mode|0o500); err != nil {
		return -1, 0, err // it is another user's, as no command can make it
	}
	folder, err = unix.Openat(at, ".", openFolder, 0)
	w.hidden = w.hidden || err == unix.EACCES
	return folder, mode, err
}

// goOnIn stands in a folder whose entries were read before.
func (w *walk) goOnIn(folder int) {
	w.list.Close()
	w.list = os.NewFile(uintptr(folder), "folder")
}

const openFolder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// look is what is known of an entry of a folder, or of the folder itself.
func look(folder int, name string) (about unix.Statx_t, err error) {
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	err = unix.Statx(folder, name, flags, unix.STATX_BASIC_STATS|unix.STATX_MNT_ID, &about)
	return about, err
}

func nodeOf(about unix.Statx_t) node { return node{about.Dev_major, about.Dev_minor, about.Ino} }

func mountOf(about unix.Statx_t) mountID {
	if about.Mask&unix.STATX_MNT_ID != 0 {
		return mountID{id: about.Mnt_id}
	}
	return mountID{major: about.Dev_major, minor: about.Dev_minor}
}

// isMounted says whether an entry is of another mount. By the device that is told of folders alone:
// in layered file systems files may have that of their layer.
func (w *walk) isMounted(about unix.Statx_t) bool {
	is := mountOf(about)
	return is != w.mount && (is.id != 0 || isFolder(about))
}

func isFolder(about unix.Statx_t) bool { return about.Mode&unix.S_IFMT == unix.S_IFDIR }

func allocated(about unix.Statx_t) int64 { return int64(about.Blocks) * 512 }
