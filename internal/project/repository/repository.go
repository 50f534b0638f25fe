// Package repository reads what git keeps of a working folder: where its directory is, HEAD, the
// refs, the stash, the index, and what is begun and not finished. It starts no program, so that
// it may read what a hostile program wrote.
//
// Here: files below an [os.Root], each plain, of bounded size, opened without waiting; the
// index in versions 2 to 4, in one file or in two, with hashes of SHA-1 and SHA-256. Promised: a file that cannot be read
// is an error, and never an empty answer; no text can make it take more than the bounds below.
//
// Not here: objects (git reads these, in a keeper), refs that lie in a reftable, an index with
// folders for entries ([ErrUnsupported]); who may write what (package carry).
package repository

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrUnsupported is the fault of a repository that has a form which is not read here.
var ErrUnsupported = errors.New("not supported")

const (
	// maxText is how many bytes a small file of git's may have.
	maxText = 64 << 10
	// maxList is how many bytes a file with a line for each ref may have.
	maxList = 64 << 20
	// maxIndex is how many bytes an index may have: an entry has about a hundred.
	maxIndex = 256 << 20
	// maxAlternates is how many object folders may borrow from each other.
	maxAlternates = 5
)

// Place is where the repository of a working folder lies.
type Place struct {
	// Dir is the working folder, Git its directory, Common what it shares with other working
	// folders: the same as Git, but in a linked working folder.
	Dir, Git, Common string
	// Objects are the folders with objects: the repository's own, and those from which it borrows.
	Objects []string
	// Hash is how many bytes a hash has.
	Hash int
	// ID is the same while the directory is the one that it was: another may be put at its path.
	ID string
}

// IsLinked says whether the working folder shares its repository with others, which have it as a file .git.
func (p Place) IsLinked() bool { return p.Git != p.Common }

// PlaceOf is the place of a working folder's repository. The error is [fs.ErrNotExist] if it has none.
//
// An agent may have made the folder's .git before. So a directory that lies elsewhere counts only if it says
// itself that the folder is its own, and objects only where git puts them.
func PlaceOf(dir string) (Place, error) {
	p := Place{Dir: dir, Git: filepath.Join(dir, ".git")}
	info, err := os.Lstat(p.Git)
	if err != nil {
		return p, err
	}
	switch {
	case info.Mode().IsRegular():
		if p.Git, err = leadTo(dir, p.Git); err != nil {
			return p, err
		}
	case !info.IsDir():
		return p, fmt.Errorf("%s is neither a folder nor a file: %w", p.Git, ErrUnsupported)
	}
	p.Common = p.Git
	text, err := readPlain(filepath.Join(p.Git, "commondir"))
	if err == nil {
		p.Common = absolute(p.Git, strings.TrimSpace(text))
	} else if !errors.Is(err, fs.ErrNotExist) {
		return p, err
	}
	if info.IsDir() && p.IsLinked() || !info.IsDir() && !p.isOwned() {
		return p, fmt.Errorf("%s does not say that its working folder is %s: %w", p.Git, dir, ErrUnsupported)
	}
	if p.Objects, err = p.objectFolders(); err != nil {
		return p, err
	}
	if p.ID, err = idOf(p.Git); err != nil {
		return p, err
	}
	p.Hash, err = hashOf(p.Common)
	return p, err
}

// idOf is the number of a folder, with that of its device.
func idOf(folder string) (string, error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no number: %w", folder, ErrUnsupported)
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino), nil
}

// isOwned says whether a directory that lies elsewhere names the working folder as its own: that of a linked one by
// a file, that of a submodule by a setting.
func (p Place) isOwned() bool {
	if p.IsLinked() {
		text, err := readPlain(filepath.Join(p.Git, "gitdir"))
		return err == nil && filepath.Dir(p.Git) == filepath.Join(p.Common, "worktrees") &&
			absolute(p.Git, strings.TrimSpace(text)) == filepath.Join(p.Dir, ".git")
	}
	text, err := readPlain(filepath.Join(p.Git, "config"))
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		key, value, _ := strings.Cut(line, "=")
		if section == "[core]" && strings.TrimSpace(key) == "worktree" {
			real, fault := filepath.EvalSymlinks(p.Dir)
			return errors.Join(err, fault) == nil && absolute(p.Git, strings.TrimSpace(value)) == real
		}
	}
	return false
}

// leadTo is the directory that a file .git names.
func leadTo(dir, file string) (string, error) {
	text, err := readPlain(file)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s does not say where its repository is: %w", file, ErrUnsupported)
	}
	return filepath.EvalSymlinks(absolute(dir, to))
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// objectFolders are that of the repository, and those below the working folder from which it borrows, in a chain.
func (p Place) objectFolders() (all []string, err error) {
	common, err := filepath.EvalSymlinks(p.Common)
	if err != nil {
		return nil, err
	}
	for queue := []string{filepath.Join(common, "objects")}; len(queue) > 0; queue = queue[1:] {
		real, err := filepath.EvalSymlinks(queue[0])
		if err != nil {
			return nil, fmt.Errorf("looking for objects: %w", err)
		}
		if real != queue[0] || len(all) > 0 && !strings.HasPrefix(real, p.Dir+"/") {
			return nil, fmt.Errorf("%s borrows objects from %s, which is not in the project: %w", p.Common, queue[0], ErrUnsupported)
		}
		if all = append(all, real); len(all) > maxAlternates {
			return nil, fmt.Errorf("more than %d folders of objects borrow from each other: %w", maxAlternates, ErrUnsupported)
		}
		text, err := readPlain(filepath.Join(real, "info", "alternates"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
				queue = append(queue, absolute(real, line))
			}
		}
	}
	return all, nil
}

// hashOf reads which hash a repository has, and whether its refs are files.
func hashOf(common string) (int, error) {
	text, err := readPlain(filepath.Join(common, "config"))
	if err != nil {
		return 0, err
	}
	size, section := 20, ""
	for line := range strings.Lines(text) {
		line = strings.ToLower(strings.TrimSpace(line))
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		switch key, value = strings.TrimSpace(key), strings.TrimSpace(value); {
		case section != "[extensions]":
		case key == "objectformat" && value == "sha256":
			size = 32
		case key == "objectformat" && value != "sha1", key == "refstorage" && value != "files", key == "partialclone":
			return 0, fmt.Errorf("%s has the extension %s = %s: %w", common, key, value, ErrUnsupported)
		}
	}
	return size, nil
}

// readPlain reads a small plain file by its path, of a repository that only its user writes.
func readPlain(name string) (string, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return "", err
	}
	defer root.Close()
	text, err := Read(root, filepath.Base(name), maxText)
	return string(text), err
}

// Read reads a plain file of at most so many bytes. One that is not there is [fs.ErrNotExist].
func Read(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, syscall.ENOTDIR) {
			return nil, fs.ErrNotExist
		}
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file", path.Base(name))
	case info.Size() > most:
		return nil, fmt.Errorf("%s has %d bytes, want at most %d", path.Base(name), info.Size(), most)
	}
	text := make([]byte, info.Size(), info.Size()+1)
	n, err := io.ReadFull(f, text)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return text[:n], nil
}
