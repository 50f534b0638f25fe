package files

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
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// maxDigested bounds a file whose content an approval can be bound to.
const maxDigested = 64 << 20

// Digests are the digests of files, in the order of their paths.
func Digests(files wire.Files) ([]string, error) {
	digests := make([]string, len(files.Paths))
	for i, path := range files.Paths {
		var err error
		if digests[i], err = digestOf(seenFrom(files.Dir, path)); err != nil {
			return nil, err
		}
	}
	return digests, nil
}

// maxLinks is how many links the kernel follows.
const maxLinks = 40

// leadsThroughProc says whether a path passes a folder in which each process
// finds something of its own, by any links.
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

var errFolder = errors.New("is a folder")

// openPlain opens a plain file, or none if there is no such file. A folder, a pipe or a device
// has no content that would stay.
func openPlain(path string) (*os.File, os.FileInfo, error) {
	if leadsThroughProc(path) {
		return nil, nil, fmt.Errorf("%q cannot be bound to an approval: name the file", path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO keeps no caller waiting
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	about, err := f.Stat()
	switch {
	case err != nil:
	case about.IsDir():
		err = fmt.Errorf("%s %w", path, errFolder)
	case !about.Mode().IsRegular():
		err = fmt.Errorf("%s is no plain file", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, about, nil
}

// digestOf is the SHA-256 of a file's content, in hexadecimal; empty if there is
// no such file. That of a folder is of all that is in it, by its names.
func digestOf(path string) (string, error) {
	digest, _, err := contentOf(path)
	if errors.Is(err, errFolder) {
		return digestOfFolder(path)
	}
	return digest, err
}

// contentOf is the digest of a plain file and its size.
func contentOf(path string) (string, int64, error) {
	f, about, err := openPlain(path)
	if f == nil {
		return "", 0, err
	}
	defer func() { _ = f.Close() }()
	if about.Size() > maxDigested {
		return "", 0, fmt.Errorf("%s has %d bytes, want at most %d", path, about.Size(), maxDigested)
	}
	sum := sha256.New()
	if n, err := io.Copy(sum, io.LimitReader(f, maxDigested+1)); err != nil || n > maxDigested {
		return "", 0, errors.Join(err, fmt.Errorf("%s could not be read as a whole", path))
	}
	return hex.EncodeToString(sum.Sum(nil)), about.Size(), nil
}

// mostInFolder bounds the entries of a folder whose content an approval can be bound to.
const mostInFolder = 1000

// digestOfFolder holds each name in a folder with its file's content, behind a link too. A link to a
// folder, a pipe and a device leave the folder without a digest: what is behind them may change.
func digestOfFolder(folder string) (string, error) {
	sum, entries, bytes := sha256.New(), 0, int64(0)
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entries++; entries > mostInFolder {
			return fmt.Errorf("%s is a folder of more than %d entries: name the file", folder, mostInFolder)
		}
		content, size := "", int64(0)
		if !e.IsDir() {
			content, size, err = contentOf(path)
		}
		if bytes += size; err == nil && bytes > maxDigested {
			err = fmt.Errorf("%s is a folder of more than %d bytes: name the file", folder, maxDigested)
		}
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(sum, "%q %v %q\n", strings.TrimPrefix(path, folder), e.Type(), content)
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Part is a part of a file's content.
func Part(r wire.Reading) (wire.Part, error) {
	if r.Offset < 0 {
		return wire.Part{}, fmt.Errorf("reading %s from byte %d: want 0 or more", r.Path, r.Offset)
	}
	f, about, err := openPlain(seenFrom(r.Dir, r.Path))
	if errors.Is(err, errFolder) {
		return wire.Part{Folder: true}, nil
	}
	if f == nil {
		return wire.Part{Missing: err == nil}, err
	}
	defer func() { _ = f.Close() }()
	text := make([]byte, wire.PartSize)
	n, err := f.ReadAt(text, r.Offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return wire.Part{}, fmt.Errorf("reading %s: %w", r.Path, err)
	}
	part := wire.Part{Size: about.Size(), Now: time.Now().UnixNano(), Text: string(text[:n])}
	if of, ok := about.Sys().(*syscall.Stat_t); ok {
		part.Changed = of.Ctim.Nano()
	}
	return part, nil
}

// seenFrom is a path as it is opened: ".." is for the kernel to follow, since what stands
// before it may be a link.
func seenFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return dir + "/" + path
}
