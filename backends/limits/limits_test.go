package limits_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/cgroup"
	"github.com/bailiff-dev/bailiff/backends/limits"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

func TestALimitThatCannotBeSetIsTheErrorThatSaysHowToAcceptThat(t *testing.T) {
	spec := backends.Spec{PIDs: 1 << 30} // more than a kernel has
	if _, err := limits.Group("example", spec, nil); !errors.Is(err, backends.ErrUnsupported) ||
		!strings.HasSuffix(err.Error(), "backends.example.accept_missing_limits: [pids]") {
		t.Errorf("error is %v", err)
	}
	group, err := limits.Group("example", spec, []string{cgroup.PIDs})
	backendtest.Must(t, err)
	backendtest.NoError(t, group.Close(t.Context()))
}

func TestARunnerThatCannotBeStartedLeavesNothingInItsGroup(t *testing.T) {
	spec := backends.Spec{CPUs: 1, MemoryMB: 64, PIDs: 32}
	failed, other, events := errors.New("failed"), exec.Command("sleep", "1000"), ""
	opened, err := limits.Open(t.Context(), "example", spec, nil, func(group *cgroup.Group) (*runner.Child, error) {
		events = group.Events()
		backendtest.Must(t, other.Start())
		return nil, errors.Join(failed, group.Add(other.Process.Pid))
	})
	if os.Getuid() != 0 && errors.Is(err, backends.ErrUnsupported) {
		backendtest.Needs(t, "CONTROL GROUPS", err)
	}
	if opened != nil || !errors.Is(err, failed) {
		t.Errorf("opened is %v, %v", opened, err)
	}
	if err := other.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("what was in the group ended with %v", err)
	}
	if _, err := os.Stat(events); events == "" || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of the group is left %q, %v", events, err)
	}
}
