package snapshot

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// place is an open folder of the host. No link leads what is done in it elsewhere: each part of a path is opened by
// itself, and what is written is a new file under a new name, moved over the old one.
type place struct{ fd int }

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func openFolder(at string) (place, error) {
	fd, err := unix.Open(at, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return place{}, fmt.Errorf("opening %s: %w", at, err)
	}
	return place{fd}, nil
}

func (p place) close() { _ = unix.Close(p.fd) }

// in opens the folder of a file, and makes it if there is none and it is to be made.
func (p place) in(dir string, create bool) (place, error) {
	fd, err := unix.Openat(p.fd, ".", folderFlags, 0)
	for part := range strings.SplitSeq(dir, "/") {
		if err != nil || dir == "." {
			break
		}
		above := fd
		fd, err = unix.Openat(above, part, folderFlags, 0)
		if errors.Is(err, unix.ENOENT) && create {
			if err = unix.Mkdirat(above, part, 0o777); err == nil {
				fd, err = unix.Openat(above, part, folderFlags, 0)
			}
			if err == nil {
				err = place{above}.giveOwner(fd)
			}
		}
		_ = unix.Close(above)
		if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			err = fmt.Errorf("%s is no folder any more", part)
		}
	}
	return place{fd}, err
}

// giveOwner gives what was made in a folder to the owner of that: a sidecar that runs as root works in others' folders.
func (p place) giveOwner(fd int) error {
	var of unix.Stat_t
	if os.Geteuid() != 0 {
		return nil
	}
	if err := unix.Fstat(p.fd, &of); err != nil {
		return err
	}
	return unix.Fchown(fd, int(of.Uid), int(of.Gid))
}

// remove takes a file away, and the folders that are empty then.
func (p place) remove(name string) error {
	dir, err := p.in(path.Dir(name), false)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	err = unix.Unlinkat(dir.fd, path.Base(name), 0)
	dir.close()
	for above := path.Dir(name); err == nil && above != "."; above = path.Dir(above) {
		parent, wrong := p.in(path.Dir(above), false)
		if wrong != nil {
			break
		}
		wrong = unix.Unlinkat(parent.fd, path.Base(above), unix.AT_REMOVEDIR)
		parent.close()
		if wrong != nil {
			break
		}
	}
	if errors.Is(err, unix.ENOENT) {
		err = nil
	}
	return err
}

// put makes a file what it was.
func (p place) put(name string, was file, from io.Reader, size int64) error {
	dir, err := p.in(path.Dir(name), true)
	if err != nil {
		return err
	}
	defer dir.close()
	fresh := ".bailiff-" + rand.Text()
	if was.mode == "120000" {
		to, err := io.ReadAll(from)
		if err == nil {
			err = unix.Symlinkat(string(to), dir.fd, fresh)
		}
		if err != nil {
			return err
		}
	} else if err := dir.write(fresh, was, from, size); err != nil {
		_ = unix.Unlinkat(dir.fd, fresh, 0)
		return err
	}
	err = unix.Renameat(dir.fd, fresh, dir.fd, path.Base(name))
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) { // an empty folder may go
		if unix.Unlinkat(dir.fd, path.Base(name), unix.AT_REMOVEDIR) == nil {
			err = unix.Renameat(dir.fd, fresh, dir.fd, path.Base(name))
		} else {
			err = errors.New("a folder stands there now")
		}
	}
	if err != nil {
		_ = unix.Unlinkat(dir.fd, fresh, 0)
	}
	return err
}

func (p place) write(name string, was file, from io.Reader, size int64) error {
	fd, err := unix.Openat(p.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if err := p.giveOwner(fd); err != nil {
		_ = unix.Close(fd)
		return err
	}
	to := os.NewFile(uintptr(fd), name)
	written, err := io.Copy(to, from)
	if err == nil && written != size {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		err = to.Chmod(was.permOf())
	}
	if err == nil {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}
