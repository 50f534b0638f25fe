package trust

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// largest bounds what is read; keys, certificates and lists of hosts are smaller.
const largest = 4 << 20

// Secret reads a file that belongs to root or to the sidecar's own user, that no
// other user can change or replace, and that only its group can read.
func Secret(path string) ([]byte, error) { return read(path, check.notForOthers) }

// shortestToken is how many characters a token must have to be none that can be tried.
const shortestToken = 16

// Token reads a secret that proves to another side who asks, without the white space around
// it.
func Token(path string) (string, error) {
	text, err := Secret(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	return token, LongEnough(token, path)
}

// LongEnough says what is wrong with a token's length; from is where it is kept.
func LongEnough(token, from string) error {
	switch n := len(token); {
	case n == 0:
		return fmt.Errorf("%s is empty", from)
	case n < shortestToken:
		return fmt.Errorf("%s holds a secret of %d characters, want at least %d", from, n, shortestToken)
	}
	return nil
}

// shortestKey is how many bytes a key must have to be none that can be tried.
const shortestKey = 32

// Key reads a secret that others' word is checked by, which must not be guessed.
func Key(path string) ([]byte, error) {
	text, err := Secret(path)
	if err == nil && len(text) < shortestKey {
		return nil, fmt.Errorf("%s holds a secret of %d bytes, want at least %d", path, len(text), shortestKey)
	}
	return text, err
}

// Public reads a file that belongs to root or to the sidecar's own user and that
// no other user can change or replace.
func Public(path string) ([]byte, error) { return read(path, check.onlyOursToWrite) }

// read judges the file that it has open: what has its name may be replaced meanwhile.
func read(path string, judge func(check, string, fs.FileInfo) error) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a named pipe must not block
	if err != nil {
		return nil, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return nil, err
	}
	c := check{self: os.Geteuid()}
	switch {
	case !about.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case about.Size() > largest:
		return nil, fmt.Errorf("%s has more than %d bytes", path, largest)
	}
	if err := c.ours(path, about); err != nil {
		return nil, err
	}
	if err := judge(c, path, about); err != nil {
		return nil, err
	}
	if err := Path(path); err != nil { // who may write a folder above can replace it the next time
		return nil, err
	}
	return io.ReadAll(io.LimitReader(file, largest))
}

func (check) notForOthers(path string, about fs.FileInfo) error {
	if mode := about.Mode().Perm(); mode&0o027 != 0 {
		return fmt.Errorf("others may use %s (mode %04o), which holds a secret: chmod g-w,o= %[1]s", path, mode)
	}
	return nil
}
