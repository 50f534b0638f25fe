package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// maxDigested bounds a file whose content an approval can be bound to.
const maxDigested = 64 << 20

func digestsOf(files wire.Files) ([]string, error) {
	digests := make([]string, len(files.Paths))
	for i, path := range files.Paths {
		if !filepath.IsAbs(path) {
			path = files.Dir + "/" + path // ".." is for the kernel to follow: what stands before it may be a link
		}
		var err error
		if digests[i], err = digestOf(path); err != nil {
			return nil, err
		}
	}
	return digests, nil
}

// maxLinks is how many links the kernel follows.
const maxLinks = 40

// leadsThroughProc says whether a path passes a folder in which each process
// finds something of its own, by whatever links.
func leadsThroughProc(path string) bool {
	at, rest, links := "/", path, 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		at = filepath.Join(at, name) // at holds no links, so that ".." is its parent
		if at == "/proc" || at == "/dev" {
			return true
		}
		target, err := os.Readlink(at)
		if err != nil {
			continue // no link, or nothing
		}
		if links++; links > maxLinks {
			return true
		}
		rest = target + "/" + rest
		if at = filepath.Dir(at); filepath.IsAbs(target) {
			at = "/"
		}
	}
	return false
}

// digestOf is the SHA-256 of a file's content, in hexadecimal; empty if there is
// no such file. Whatever is no plain file has no content that would stay.
func digestOf(path string) (string, error) {
	if leadsThroughProc(path) {
		return "", fmt.Errorf("%q cannot be bound to an approval: name the file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO keeps nobody waiting
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	about, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !about.Mode().IsRegular():
		return "", fmt.Errorf("%s is no plain file", path)
	case about.Size() > maxDigested:
		return "", fmt.Errorf("%s has %d bytes, want at most %d", path, about.Size(), maxDigested)
	}
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, maxDigested+1)); err != nil || n > maxDigested {
		return "", errors.Join(err, fmt.Errorf("%s could not be read as a whole", path))
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
