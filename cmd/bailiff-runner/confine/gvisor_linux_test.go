package confine

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// On another kernel the runner does without nothing: it ends.
func TestItIsToldThatTheKernelIsNotGVisors(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(backendtest.Runner(t), wire.GVisor)
	said, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(said), wire.NoGVisor) {
		t.Errorf("it says %q and ends with %v", said, err)
	}
}

func TestATriedRunnerAnswers(t *testing.T) {
	t.Parallel()
	if said, err := exec.Command(backendtest.Runner(t), wire.Answer).Output(); err != nil || string(said) != wire.Answered {
		t.Errorf("it says %q, %v", said, err)
	}
}
