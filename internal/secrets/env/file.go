package env

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// maxFile bounds what is read of a dotenv file.
const maxFile = 1 << 20

// file is a dotenv file that is read again whenever it has changed.
type file struct {
	path      string
	read      stamp
	variables map[string]string
	err       error
	loose     bool // others than its owner may read it
}

// stamp tells one state of a file from another without reading it.
type stamp struct {
	modified time.Time
	size     int64
	mode     os.FileMode
	id       os.FileInfo
}

func (s stamp) same(t stamp) bool {
	return s.id != nil && t.id != nil && s.modified.Equal(t.modified) && s.size == t.size && s.mode == t.mode && os.SameFile(s.id, t.id)
}

// refresh reads the file if it is not as it was; changed says that its
// variables are others now.
func (f *file) refresh() (changed bool) {
	info, err := os.Stat(f.path)
	if err == nil && f.read.same(stampOf(info)) {
		return false
	}
	before := f.variables
	f.variables, f.err = nil, err
	if err == nil {
		f.variables, f.err = f.load()
	}
	if f.err != nil {
		f.err = fmt.Errorf("reading variables: %w", f.err)
	}
	return !maps.Equal(before, f.variables)
}

func stampOf(info os.FileInfo) stamp {
	return stamp{info.ModTime(), info.Size(), info.Mode(), info}
}

func (f *file) load() (map[string]string, error) {
	f.read = stamp{}
	opened, err := os.OpenFile(f.path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a named pipe must not block
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	if err := f.judge(info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(opened, maxFile))
	if err != nil {
		return nil, err
	}
	f.read = stampOf(info)
	return f.parse(string(text))
}

func (f *file) parse(text string) (map[string]string, error) {
	variables, err := parse(text)
	if bad := (*syntaxError)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("%s:%d: %s", f.path, bad.line, bad.fault)
	}
	return variables, err
}

func (f *file) judge(info os.FileInfo) error {
	f.loose = info.Mode().Perm()&0o077 != 0
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", f.path)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("everyone may write %s: chmod 600 %[1]s", f.path)
	case info.Size() >= maxFile:
		return fmt.Errorf("%s is larger than %d bytes", f.path, maxFile-1)
	}
	return nil
}
