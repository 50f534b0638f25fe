package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/mailbox"
)

// postRound is how long a letter may lie unseen that no event told of.
const postRound = time.Second

// letters reads what lies in a folder, in order. A letter is removed when the next
// one has come: until then who brought it may not be done with its file.
type letters struct {
	folder string
	events *os.File
	next   int
	rest   []byte
}

func openMailbox(folder string) (*letters, error) {
	stat, err := os.Lstat(folder)
	if err != nil {
		return nil, fmt.Errorf("opening the mailbox: %w", err)
	}
	if !stat.IsDir() || stat.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("opening the mailbox: %s is not a folder with mode 0700", folder)
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watching the mailbox: %w", err)
	}
	if _, err := unix.InotifyAddWatch(fd, folder, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("watching the mailbox: %w", err)
	}
	return &letters{folder: folder, events: file(fd), next: 1}, nil
}

// Read waits for letters; it never sees an end, but a fault when the mailbox is gone.
func (l *letters) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		data, err := l.take()
		if err != nil {
			return 0, err
		}
		if l.rest = data; len(data) == 0 {
			if err := l.wait(); err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// take opens the next letter, if it is there as a whole.
func (l *letters) take() ([]byte, error) {
	path := filepath.Join(l.folder, mailbox.Name(l.next))
	content, err := readLetter(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(l.folder)
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("reading a letter: %w", err)
	}
	data, unfinished := mailbox.Open(content)
	if unfinished != nil {
		return nil, nil
	}
	l.next++
	return data, l.remove(l.next - 2)
}

func (l *letters) remove(number int) error {
	err := os.Remove(filepath.Join(l.folder, mailbox.Name(number)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the first has none before it
		return fmt.Errorf("removing a letter: %w", err)
	}
	return nil
}

func readLetter(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, mailbox.MaxBytes+1<<10))
}

// wait returns when something may have come.
func (l *letters) wait() error {
	if err := l.events.SetReadDeadline(time.Now().Add(postRound)); err != nil {
		return err
	}
	var events [4096]byte
	if _, err := l.events.Read(events[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("watching the mailbox: %w", err)
	}
	return nil
}
