package protected

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// clockTick is more than the steps in which file systems note times.
const clockTick = 100 * time.Millisecond

type kind int

const (
	absent kind = iota
	file
	folder
	link
	other // a pipe, a socket, a device
)

var errNotFolder = errors.New("no folder")

// state is how a protected place is.
type state struct {
	kind     kind
	dev, ino uint64
	size     int64
	changed  time.Time // of a file's content or its attributes
	fresh    bool      // changed so short ago that a next change may have the same time
	mode     fs.FileMode
	uid, gid int
	content  []byte // of a file
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
	at := changed(stat)
	s = state{kind: other, dev: uint64(stat.Dev), ino: stat.Ino, size: info.Size(), mode: info.Mode(),
		changed: at, fresh: time.Since(at) < clockTick, uid: int(stat.Uid), gid: int(stat.Gid)}
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
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	defer f.Close()
	if s.content, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err == nil && len(s.content) > maxFile {
		err = fmt.Errorf("%s grew while it was read", name)
	}
	return err
}

// untouched says that a place surely is as it was; its content need not be read.
func (s state) untouched(now state) bool {
	switch {
	case s.kind != now.kind:
		return false
	case s.kind == file:
		return !s.fresh && s.dev == now.dev && s.ino == now.ino && s.size == now.size && s.mode == now.mode && s.changed.Equal(now.changed)
	case s.kind == folder:
		return s.dev == now.dev && s.ino == now.ino
	}
	return s.target == now.target
}

// equal says that two states have the same meaning, with their contents read.
func (s state) equal(now state) bool {
	if s.kind == file && now.kind == file {
		return s.mode == now.mode && bytes.Equal(s.content, now.content)
	}
	return s.kind != file && s.untouched(now)
}
