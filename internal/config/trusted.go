package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Trusted is nil if only root and the sidecar's own user can change what path
// holds: a file, or a folder with everything in it. Symbolic links are followed,
// and every folder above is checked too, since who may write there can replace
// what lies below.
func Trusted(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return fmt.Errorf("checking who may write a file: %w", err)
	}
	return trusted(path, 0)
}

// maxLinks is how many symbolic links in a row the kernel follows.
const maxLinks = 40

func trusted(path string, links int) error {
	if links > maxLinks {
		return fmt.Errorf("%s: too many symbolic links", path)
	}
	if err := aboveTrusted(filepath.Dir(path), links); err != nil {
		return err
	}
	about, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("checking who may write a file: %w", err)
	}
	switch {
	case about.Mode()&fs.ModeSymlink != 0:
		return linkTrusted(path, about, links)
	case about.IsDir():
		return folderTrusted(path, about, links)
	}
	return onlyOursToWrite(path, about)
}

func linkTrusted(path string, about fs.FileInfo, links int) error {
	if err := ours(path, about); err != nil {
		return err
	}
	target, err := os.Readlink(path)
	if err != nil {
		return fmt.Errorf("checking who may write a file: %w", err)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return trusted(target, links+1)
}

func folderTrusted(path string, about fs.FileInfo, links int) error {
	if err := onlyOursToWrite(path, about); err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("checking who may write a folder: %w", err)
	}
	for _, e := range entries {
		if err := trusted(filepath.Join(path, e.Name()), links+1); err != nil {
			return err
		}
	}
	return nil
}

// aboveTrusted checks the folders above a path. One that everybody may write is
// harmless if it is sticky: nobody can replace there what another one owns.
func aboveTrusted(folder string, links int) error {
	above := filepath.Dir(folder)
	if above != folder {
		if err := aboveTrusted(above, links); err != nil {
			return err
		}
	}
	about, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("checking who may write a folder: %w", err)
	}
	if about.Mode()&fs.ModeSticky != 0 {
		return ours(folder, about)
	}
	return onlyOursToWrite(folder, about)
}

func onlyOursToWrite(path string, about fs.FileInfo) error {
	if mode := about.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s can be written by others (mode %04o); run: chmod go-w %s", path, mode, path)
	}
	return ours(path, about)
}

func ours(path string, about fs.FileInfo) error {
	is, ok := about.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: this system does not tell who owns it", path)
	}
	if is.Uid != 0 && int(is.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to the user with uid %d, want root or the user that runs bailiff (uid %d)", path, is.Uid, os.Geteuid())
	}
	return nil
}
