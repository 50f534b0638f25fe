// Package manifest says which programs a project declares to be its own.
//
// Here: the files that the project's git tracks, and those that its build files say that they make, each by its path and content, as
// they are at a moment ([Of]).
//
// Promised: no program is started to find out. What cannot be read, or is more than the bounds below, is not declared.
//
// Not here: which moment that is (enforcer/sights); what the programs do.
package manifest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/project/repository"
)

const (
	// maxFile is how many bytes a file may have whose content is compared.
	maxFile = 64 << 20
	// maxTracked is how many files are declared at most.
	maxTracked = 500_000
	// digest is how many bytes stand for a file.
	digest = 16
)

// errMany is the fault of a project with more files than are kept.
var errMany = errors.New("git tracks more files there than are kept")

// Declared are the files of a project, each by its path and its content: digests in their order.
type Declared []byte

// Root is the folder of the project around a folder; it is false where there is none.
func Root(folder string) (string, bool) {
	for dir := folder; ; dir = filepath.Dir(dir) {
		if IsRoot(dir) {
			return dir, true
		}
		if dir == filepath.Dir(dir) {
			return folder, false
		}
	}
}

// IsRoot says that a folder looks like the root of a project: git has a directory there, or a file that leads to one.
func IsRoot(folder string) bool {
	info, err := os.Lstat(filepath.Join(folder, ".git"))
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(folder, ".git", "HEAD"))
	}
	return err == nil
}

// Of reads what the project of a root folder declares as it is now.
func Of(root string) (Declared, error) {
	index, err := indexOf(root)
	if err != nil {
		return nil, fmt.Errorf("reading the repository of %s: %w", root, err)
	}
	entries := index.Entries(func(_ string, mode uint32) bool { return mode != repository.ModeRepository })
	if len(entries) > maxTracked {
		return nil, fmt.Errorf("reading the repository of %s: %w", root, errMany)
	}
	var all [][]byte
	var tracked []string
	for _, e := range entries {
		if e.Stage == 0 && !e.IsAnnounced {
			all, tracked = append(all, digestOf(e.Path, e.Hash)), append(tracked, e.Path)
		}
	}
	for name, hash := range built(root, tracked) {
		all = append(all, digestOf(name, hash))
	}
	slices.SortFunc(all, bytes.Compare)
	return bytes.Join(all, nil), nil
}

func indexOf(root string) (repository.Index, error) {
	place, err := repository.PlaceOf(root)
	if err != nil {
		return repository.Index{}, err
	}
	dirs, err := repository.Open(place.Git, place.Common)
	if err != nil {
		return repository.Index{}, err
	}
	defer dirs.Close()
	return dirs.Index(place.Hash)
}

// Has says that the project of a root folder declares a file, by its path without links, with the content that it has now.
func (d Declared) Has(root, path string) bool {
	name, isBelow := strings.CutPrefix(filepath.Clean(path), strings.TrimSuffix(root, "/")+"/")
	if !isBelow || len(d) == 0 {
		return false
	}
	files, err := os.OpenRoot(root)
	if err != nil {
		return false
	}
	defer files.Close()
	text, err := repository.Read(files, name, maxFile)
	return err == nil && (d.holds(name, repository.BlobHash(sha1.Size, text)) ||
		d.holds(name, repository.BlobHash(sha256.Size, text)))
}

func (d Declared) holds(name, hash string) bool {
	want, count := digestOf(name, hash), len(d)/digest
	at, end := 0, count
	for at < end {
		if middle := (at + end) / 2; bytes.Compare(d[middle*digest:(middle+1)*digest], want) < 0 {
			at = middle + 1
		} else {
			end = middle
		}
	}
	return at < count && bytes.Equal(d[at*digest:(at+1)*digest], want)
}

// digestOf stands for a file of a name, whose content git keeps under a hash.
func digestOf(name, hash string) []byte {
	sum := sha256.Sum256([]byte(hash + " " + name))
	return sum[:digest]
}
