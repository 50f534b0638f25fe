package repository

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"strings"
)

const (
	// maxRefs is how many refs a repository may have.
	maxRefs = 200_000
	// maxDepth is how many parts a ref may have.
	maxDepth = 40
	// maxStash is how many entries of the stash are read.
	maxStash = 1000
)

// State is what a repository says beside its objects and its index.
type State struct {
	// Head is what HEAD holds: "ref: refs/heads/main", or a hash.
	Head string
	// Refs are hashes by the whole names of refs; symbolic refs are left out.
	Refs map[string]string
	// Stash has the newest entry first.
	Stash []Entry
	// Notes are the small files that say how a merge or a pick stands, by name.
	Notes map[string]string
	// Unfinished says in one word what goes on that takes several steps: rebase, bisect, am; else empty.
	Unfinished string
	// IsLocked says that a program holds the index.
	IsLocked bool
}

// Entry is one of the stash.
type Entry struct{ Hash, Message string }

// Notes are the names of the files that say how a merge or a pick stands.
var Notes = []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "ORIG_HEAD", "SQUASH_MSG"}

// stepwise are the places that are there while something goes on that takes several steps.
var stepwise = [][2]string{{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"sequencer", "series of picks"}, {"BISECT_LOG",
	"bisect"}}

// Branch is the branch that HEAD names, as a whole ref; empty if it names a commit.
func (s State) Branch() string {
	name, _ := strings.CutPrefix(s.Head, "ref: ")
	if name == s.Head {
		return ""
	}
	return name
}

// Commit is the commit at HEAD; empty on a branch without one.
func (s State) Commit() string {
	if branch := s.Branch(); branch != "" {
		return s.Refs[branch]
	}
	return s.Head
}

// Dirs are the two folders of a repository, opened: the working folder's and the shared one.
type Dirs struct{ Git, Common *os.Root }

// Open opens the folders of a repository.
func Open(git, common string) (d Dirs, err error) {
	if d.Git, err = os.OpenRoot(git); err != nil {
		return d, err
	}
	if d.Common = d.Git; common != git {
		if d.Common, err = os.OpenRoot(common); err != nil {
			return d, errors.Join(err, d.Git.Close())
		}
	}
	return d, nil
}

// Close closes both.
func (d Dirs) Close() {
	_ = d.Git.Close()
	if d.Common != d.Git {
		_ = d.Common.Close()
	}
}

// State reads a repository whose hashes have so many bytes. What cannot be read is an error.
func (d Dirs) State(hash int) (s State, err error) {
	if s.Head, err = readHead(d.Git, hash); err != nil {
		return s, err
	}
	if s.Refs, err = readRefs(d.Common, hash); err != nil {
		return s, err
	}
	if s.Stash, err = readStash(d.Common, hash); err != nil {
		return s, err
	}
	s.Notes = map[string]string{}
	for _, name := range Notes {
		text, err := Read(d.Git, name, maxText)
		switch {
		case err == nil:
			s.Notes[name] = string(text)
		case !errors.Is(err, fs.ErrNotExist):
			return s, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	for _, one := range stepwise {
		if _, err := d.Git.Lstat(one[0]); err == nil {
			s.Unfinished = one[1]
			break
		}
	}
	_, err = d.Git.Lstat("index.lock")
	s.IsLocked = err == nil
	return s, nil
}

func readHead(root *os.Root, hash int) (string, error) {
	text, err := Read(root, "HEAD", maxText)
	if err != nil {
		return "", fmt.Errorf("reading HEAD: %w", err)
	}
	head := strings.TrimRight(string(text), "\n")
	name, isName := strings.CutPrefix(head, "ref: ")
	switch {
	case isName && IsName(strings.TrimSpace(name)):
		return "ref: " + strings.TrimSpace(name), nil
	case !isName && IsHash(head, hash):
		return head, nil
	}
	return "", errors.New("HEAD names neither a ref nor a commit")
}

// IsHash says whether a text is a hash of so many bytes, in hexadecimal.
func IsHash(text string, size int) bool {
	if len(text) != 2*size || strings.ToLower(text) != text {
		return false
	}
	_, err := hex.DecodeString(text)
	return err == nil
}

// IsName says whether a text can be the name of a ref, as git-check-ref-format(1) has it.
func IsName(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > 1000 || strings.Contains(name, "..") || strings.Contains(name, "@{") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") || strings.HasSuffix(part, ".") {
			return false
		}
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(` ~^:?*[\`, r) })
}

func readRefs(root *os.Root, hash int) (map[string]string, error) {
	refs := map[string]string{}
	text, err := Read(root, "packed-refs", maxList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading packed-refs: %w", err)
	}
	for line := range bytes.Lines(text) {
		value, name, ok := strings.Cut(strings.TrimRight(string(line), "\n"), " ")
		if ok && IsHash(value, hash) && IsName(name) {
			refs[name] = value
		}
	}
	loose, err := readLoose(root, "refs", hash, 0)
	if err != nil {
		return nil, err
	}
	if maps.Copy(refs, loose); len(refs) > maxRefs {
		return nil, fmt.Errorf("there are more than %d refs", maxRefs)
	}
	return refs, nil
}

// readLoose reads the refs that are files of their own.
func readLoose(root *os.Root, folder string, hash, depth int) (map[string]string, error) {
	refs := map[string]string{}
	inside, err := list(root, folder)
	if err != nil || depth > maxDepth {
		return refs, err
	}
	for _, e := range inside {
		name := path.Join(folder, e.Name())
		switch {
		case e.IsDir():
			below, err := readLoose(root, name, hash, depth+1)
			if err != nil {
				return nil, err
			}
			maps.Copy(refs, below)
		case !IsName(name):
		case e.Type().IsRegular():
			text, err := Read(root, name, maxText)
			value := strings.TrimSpace(string(text))
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, fmt.Errorf("reading %s: %w", name, err)
			case IsHash(value, hash):
				refs[name] = value
			}
		}
		if len(refs) > maxRefs {
			break
		}
	}
	return refs, nil
}

// list is what lies in a folder. A folder that is not there is an error: git makes refs/.
func list(root *os.Root, folder string) ([]fs.DirEntry, error) {
	f, err := root.Open(folder)
	if err != nil {
		return nil, fmt.Errorf("looking into %s: %w", folder, err)
	}
	defer f.Close()
	inside, err := f.ReadDir(maxRefs + 1)
	if err != nil && len(inside) > 0 || len(inside) > maxRefs {
		return nil, fmt.Errorf("looking into %s: too much or not readable", folder)
	}
	return inside, nil // io.EOF, or none
}

// readStash reads the stash, which git keeps as the log of one ref.
func readStash(root *os.Root, hash int) (all []Entry, err error) {
	text, err := Read(root, "logs/refs/stash", maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the stash: %w", err)
	}
	for line := range bytes.Lines(text) {
		before, message, _ := strings.Cut(strings.TrimRight(string(line), "\n"), "\t")
		if words := strings.SplitN(before, " ", 3); len(words) == 3 && IsHash(words[1], hash) {
			all = append([]Entry{{words[1], message}}, all...)
		}
	}
	if len(all) > maxStash {
		return nil, fmt.Errorf("the stash has more than %d entries", maxStash)
	}
	return all, nil
}
