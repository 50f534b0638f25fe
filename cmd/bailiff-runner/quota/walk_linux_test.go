package quota

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// counted is what a walk finds, done in parts of almost no time, and after each of which meanwhile is called.
func counted(t *testing.T, folder string, most usage, meanwhile func()) usage {
	t.Helper()
	w, err := newWalk(folder, most)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	for !w.advance(time.Nanosecond) {
		w.step()
		meanwhile()
	}
	return w.found
}

func nothing() {}

func filled(t *testing.T, path string, size int) {
	t.Helper()
	backendtest.Must(t, os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600))
}

func TestACountIsOfAllThatIsInAFolderAndOfNothingElse(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	filled(t, filepath.Join(outside, "big"), 8<<20)
	empty := counted(t, root, usage{}, nothing)
	backendtest.Must(t, os.MkdirAll(filepath.Join(root, "a/b/c"), 0o700))
	backendtest.Must(t, os.MkdirAll(filepath.Join(root, "d"), 0o700))
	filled(t, filepath.Join(root, "a/b/c/one"), 1<<20)
	filled(t, filepath.Join(root, "d/two"), 1<<20)
	backendtest.Must(t, os.Link(filepath.Join(root, "d/two"), filepath.Join(root, "a/again")))
	backendtest.Must(t, os.Symlink(outside, filepath.Join(root, "link")))
	backendtest.Must(t, os.Symlink(root, filepath.Join(root, "d/loop")))
	got := counted(t, root, usage{}, nothing)
	if got.files != 9 {
		t.Errorf("%d entries, want 9: 4 folders, 2 files, another name and 2 links", got.files)
	}
	if got.bytes-empty.bytes < 2<<20 || got.bytes-empty.bytes > 2<<20+128<<10 {
		t.Errorf("%d bytes more than an empty folder has, want those of two files of 1 MiB", got.bytes-empty.bytes)
	}
	w, err := newWalk(root, usage{})
	backendtest.Must(t, err)
	defer w.close()
	if !w.advance(time.Hour) || w.found != got {
		t.Errorf("without a break it found %v, want %v", w.found, got)
	}
	if _, err := newWalk(filepath.Join(root, "absent"), usage{}); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("of a folder that is not there it says %v, want an error that names it", err)
	}
}

func TestACountGoesToAnyDepthWithFewDescriptors(t *testing.T) {
	const deep = 3000 // a path too long for any call
	root := t.TempDir()
	at, err := unix.Open(root, openFolder, 0)
	backendtest.Must(t, err)
	for range deep {
		backendtest.Must(t, unix.Mkdirat(at, "folder", 0o700))
		next, err := unix.Openat(at, "folder", openFolder, 0)
		backendtest.Must(t, err)
		unix.Close(at)
		at = next
	}
	unix.Close(at)
	before, most := descriptors(t), 0
	got := counted(t, root, usage{}, func() { most = max(most, descriptors(t)-before) })
	if got.files != deep || most > 2 {
		t.Errorf("%d folders and %d descriptors more, want %d and at most 2", got.files, most, deep)
	}
	if now := descriptors(t); now != before {
		t.Errorf("%d descriptors are open afterwards, want %d", now, before)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	backendtest.Must(t, err)
	return len(list)
}

func TestACountStopsAsSoonAsItIsOverItsBound(t *testing.T) {
	root := t.TempDir()
	for i := range 1000 {
		filled(t, filepath.Join(root, fmt.Sprint(i)), 4096)
	}
	for _, most := range []usage{{files: 100}, {bytes: 400 << 10}} {
		got := counted(t, root, most, nothing)
		if !got.exceeds(most) || got.files >= 300 {
			t.Errorf("with a bound of %v it found %v, want little more", most, got)
		}
	}
	if got, most := counted(t, root, usage{files: 1000}, nothing), (usage{files: 1000}); got.exceeds(most) || got.files != 1000 {
		t.Errorf("it found %v, want 1000 files, which are not more than %v", got, most)
	}
}

func TestACountLeavesOutWhatIsMountedInside(t *testing.T) {
	root, shown := t.TempDir(), t.TempDir() // of one file system
	filled(t, filepath.Join(shown, "file"), 1<<20)
	before := counted(t, root, usage{}, nothing)
	for _, at := range []string{"folder", "file"} {
		if at == "folder" {
			backendtest.Must(t, os.Mkdir(filepath.Join(root, at), 0o700))
		} else {
			filled(t, filepath.Join(root, at), 0)
		}
		from := map[string]string{"folder": shown, "file": filepath.Join(shown, "file")}[at]
		err := unix.Mount(from, filepath.Join(root, at), "", unix.MS_BIND, "")
		if err == nil {
			t.Cleanup(func() { backendtest.Must(t, unix.Unmount(filepath.Join(root, at), unix.MNT_DETACH)) })
		}
		backendtest.Needs(t, "the right to mount", err)
	}
	if got := counted(t, root, usage{}, nothing); got.files != before.files || got.bytes-before.bytes >= 1<<20 {
		t.Errorf("it found %v, want nothing of the mounts more than %v", got, before)
	}
}

func TestACountEndsWhileFoldersAreMoved(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for i := range 20 {
		backendtest.Must(t, os.MkdirAll(filepath.Join(root, fmt.Sprint(i), "a/b/c"), 0o700))
		filled(t, filepath.Join(root, fmt.Sprint(i), "a/b/c/file"), 1)
	}
	filled(t, filepath.Join(outside, "file"), 8<<20)
	before, moves := descriptors(t), 0
	got := counted(t, root, usage{}, func() {
		from := filepath.Join(root, fmt.Sprint(moves%20), "a/b")
		backendtest.Must(t, os.Rename(from, filepath.Join(outside, fmt.Sprint(moves))))
		backendtest.Must(t, os.MkdirAll(from, 0o700))
		moves++
	})
	if got.files < 20 || got.bytes >= 8<<20 {
		t.Errorf("it found %v, want the folders that stayed and nothing of where the others went", got)
	}
	if now := descriptors(t); now != before || moves == 0 {
		t.Errorf("%d descriptors are open after %d moves, want %d", now, moves, before)
	}
}

func BenchmarkCount(b *testing.B) {
	for _, files := range []int{10, 1000, 10000} {
		root := b.TempDir()
		for i := range files {
			backendtest.Must(b, os.WriteFile(filepath.Join(root, fmt.Sprint(i)), []byte("x"), 0o600))
		}
		b.Run(fmt.Sprint(files), func(b *testing.B) {
			for b.Loop() {
				w, err := newWalk(root, usage{})
				backendtest.Must(b, err)
				w.advance(time.Hour)
				w.close()
			}
		})
	}
}
