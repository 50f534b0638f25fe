// Package trust says on whose files the sidecar may rely. A configuration or a policy
// is trusted with all that leads to it ([Path]), once, when it is loaded. A file that
// is read again whenever it is needed, so that it can be renewed, is judged each time
// as it was opened: a [Secret] is kept from others, and what is [Public] is theirs to
// read. Tokens and keys must be long enough that they cannot be guessed ([Token], [Key]), and a certificate is read
// with the key that is its own ([KeyPair]).
package trust

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Path is nil if only root and the sidecar's own user can change what path
// holds: a file, or a folder with everything in it. Every folder above is
// checked too, since who may write there can replace what lies below, and so is
// whatever a symbolic link leads to.
func Path(path string) error { return of(path, os.Geteuid()) }

// Root is nil if only root can change what path holds, as [Path] has it.
func Root(path string) error { return of(path, 0) }

func of(path string, self int) error {
	// Both are checked: the way as it is spelt, with each link on it, and where
	// the kernel ends up.
	spelt, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("checking who may write %s: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return fmt.Errorf("checking who may write %s: %w", path, err)
	}
	c := check{self: self, seen: map[string]bool{}}
	if err := c.whole(spelt); err != nil {
		return err
	}
	return c.whole(real)
}

// check is one check of a path and all that it depends on.
type check struct {
	self int
	// seen are the paths that need no second look; a folder that was only passed
	// through ends in a slash.
	seen map[string]bool
}

// whole checks a file, or a folder with everything in it.
func (c check) whole(path string) error {
	if c.seen[path] {
		return nil
	}
	c.seen[path] = true
	about, err := c.reach(path)
	switch {
	case err != nil:
		return err
	case about.Mode()&fs.ModeSymlink != 0:
		return c.link(path, c.whole)
	}
	if err := c.onlyOursToWrite(path, about); err != nil || !about.IsDir() {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("checking who may write %s: %w", path, err)
	}
	for _, e := range entries {
		if err := c.whole(filepath.Join(path, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// above checks a folder on the way. One that everybody may write is harmless if
// it is sticky: no user can replace there what another one owns.
func (c check) above(folder string) error {
	if c.seen[folder+"/"] {
		return nil
	}
	c.seen[folder+"/"] = true
	about, err := c.reach(folder)
	switch {
	case err != nil:
		return err
	case about.Mode()&fs.ModeSymlink != 0:
		return c.link(folder, c.above)
	case about.Mode()&fs.ModeSticky != 0:
		return nil
	}
	return c.onlyOursToWrite(folder, about)
}

// reach checks the folders above a path and who owns what is there.
func (c check) reach(path string) (fs.FileInfo, error) {
	if dir := filepath.Dir(path); dir != path {
		if err := c.above(dir); err != nil {
			return nil, err
		}
	}
	about, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("checking who may write %s: %w", path, err)
	}
	return about, c.ours(path, about)
}

func (c check) link(path string, next func(string) error) error {
	target, err := os.Readlink(path)
	if err != nil {
		return fmt.Errorf("checking who may write %s: %w", path, err)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return next(filepath.Clean(target))
}

func (c check) onlyOursToWrite(path string, about fs.FileInfo) error {
	if mode := about.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("others may write %s (mode %04o), which only its owner should: chmod go-w %[1]s", path, mode)
	}
	return nil
}

func (c check) ours(path string, about fs.FileInfo) error {
	is, ok := about.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: this system does not tell who owns it", path)
	}
	if is.Uid != 0 && int(is.Uid) != c.self {
		return fmt.Errorf("%s belongs to uid %d, want root or the user that runs bailiff (uid %d)", path, is.Uid, c.self)
	}
	return nil
}
