package nested

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// tries is how often an exchange is taken back that a command got in the way of.
const tries = 5

// Take exchanges what has a name in a folder for a link, and says where it is now: empty if there was nothing. The error is
// [unix.EXDEV] where the folder is on another file system than the place.
func (p Place) Take(folder int, name string) (kept string, err error) {
	if err := os.Chmod(p.Folder, 0o700); err != nil { // a command may have closed it; it is no link, since none sees what it lies in
		return "", err
	}
	at, err := unix.Open(p.Folder, unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", fmt.Errorf("opening %s: %w", p.Folder, err)
	}
	defer func() { _ = unix.Close(at) }()
	for range tries {
		id := rand.Text()
		link := path.Join(p.target, id)
		if err := unix.Symlinkat(link, at, id); err != nil {
			return "", fmt.Errorf("making a link in %s: %w", p.Folder, err)
		}
		if err := unix.Renameat2(at, id, folder, name, unix.RENAME_EXCHANGE); err != nil {
			if _ = unix.Unlinkat(at, id, 0); errors.Is(err, unix.ENOENT) {
				err = nil
			}
			return "", err
		}
		text := make([]byte, len(link)+1)
		if n, err := unix.Readlinkat(folder, name, text); err == nil && string(text[:n]) == link { // else a command changed it just then
			return filepath.Join(p.Folder, id), nil
		}
	}
	return "", errors.New("it is changed again while it is taken aside")
}
