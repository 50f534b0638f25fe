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
	"syscall"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// maxDigested bounds a file whose content an approval can be bound to.
const maxDigested = 64 << 20

func digestsOf(files wire.Files) ([]string, error) {
	digests := make([]string, len(files.Paths))
	for i, path := range files.Paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(files.Dir, path)
		}
		var err error
		if digests[i], err = digestOf(path); err != nil {
			return nil, err
		}
	}
	return digests, nil
}

// digestOf is the SHA-256 of a file's content, in hexadecimal; empty if there is
// no such file. Whatever is no plain file has no content that would stay.
func digestOf(path string) (string, error) {
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
