package loop_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/loop"
)

func TestAFileSystemHoldsNoMoreThanItsSizeAndKeepsItsFiles(t *testing.T) {
	backendtest.Needs(t, "LOOP DEVICES", loop.Possible())
	path := made(t)
	folder := t.TempDir()

	device := attached(t, path)
	mount(t, device, folder)
	device.Close() // what is mounted stays
	if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
		t.Errorf("it begins with %v, %v; want nothing", entries, err)
	}
	size := fill(t, filepath.Join(folder, "note"))
	if size < 8<<20 || size > 16<<20 {
		t.Errorf("a file system of 16 MiB took %d bytes", size)
	}
	unmount(t, folder)

	mount(t, attached(t, path), folder)
	defer unmount(t, folder)
	if note, err := os.Stat(filepath.Join(folder, "note")); err != nil || note.Size() != size {
		t.Errorf("the file is not there any more: %v", err)
	}
}

func TestAFileHasOneDeviceWhichGoesWithItsLastUser(t *testing.T) {
	backendtest.Needs(t, "LOOP DEVICES", loop.Possible())
	path := made(t)
	first, again := attached(t, path), attached(t, path)
	if first.Name() != again.Name() {
		t.Errorf("one file has the devices %s and %s", first.Name(), again.Name())
	}
	if other := attached(t, made(t)); other.Name() == first.Name() {
		t.Errorf("two files share %s", other.Name())
	}
	for _, device := range []*os.File{first, again} {
		if !strings.Contains(shown(device.Name()), path) {
			t.Errorf("%s shows %q while it is open", device.Name(), shown(device.Name()))
		}
		device.Close()
	}
	if strings.Contains(shown(first.Name()), path) {
		t.Errorf("%s shows the file though nobody uses it", first.Name())
	}
}

func TestAFileSystemThatCannotBeMadeLeavesNoFile(t *testing.T) {
	backendtest.Needs(t, "LOOP DEVICES", loop.Possible())
	folder := t.TempDir()
	if err := loop.Make(t.Context(), filepath.Join(folder, "disk"), 0); err == nil {
		t.Error("a file system of no size was made")
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left behind are %v, %v", left, err)
	}
}

func made(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	backendtest.Must(t, loop.Make(t.Context(), path, 16))
	return path
}

func attached(t *testing.T, path string) *os.File {
	t.Helper()
	device, err := loop.Attach(path)
	backendtest.Must(t, err)
	t.Cleanup(func() { device.Close() })
	return device
}

func mount(t *testing.T, device *os.File, folder string) {
	t.Helper()
	backendtest.Must(t, unix.Mount(device.Name(), folder, "ext4", unix.MS_NOSUID|unix.MS_NODEV, ""))
	t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
}

func unmount(t *testing.T, folder string) {
	t.Helper()
	backendtest.NoError(t, unix.Unmount(folder, 0))
}

// fill writes until there is no more room, and returns how much there was.
func fill(t *testing.T, path string) (size int64) {
	t.Helper()
	file, err := os.Create(path)
	backendtest.Must(t, err)
	defer file.Close()
	for piece := make([]byte, 64<<10); ; {
		n, err := file.Write(piece)
		if size += int64(n); errors.Is(err, syscall.ENOSPC) {
			return size
		}
		backendtest.Must(t, err)
	}
}

// shown is the file that a device shows.
func shown(device string) string {
	text, _ := os.ReadFile("/sys/block/" + filepath.Base(device) + "/loop/backing_file")
	return string(text)
}
