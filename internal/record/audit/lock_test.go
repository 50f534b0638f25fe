package audit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// held is a lock that this process has taken as another one would, signed by a process.
func held(t *testing.T, pid int) (dir string, release func()) {
	t.Helper()
	dir = t.TempDir()
	file, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	if _, err := file.WriteString(strconv.Itoa(pid) + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return dir, func() { file.Close() }
}

func TestALockOfAProcessThatRunsIsRefused(t *testing.T) {
	dir, _ := held(t, os.Getpid())
	_, err := LockState(dir)
	if err == nil || !strings.Contains(err.Error(), "in use by another bailiff (process "+strconv.Itoa(os.Getpid())+")") {
		t.Errorf("it says %v", err)
	}
}

// A child of a killed sidecar may hold its files for longer than a few tries take.
func TestALockOfAProcessThatIsGoneIsWaitedFor(t *testing.T) {
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dir, release := held(t, gone.Process.Pid)
	defer time.AfterFunc(4*lockTries*lockPause, release).Stop()
	unlock, err := LockState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}
