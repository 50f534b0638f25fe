package local_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// TestASessionOfACommandHasLessWeight needs a kernel that weighs sessions of processes, which it tells in a file. The
// kernel lets others than root say it ten times a second only.
func TestASessionOfACommandHasLessWeight(t *testing.T) {
	here, fault := os.ReadFile("/proc/self/autogroup")
	if fault == nil && (len(here) == 0 || os.Getuid() != 0) {
		fault = errors.New("its file is empty, or this is not root")
	}
	backendtest.Needs(t, "A KERNEL THAT WEIGHS SESSIONS", fault)
	command := runner.Shell("until read -r _ _ nice </proc/self/autogroup && ((nice == 5)); do read -t 0.01 <> <(:); done")
	command.Timeout = 10 * time.Second // it is said as the command starts
	exit, err := backendtest.Opened(t, open(t), spec).Run(context.Background(), command, func([]byte) {})
	if err != nil || exit.Code != 0 || exit.TimedOut {
		t.Errorf("the session of a command was never of nice 5: %+v, %v", exit, err)
	}
}
