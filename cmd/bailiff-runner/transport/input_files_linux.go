package transport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/carrier"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/flow"
)

// filesInterval is how long a file may be unseen of which no event told.
const filesInterval = time.Second

// inputFiles reads the files in a folder, in order. A file is removed when the next one has
// come: until then its writer may not be done with it.
type inputFiles struct {
	folder string
	events *os.File
	next   int
	rest   []byte
}

func openInputFiles(folder string) (*inputFiles, error) {
	stat, err := os.Lstat(folder)
	if err != nil {
		return nil, fmt.Errorf("opening the input: %w", err)
	}
	if !stat.IsDir() || stat.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("opening the input: %s is not a folder with mode 0700", folder)
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watching the input: %w", err)
	}
	if _, err := unix.InotifyAddWatch(fd, folder, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("watching the input: %w", err)
	}
	return &inputFiles{folder: folder, events: flow.File(fd), next: 1}, nil
}

// Read waits for files; it never sees an end, but a fault when the input is gone.
func (f *inputFiles) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		data, err := f.take()
		if err != nil {
			return 0, err
		}
		if f.rest = data; len(data) == 0 {
			if err := f.wait(); err != nil {
				return 0, err
			}
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// take opens the next file, if it is complete.
func (f *inputFiles) take() ([]byte, error) {
	path := filepath.Join(f.folder, carrier.FileName(f.next))
	content, err := readWhole(path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Lstat(f.folder)
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("reading a file: %w", err)
	}
	data, incomplete := carrier.Unseal(content)
	if incomplete != nil {
		return nil, nil
	}
	f.next++
	return data, f.remove(f.next - 2)
}

func (f *inputFiles) remove(number int) error {
	err := os.Remove(filepath.Join(f.folder, carrier.FileName(number)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the first has none before it
		return fmt.Errorf("removing a file: %w", err)
	}
	return nil
}

func readWhole(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, carrier.MaxChunk+1<<10))
}

// wait returns when a file may have come.
func (f *inputFiles) wait() error {
	if err := f.events.SetReadDeadline(time.Now().Add(filesInterval)); err != nil {
		return err
	}
	var events [4096]byte
	if _, err := f.events.Read(events[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("watching the input: %w", err)
	}
	return nil
}
