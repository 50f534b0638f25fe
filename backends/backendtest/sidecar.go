package backendtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// The variables by which a test speaks to itself in another process.
const (
	builtRunner = "BAILIFF_TEST_RUNNER"
	asSidecar   = "BAILIFF_TEST_SIDECAR"
	withSilence = "BAILIFF_TEST_SILENCE"
)

// nobody is the user who owns no file.
const nobody = 54321

// Unprivileged runs the test that calls it once more in a process of an
// unprivileged user, if this one is root, and returns true when the caller is
// in that process or needs none. Else the test is over.
func Unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	cmd := again(t)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("as an unprivileged user: %v\n%s", err, out)
	}
	return false
}

// again is this test in another process, which any user may run.
func again(t *testing.T) *exec.Cmd {
	t.Helper()
	folder, err := os.MkdirTemp("", "bailiff-again")
	Must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	Must(t, os.Chmod(folder, 0o777|os.ModeSticky))
	program := filepath.Join(folder, "test")
	copied(t, os.Args[0], program)
	copied(t, Runner(t), filepath.Join(folder, "bailiff-runner"))
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout="+timeLeft(t).String())
	cmd.Dir = "/"
	cmd.Env = []string{"TMPDIR=" + folder, "HOME=" + folder, "PATH=" + os.Getenv("PATH"),
		builtRunner + "=" + filepath.Join(folder, "bailiff-runner")}
	return cmd
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, content, 0o755)
	}
	Must(t, err)
}

// TestKilledSidecar kills a process that holds a sandbox with everything in it,
// and wants nothing of it to be left when the next one has swept once.
func TestKilledSidecar(t *testing.T, open func(testing.TB) backends.Backend, spec backends.Spec) {
	if m := os.Getenv(asSidecar); m != "" {
		beSidecar(t, open(t), spec, m)
		return
	}
	m := marker()
	cmd := again(t)
	cmd.Env = append(cmd.Env, asSidecar+"="+m)
	Must(t, cmd.Start())
	Await(t, "the sandbox is at work", func() bool { return len(marked(m)) >= scattered })
	Must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	Await(t, "nothing of it is left", func() bool { return len(marked(m)) == 0 })
	if sweeper, ok := open(t).(backends.Sweeper); ok {
		if _, err := sweeper.Sweep(context.Background(), spec.Owner, func(string) bool { return false }); err != nil {
			t.Error(err)
		}
	}
	if left := groupsOf(t, cmd.Process.Pid); len(left) > 0 {
		t.Errorf("control groups are left: %v", left)
	}
	Await(t, "no disk of it is shown", func() bool { return len(disksIn(cmd.Env[0][len("TMPDIR="):])) == 0 })
}

// Silence is what the backend of [TestPausedSidecar] is made with.
const Silence = 500 * time.Millisecond

// TestPausedSidecar stops a process that holds a sandbox with everything in it, as by SIGSTOP, and wants what runs there to end,
// since others serve its sessions by now. What a sidecar that lives runs for longer goes on.
func TestPausedSidecar(t *testing.T, open func(testing.TB) backends.Backend, spec backends.Spec) {
	if m := os.Getenv(asSidecar); m != "" {
		beSidecar(t, open(t), spec, m)
		return
	}
	m := marker()
	cmd := again(t)
	cmd.Env = append(cmd.Env, asSidecar+"="+m, fmt.Sprintf("%s=%f", withSilence, 3*Silence.Seconds()))
	said, err := cmd.StdoutPipe()
	Must(t, err)
	Must(t, cmd.Start())
	Await(t, "the sandbox is at work", func() bool { return len(marked(m)) >= scattered })
	Must(t, cmd.Process.Signal(syscall.SIGSTOP))
	Await(t, "what ran there has ended", func() bool { return len(marked(m)) == 0 })
	Must(t, cmd.Process.Signal(syscall.SIGCONT))
	words, _ := io.ReadAll(said)
	if err := cmd.Wait(); err != nil || !bytes.Contains(words, []byte("longer than a silence: 0\n")) {
		t.Errorf("the sidecar that was paused: %v\n%s", err, words)
	}
}

// groupsOf lists the control groups that are named after a process.
func groupsOf(t *testing.T, pid int) (list []string) {
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && strings.HasPrefix(entry.Name(), "bailiff-") &&
			strings.Contains(entry.Name(), fmt.Sprintf("-%d-", pid)) {
			list = append(list, path)
		}
		return nil // what others remove meanwhile
	})
	Must(t, err)
	return list
}

// disksIn lists the files of a folder that are devices.
func disksIn(folder string) (list []string) {
	shown, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, path := range shown {
		if text, _ := os.ReadFile(path); strings.HasPrefix(string(text), folder) {
			list = append(list, strings.TrimSpace(string(text)))
		}
	}
	return list
}

// beSidecar runs a command for ever in a sandbox, once it has run for longer than a silence.
func beSidecar(t *testing.T, backend backends.Backend, spec backends.Spec, marker string) {
	sandbox, err := backend.Open(context.Background(), spec)
	Must(t, err)
	defer sandbox.Close(context.Background())
	if seconds := os.Getenv(withSilence); seconds != "" {
		exit, err := sandbox.Run(context.Background(), runner.Shell("sleep "+seconds), nil)
		Must(t, err)
		fmt.Println("longer than a silence:", exit.Code)
	}
	cmd := runner.Shell(scatter(marker) + "sleep " + marker)
	cmd.Timeout = time.Minute
	exit, err := sandbox.Run(context.Background(), cmd, func([]byte) {})
	fmt.Println(exit, err)
}
