package protected

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

type kind int

const (
	absent kind = iota
	file
	folder
	link
	other // a pipe, a socket, a device
)

// errNotFolder says that a part of a path is no folder.
var errNotFolder error = syscall.ENOTDIR

// state is how a protected place is. It has no times: a file that is mapped into memory changes
// without a new one.
type state struct {
	kind     kind
	dev, ino uint64
	size     int64
	mode     fs.FileMode
	links    uint64 // names of a file
	uid, gid int
	content  []byte // of a file
	isUnread bool   // a file that cannot be read, or is too large
	isLarge  bool   // a file of which the sum is held, and not the content
	sum      [sha256.Size]byte
	target   string // of a link
}

// look says how a place is, without a file's content. A place below something that is no
// folder is absent.
func look(root *os.Root, name string) (state, error) {
	for _, parent := range append(parents(name), name) {
		if parent == "" {
			continue
		}
		info, err := root.Lstat(parent)
		switch {
		case isMissing(err):
			return state{}, nil
		case err != nil:
			return state{}, fmt.Errorf("looking at %s: %w", parent, err)
		case parent == name:
			return stateOf(root, name, info)
		case !info.IsDir():
			return state{}, nil
		}
	}
	return state{kind: folder}, nil // the source itself
}

func stateOf(root *os.Root, name string, info fs.FileInfo) (s state, err error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return s, fmt.Errorf("looking at %s: %w", name, errors.ErrUnsupported)
	}
	s = state{kind: other, dev: uint64(stat.Dev), ino: stat.Ino, size: info.Size(), mode: info.Mode(),
		links: uint64(stat.Nlink), uid: int(stat.Uid), gid: int(stat.Gid)}
	switch {
	case info.Mode().IsRegular():
		s.kind = file
	case info.IsDir():
		s.kind = folder
	case info.Mode()&fs.ModeSymlink != 0:
		s.kind = link
		s.target, err = root.Readlink(name)
	}
	return s, err
}

// read adds a file's content.
func (s *state) read(root *os.Root, name string) error {
	if s.kind != file {
		return nil
	}
	if s.size > maxFile {
		return fmt.Errorf("%s has %d bytes, and a file that is to stay as it is may have %d", name, s.size, maxFile)
	}
	f, err := openFile(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	if s.content, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err == nil && len(s.content) > maxFile {
		err = fmt.Errorf("%s grew while it was read", name)
	}
	return err
}

// sumUp adds a file's content, or the sum of one that is too large to be held.
func (s *state) sumUp(root *os.Root, name string) error {
	if s.kind != file || s.size <= maxFile || s.size > maxLarge {
		return s.read(root, name)
	}
	f, err := openFile(root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(f, maxLarge)); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	s.isLarge, s.sum = true, [sha256.Size]byte(hash.Sum(nil))
	return nil
}

// openFile opens what is a plain file.
func openFile(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s became something else while it was read", name), err, f.Close())
	}
	return f, nil
}

// equal says that a place is as it was, with the contents of files read. A folder is the very one
// that it was, and a file has got no further name by which it could be changed.
func (s state) equal(now state) bool {
	if s.kind != now.kind || now.isUnread || s.mode != now.mode && s.kind != absent {
		return false
	}
	switch s.kind {
	case file:
		if s.isLarge || now.isLarge {
			return s.isLarge && now.isLarge && s.sum == now.sum
		}
		return now.links <= s.links && bytes.Equal(s.content, now.content)
	case link:
		return s.target == now.target
	case folder, other:
		return s.isSame(now)
	}
	return true
}

// isWhole says whether a file's content is held.
func (s state) isWhole() bool { return !s.isUnread && !s.isLarge }

// isSame says that two states are of one thing.
func (s state) isSame(now state) bool {
	return s.kind == now.kind && s.dev == now.dev && s.ino == now.ino
}

func openFolder(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
}

func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
