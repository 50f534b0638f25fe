package protected

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	gitdir "github.com/bailiff-dev/bailiff/internal/project/repository"
)

// readIndex reads git's index. Entries name a repository below the folder where their mode says so. git status looks into it.
func readIndex(root *os.Root, name string) (gitdir.Index, error) {
	return gitdir.ReadIndex(root, name, sha1.Size, sha256.Size)
}

// writeIndex puts a text in an index's place, with git's lock where that is free. Where it is not, the
// program that has it may write what it read before; the next comparison sees that.
func writeIndex(root *os.Root, name string, text []byte) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	fresh, free := name+".lock", true
	f, err := root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		fresh, free = name+"-"+rand.Text(), false
		f, err = root.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing %s (its lock is free: %v): %w", name, free, err)
	}
	s, err := stateOf(root, name, info)
	if err == nil {
		_, err = f.Write(text)
		err = errors.Join(err, own(f, s), f.Chmod(s.mode), f.Close())
	}
	if err == nil {
		err = root.Rename(fresh, name)
	}
	if err != nil {
		_ = root.Remove(fresh)
	}
	return err
}

// entryKey names an entry of an index.
type entryKey struct {
	path  string
	stage int
}

// compareIndex makes those entries of git's index what they were by which the user's git would start a program: repositories that
// it did not name before and that are there, since git looks into them when it is called in the folder itself; files of git's own,
// and protected files with another content than the folder has by now, since git writes both when it is told to put files back.
func (c *comparison) compareIndex() {
	const name = repository + "/index"
	x, err := readIndex(c.root, name)
	if c.linked == nil || err != nil {
		return // git reads none either
	}
	back, gone := map[entryKey]*gitdir.IndexEntry{}, map[string]bool{}
	var files []string
	places := placesOf(slices.Collect(maps.Keys(c.patterns)), c.states)
	for _, change := range x.Changes(c.index) {
		is := change.Is
		if is == nil {
			continue
		}
		switch key := (entryKey{is.Path, is.Stage}); {
		case is.Mode == gitdir.ModeRepository:
			if !c.linked[is.Path] && slices.Contains(c.survey.embedded, is.Path) {
				back[key], gone[is.Path] = change.Was, true
			}
		case !gitdir.IsPlainPath(is.Path), places.has(is.Path, is.Mode == modeLink) && !c.holds(*is):
			back[key], files = change.Was, append(files, is.Path)
		}
	}
	if len(back) == 0 {
		return
	}
	fresh := x.Changed(func(e gitdir.IndexEntry) *gitdir.IndexEntry {
		if was, is := back[entryKey{e.Path, e.Stage}]; is {
			return was
		}
		return &e
	})
	if err := writeIndex(c.root, name, fresh.Text); err != nil {
		c.fail(err)
		return
	}
	if len(gone) > 0 {
		c.tell(name, Change{How: "had got " + strings.Join(sortedNames(gone), ", ") +
			", which is a repository of its own, and has it no longer"})
	}
	if len(files) > 0 {
		c.tell(name, Change{How: "had got another content of " + strings.Join(slices.Compact(files), ", ") +
			", and has what it had before"})
	}
}

// modeLink is the mode of an entry that is a link.
const modeLink = 0o120000

// holds says whether a protected file has the content of an entry.
func (c *comparison) holds(e gitdir.IndexEntry) bool {
	now, err := c.see(e.Path)
	if err != nil || now.kind != file && now.kind != link || !now.isWhole() {
		return false
	}
	content := now.content
	if now.kind == link {
		content = []byte(now.target)
	}
	return gitdir.BlobHash(len(e.Hash)/2, content) == e.Hash
}
