package removal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/internal/host/removal"
)

// asOther makes this test program make a tree and remove it, as a user without privileges and with few
// descriptors.
const asOther = "BAILIFF_TEST_REMOVAL"

// few is how many descriptors that process may hold.
const few = 32

// shapes are trees by what makes them in a folder.
var shapes = map[string]func(t *testing.T, folder string){
	"5,000 nested folders": func(t *testing.T, folder string) { nested(t, folder, 5000) },
	"nested folders with files beside each": func(t *testing.T, folder string) {
		nested(t, folder, 300, "a", "b", strings.Repeat("x", 255))
	},
	"5,000 files": func(t *testing.T, folder string) {
		for i := range 5000 {
			must(t, os.WriteFile(filepath.Join(folder, fmt.Sprint("file ", i)), nil, 0o600))
		}
	},
	"folders that are closed to their own user": func(t *testing.T, folder string) {
		must(t, os.MkdirAll(filepath.Join(folder, "a/b/c/d"), 0o700))
		must(t, os.WriteFile(filepath.Join(folder, "a/b/c/file"), nil, 0))
		for _, name := range []string{"a/b/c/d", "a/b/c", "a/b", "a", "."} {
			must(t, os.Chmod(filepath.Join(folder, name), 0))
		}
	},
	"links": func(t *testing.T, folder string) {
		must(t, os.Mkdir(filepath.Join(folder, "d"), 0o700))
		must(t, os.Symlink(filepath.Dir(folder), filepath.Join(folder, "up")))
		must(t, os.Symlink("..", filepath.Join(folder, "d/up")))
		must(t, os.Symlink("/", filepath.Join(folder, "d/root")))
		must(t, os.Symlink("d", filepath.Join(folder, "d/itself")))
	},
	"a pipe and a socket": func(t *testing.T, folder string) {
		must(t, syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
		must(t, syscall.Mknod(filepath.Join(folder, "socket"), syscall.S_IFSOCK|0o600, 0))
	},
	"odd names": func(t *testing.T, folder string) {
		for _, name := range []string{"-rf", " ", "\n", "\xff", "...", "~", "*"} {
			must(t, os.MkdirAll(filepath.Join(folder, name, name), 0o700))
		}
	},
}

// nested makes folders in one another, each with some files beside it. No path reaches so deep.
func nested(t *testing.T, folder string, depth int, files ...string) {
	t.Helper()
	at, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	must(t, err)
	for range depth {
		for _, name := range files {
			file, err := unix.Openat(at, name, unix.O_CREAT|unix.O_WRONLY, 0o600)
			must(t, err)
			must(t, unix.Close(file))
		}
		must(t, unix.Mkdirat(at, "d", 0o700))
		next, err := unix.Openat(at, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		must(t, err)
		must(t, unix.Close(at))
		at = next
	}
	must(t, unix.Close(at))
}

func TestATreeOfAnyShapeIsRemovedWithFewDescriptors(t *testing.T) {
	if os.Getenv(asOther) != "" {
		removeAll(t)
		return
	}
	t.Parallel()
	folder, err := os.MkdirTemp("", "r")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	must(t, os.Chmod(folder, 0o777))
	program, err := os.ReadFile(os.Args[0])
	must(t, err)
	must(t, os.WriteFile(filepath.Join(folder, "test"), program, 0o755))
	cmd := exec.Command(filepath.Join(folder, "test"), "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = folder, []string{asOther + "=1", "TMPDIR=" + folder}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 54321, Gid: 54321}}
	}
	if out, err := cmd.CombinedOutput(); err != nil || strings.Count(string(out), "--- PASS") != len(shapes)+1 {
		t.Errorf("%v\n%s", err, out)
	}
}

func removeAll(t *testing.T) {
	must(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: few, Max: few}))
	for name, make := range shapes {
		t.Run(name, func(t *testing.T) {
			beside, err := os.MkdirTemp("", "beside")
			must(t, err)
			must(t, os.WriteFile(filepath.Join(beside, "kept"), nil, 0o600))
			folder := filepath.Join(beside, "tree")
			must(t, os.Mkdir(folder, 0o700))
			make(t, folder)
			must(t, removal.All(t.Context(), folder))
			if left, err := os.ReadDir(beside); err != nil || len(left) != 1 {
				t.Errorf("left are %v, %v, want the file beside the tree", left, err)
			}
		})
	}
}

func TestARemovalThatIsStoppedSaysSoAndIsGoneOnWith(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "tree")
	must(t, os.Mkdir(folder, 0o700))
	nested(t, folder, 2000)
	err := removal.All(&ending{Context: t.Context(), looks: 100}, folder)
	if !errors.Is(err, context.DeadlineExceeded) || len(err.Error()) > 200 {
		t.Errorf("it ended with %v", err)
	}
	must(t, removal.All(t.Context(), folder))
	if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

// ending is a context that ends after some looks at it.
type ending struct {
	context.Context
	looks int
}

func (e *ending) Err() error {
	if e.looks--; e.looks < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestWhatIsNotThereIsRemoved(t *testing.T) {
	t.Parallel()
	must(t, removal.All(t.Context(), filepath.Join(t.TempDir(), "none")))
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
