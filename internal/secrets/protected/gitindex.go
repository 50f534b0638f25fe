package protected

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

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
