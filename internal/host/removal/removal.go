// Package removal removes trees of files of any depth and shape, those of hostile programs too.
//
// Promised here:
//   - no more than four descriptors are open, however deep the tree is: the walk goes down by a name
//     and up by "..", checks that it is back in the folder it came from, and first moves up the folders
//     that lie too deep;
//   - folders that their user closed are opened; links are removed, not followed;
//   - files that cannot be removed stay, and all others go; an error names one of them at most;
//   - a removal whose context ends stops, and the next call continues it.
//
// Not here: which trees are removed, and when.
package removal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// All removes a folder, or a file, with all that is in it. One that is not there is removed.
func All(ctx context.Context, path string) error {
	about, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && about.IsDir() {
		err = Contents(ctx, path)
	}
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Contents removes all that is in a folder, which stays, and becomes its user's alone.
func Contents(ctx context.Context, path string) error {
	if err := os.Chmod(path, 0o700); err != nil {
		return err
	}
	root, err := open(unix.AT_FDCWD, path)
	if err != nil {
		return err
	}
	defer root.close()
	for {
		w := &walk{ctx: ctx, root: root, prefix: "." + rand.Text() + "-"}
		if err := w.clear(); err != nil {
			return fmt.Errorf("removing files, %d are gone: %w", w.done, err)
		}
		if w.moved == 0 {
			return w.fault
		}
	}
}

// walk is one way through a tree.
type walk struct {
	ctx  context.Context
	root *folder
	// at is the folder where it stands, above those on the way there, the root first.
	at    *folder
	above []*folder
	// prefix begins the names of folders that were moved up, moved counts them.
	prefix string
	moved  int
	// done counts the files and folders that were removed, fault is why one stays.
	done  int
	fault error
}

// deepest is how many folders it goes down before it moves up what lies deeper.
const deepest = 4096

// clear removes all that can be removed. Its error says that it had to stop.
func (w *walk) clear() (err error) {
	if w.at, err = open(w.root.number, "."); err != nil {
		return err
	}
	defer func() { w.at.close() }()
	for {
		name, err := w.strip()
		switch {
		case err != nil:
			return err
		case name != "" && len(w.above) == deepest:
			w.raise(name)
		case name != "":
			w.enter(name)
		case len(w.above) == 0:
			return nil
		default:
			if err := w.leave(); err != nil {
				return err
			}
		}
	}
}

// strip removes the files and empty folders here, up to the first folder that is not empty, which it
// names.
func (w *walk) strip() (name string, err error) {
	names, err := open(w.at.number, ".")
	if err != nil {
		return "", err
	}
	list := os.NewFile(uintptr(names.number), "folder")
	defer list.Close()
	for {
		some, _ := list.Readdirnames(128) // a folder that cannot be read is one that stays
		if len(some) == 0 {
			return "", nil
		}
		for _, name := range some {
			if err := w.ctx.Err(); err != nil {
				return "", err
			}
			if !w.at.stays[name] && !w.remove(name) {
				return name, nil
			}
		}
	}
}

// remove removes a file or an empty folder, or notes why it stays; it is false at a folder that is
// not empty.
func (w *walk) remove(name string) bool {
	err := unix.Unlinkat(w.at.number, name, 0)
	if err == unix.EISDIR || err == unix.EPERM {
		err = unix.Unlinkat(w.at.number, name, unix.AT_REMOVEDIR)
	}
	switch err {
	case nil, unix.ENOENT:
		w.done++
	case unix.ENOTEMPTY, unix.EEXIST:
		return false
	default:
		w.leaveAlone(name, err)
	}
	return true
}

func (w *walk) leaveAlone(name string, err error) {
	w.at.stays[name] = true
	w.fault = fmt.Errorf("removing files, %d are gone: %w", w.done, &fs.PathError{Op: "remove", Path: name, Err: err})
}

// enter goes down into a folder.
func (w *walk) enter(name string) {
	inner, err := open(w.at.number, name)
	if err == unix.EACCES { // its user may have closed it
		unlock(w.at.number, name)
		inner, err = open(w.at.number, name)
	}
	if err == unix.ENOENT { // it is gone
		return
	}
	if err != nil {
		w.leaveAlone(name, err)
		return
	}
	inner.name = name
	w.at.close()
	w.above, w.at = append(w.above, w.at), inner
}

// leave goes up, and removes the folder where it stood.
func (w *walk) leave() error {
	last := len(w.above) - 1
	from, to := w.at, w.above[last]
	upper, err := open(from.number, "..")
	if err != nil {
		return err
	}
	if upper.device != to.device || upper.node != to.node {
		upper.close()
		return errors.New("a folder was moved meanwhile")
	}
	from.close()
	upper.name, upper.stays = to.name, to.stays
	w.above, w.at = w.above[:last], upper
	if !w.remove(from.name) {
		w.at.stays[from.name] = true
	}
	return nil
}

// raise makes a folder one of the root's, by a name that no file there can have foreseen.
func (w *walk) raise(name string) {
	to := fmt.Sprint(w.prefix, w.moved)
	err := unix.Renameat(w.at.number, name, w.root.number, to)
	if err == unix.EACCES { // moving a folder changes it
		unlock(w.at.number, name)
		err = unix.Renameat(w.at.number, name, w.root.number, to)
	}
	if err != nil {
		w.leaveAlone(name, err)
		return
	}
	w.moved++
}

// folder is one that is open, or was.
type folder struct {
	name         string
	number       int
	device, node uint64
	// stays are the names in it that cannot be removed.
	stays map[string]bool
}

// open opens a folder, not by a link, so that its files can be removed.
func open(at int, name string) (*folder, error) {
	number, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var about unix.Stat_t
	if err := unix.Fstat(number, &about); err != nil {
		_ = unix.Close(number)
		return nil, err
	}
	if about.Mode&0o700 != 0o700 {
		_ = unix.Fchmod(number, 0o700) // if this fails, so does the removal of a file in it, which tells it
	}
	return &folder{number: number, device: uint64(about.Dev), node: about.Ino, stays: map[string]bool{}}, nil
}

func (f *folder) close() { _ = unix.Close(f.number) }
