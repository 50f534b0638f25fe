package local_test

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// TestASessionOfACommandHasLessWeight needs a kernel that weighs sessions of processes, which nothing can be installed
// for: it tells so in a file, of sessions that were begun since it started. It lets others than root say it ten times
// a second only.
func TestASessionOfACommandHasLessWeight(t *testing.T) {
	begun := exec.Command("cat", "/proc/self/autogroup")
	begun.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if told, err := begun.Output(); err != nil || len(told) == 0 || os.Getuid() != 0 {
		t.Skipf("this kernel weighs no sessions, or this is not root: %q, %v", told, err)
	}
	command := runner.Shell("until read -r _ _ nice </proc/self/autogroup && ((nice == 5)); do sleep 0.01; done")
	command.Timeout = 10 * time.Second // it is said as the command starts
	exit, err := backendtest.Open(t, open(t), spec).Run(context.Background(), command, func([]byte) {})
	if err != nil || exit.Code != 0 || exit.TimedOut {
		t.Errorf("the session of a command was never of nice 5: %+v, %v", exit, err)
	}
}
