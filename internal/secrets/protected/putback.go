package protected

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostAside is how many things that stood in one place are kept under numbers, and how many of
// those after them are kept under dates.
const mostAside = 20

// setAside renames what stands in the way of a place: what is at it, or above it and no folder.
// It says the new name, empty if there was nothing. Nothing is removed for it, since a command
// can make something that cannot be removed; afterwards the oldest that has a date goes.
func setAside(root *os.Root, name string) (string, error) {
	for _, part := range append(parents(name), name) {
		info, err := root.Lstat(part)
		if isMissing(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("looking at %s: %w", part, err)
		}
		if part != name && info.IsDir() {
			continue
		}
		kept := freeName(root, part)
		if err = root.Rename(part, kept); err != nil {
			kept = datedName(part)
			err = root.Rename(part, kept)
		}
		if isMissing(err) {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("setting %s aside: %w", part, err)
		}
		dropOldest(root, part, kept)
		return kept, nil
	}
	return "", nil
}

// freeName is a name for what stood in a place: NAME.refused, with a number if that is taken.
func freeName(root *os.Root, name string) string {
	for n := range mostAside {
		free := beginningOfName(name) + suffix
		if n > 0 {
			free += "-" + strconv.Itoa(n+1)
		}
		if _, err := root.Lstat(free); isMissing(err) {
			return free
		}
	}
	return datedName(name)
}

// datedName is a name that is free without a look, and that tells when what has it was set aside.
func datedName(name string) string {
	return beginningOfName(name) + suffix + "-" + time.Now().UTC().Format("20060102T150405.000000000") + "-" + rand.Text()[:8]
}

var date = regexp.MustCompile(`^-\d{8}T\d{6}\.\d{9}-[2-7A-Z]{8}$`)

// dropOldest removes what was set aside of a place under the oldest dates, where too much has one. What has a number stays: it is
// what came first, and may be a file of the user's. So do folders, which may be of any shape, and what cannot be listed or removed. A
// date that is yet to come was not given here, and goes first.
func dropOldest(root *os.Root, name, kept string) {
	begin := path.Base(beginningOfName(name)) + suffix
	if !date.MatchString(strings.TrimPrefix(path.Base(kept), begin)) {
		return
	}
	dir, err := openFolder(root, path.Dir(name))
	if err != nil {
		return
	}
	defer dir.Close()
	var dated []string
	for names := []string{""}; len(names) > 0; names, _ = dir.Readdirnames(maxMatches) {
		for _, one := range names {
			if rest, ok := strings.CutPrefix(one, begin); ok && date.MatchString(rest) && one != path.Base(kept) {
				dated = append(dated, one)
			}
		}
	}
	slices.SortFunc(dated, func(a, b string) int {
		switch last := path.Base(kept); {
		case a > last && b <= last:
			return -1
		case a <= last && b > last:
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, one := range dated[:max(0, len(dated)+1-mostAside)] {
		at := path.Join(path.Dir(name), one)
		if about, err := root.Lstat(at); err == nil && !about.IsDir() {
			_ = root.Remove(at)
		}
	}
}

// mostOfName is how much of a name is in one that is longer: file systems take 255 bytes.
const mostOfName = 200

func beginningOfName(name string) string {
	base := path.Base(name)
	return name[:len(name)-len(base)] + base[:min(len(base), mostOfName)]
}

// write makes a file or a link as it was, under a name of its own first, and renames it over what
// is in its place, which must be no folder by now. What else was there stays away.
func (s state) write(root *os.Root, name string) error {
	if s.kind != file && s.kind != link {
		return nil
	}
	if err := s.makeParents(root, name); err != nil {
		return fmt.Errorf("making the folder of %s: %w", name, err)
	}
	fresh := path.Join(path.Dir(name), ".bailiff-"+rand.Text())
	err := s.writeAt(root, fresh)
	if err == nil {
		err = root.Rename(fresh, name)
	}
	if err != nil {
		_ = root.Remove(fresh)
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func (s state) writeAt(root *os.Root, name string) error {
	if s.kind == link {
		return root.Symlink(s.target, name)
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(s.content)
	return errors.Join(err, own(f, s), f.Chmod(s.mode), f.Sync(), f.Close())
}

func (s state) makeParents(root *os.Root, name string) error {
	for _, parent := range parents(name) {
		switch err := root.Mkdir(parent, 0o755); {
		case err == nil:
			if err := root.Lchown(parent, s.uid, s.gid); err != nil && !errors.Is(err, fs.ErrPermission) {
				return err
			}
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	return nil
}

// own gives a file back to its owner, where that is another one.
func own(f *os.File, s state) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := f.Chown(s.uid, s.gid); err != nil && !(errors.Is(err, fs.ErrPermission) && ownerOf(info) == s.uid) {
		return err
	}
	return nil
}

// open gives its owner's rights back to each folder on the way to a name from whom a command took
// them, if this process is the owner. It says whether any was closed.
func open(root *os.Root, name string) (opened []string) {
	for _, part := range append(parents(name), name) {
		info, err := root.Lstat(part)
		if err != nil || !info.IsDir() {
			break
		}
		if isClosed(info) && root.Chmod(part, info.Mode()|ownersRights) == nil {
			opened = append(opened, part)
		}
	}
	return opened
}

// ownersRights are what the owner of a folder needs to look into it and to change it.
const ownersRights = 0o700

func isClosed(info fs.FileInfo) bool {
	return info.Mode()&ownersRights != ownersRights && ownerOf(info) == os.Geteuid()
}

// keepOut keeps a folder out whose names cannot be told, by a fresh name, and moves those back into a
// new one that were there before.
func keepOut(root *os.Root, name string, before []string) (kept string, err error) {
	was, err := look(root, name)
	if err != nil {
		return "", err
	}
	if kept, err = setAside(root, name); err != nil || kept == "" || len(before) == 0 {
		return kept, err
	}
	if err := root.Mkdir(name, was.mode.Perm()|ownersRights); err != nil {
		return kept, fmt.Errorf("making %s anew: %w", name, err)
	}
	if err := root.Lchown(name, was.uid, was.gid); err != nil && !errors.Is(err, fs.ErrPermission) {
		return kept, err
	}
	open(root, kept)
	for _, one := range slices.Compact(before) {
		if err := root.Rename(path.Join(kept, one), path.Join(name, one)); err != nil && !isMissing(err) {
			return kept, fmt.Errorf("moving %s back: %w", one, err)
		}
	}
	return kept, nil
}
