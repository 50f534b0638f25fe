package protected

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// setAside renames what stands in the way of a place: what is at it, or above it and no folder.
// It says the new name, empty if there was nothing.
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
		kept := part + suffix
		if err := root.RemoveAll(kept); err != nil {
			return "", fmt.Errorf("removing %s: %w", kept, err)
		}
		if err := root.Rename(part, kept); err != nil {
			return "", fmt.Errorf("setting %s aside: %w", part, err)
		}
		return kept, nil
	}
	return "", nil
}

// write makes a file or a link at a free place; what else was there stays away.
func (s state) write(root *os.Root, name string) error {
	if s.kind != file && s.kind != link {
		return nil
	}
	if above := parents(name); len(above) > 0 {
		if err := root.MkdirAll(above[len(above)-1], 0o755); err != nil {
			return fmt.Errorf("making the folder of %s: %w", name, err)
		}
	}
	if s.kind == link {
		return root.Symlink(s.target, name)
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	_, err = f.Write(s.content)
	return errors.Join(err, own(f, s), f.Chmod(s.mode.Perm()), f.Close())
}

// own gives a file back to its owner, where that is another one.
func own(f *os.File, s state) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := f.Chown(s.uid, s.gid); err != nil && !(errors.Is(err, fs.ErrPermission) && ownedBy(info, s)) {
		return err
	}
	return nil
}
