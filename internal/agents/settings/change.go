package settings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/record/records"
)

// Change is a file that is to be written.
type Change struct {
	// Path is where it is, links followed.
	Path string
	// Why is what it is for.
	Why string
	// Before and After are its text; Before is empty where there is no such file yet.
	Before, After string
	// Gone says that there is to be no such file afterwards; of folders, those that are empty then go with it.
	Gone    bool
	folders []string
	// IsRecord says that it is the record that a removal reads alone.
	IsRecord bool
	// Mode is that of a file that is not there yet.
	Mode os.FileMode
	// Like is the text that a new file is a copy of, but for the change.
	Like string
}

// IsNone says that nothing changes.
func (c Change) IsNone() bool { return c.Before == c.After && !c.Gone }

// Lines are the lines that go and those that come, with - and + before them; none of a record, which is not for people.
func (c Change) Lines() (lines []string) {
	if c.IsRecord {
		return nil
	}
	before, after := split(cmp.Or(c.Before, c.Like)), split(c.After)
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	for _, line := range before {
		lines = append(lines, "- "+line)
	}
	for _, line := range after {
		lines = append(lines, "+ "+line)
	}
	return lines
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Read is a change of a file that changes nothing yet. A link is followed, so that it stays.
func Read(path, why string, mode os.FileMode) (Change, error) {
	path = backends.RealPath(path)
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Change{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return Change{Path: path, Why: why, Before: string(text), After: string(text), Mode: mode}, nil
}

// CheckWritable says which of the files that are to change cannot be written.
func CheckWritable(changes []Change) error {
	for _, c := range changes {
		if err := c.refuse(); err != nil {
			return err
		}
	}
	return nil
}

// Write writes the changes, each file at once, or none where one of them cannot be written. What stands before one that fails
// all the same is written.
func Write(changes []Change) error {
	if err := CheckWritable(changes); err != nil {
		return err
	}
	for _, c := range changes {
		if err := c.write(); err != nil {
			return fmt.Errorf("writing %s: %w", c.Path, err)
		}
	}
	return nil
}

// refuse says why a file must not, or cannot, be written. One that its owner made read-only stays, though its folder would let it
// be replaced.
func (c Change) refuse() error {
	folder := filepath.Dir(c.Path)
	for folder != "/" && !Exists(folder) {
		folder = filepath.Dir(folder)
	}
	for _, path := range []string{c.Path, folder} {
		if Exists(path) && unix.Access(path, unix.W_OK) != nil {
			return fmt.Errorf("%s cannot be written by uid %d, so nothing is changed: make it writable (chmod u+w), or write "+
				"yourself what --dry-run shows", path, os.Geteuid())
		}
	}
	return nil
}

func (c Change) write() error {
	if c.Gone {
		return c.delete()
	}
	folder := filepath.Dir(c.Path)
	if err := os.MkdirAll(folder, c.folderMode()); err != nil {
		return err
	}
	mode := c.Mode
	if about, err := os.Stat(c.Path); err == nil {
		mode = about.Mode().Perm()
	}
	return records.WriteAs(c.Path, []byte(c.After), mode)
}

// delete takes the file away, and then the folders that were made for it and are empty.
func (c Change) delete() error {
	err := os.Remove(c.Path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, folder := range c.folders {
		if os.Remove(folder) != nil { // something else is in it
			break
		}
	}
	return nil
}

// folderMode is that of folders which are made for it: as closed as the file.
func (c Change) folderMode() os.FileMode {
	if c.Mode&0o077 == 0 {
		return 0o700
	}
	return 0o755
}

// Exists says whether there is a file or folder.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
