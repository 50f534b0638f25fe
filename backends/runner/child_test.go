package runner_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// launched has a script started as a runner, for which the time is over once it has said
// a line on descriptor 3. It waits until nobody has that descriptor any more.
func launched(t *testing.T, script string) error {
	t.Helper()
	told, held, err := os.Pipe()
	backendtest.Must(t, err)
	defer told.Close()
	backendtest.Must(t, told.SetReadDeadline(awaittest.End(t)))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		defer held.Close()
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.ExtraFiles = []*os.File{held}
		_, err := runner.Launch(ctx, cmd, runner.Place{}, func() error { return nil }, func() error { return nil })
		ended <- err
	}()
	lines := bufio.NewReader(told)
	if _, err := lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	fault := <-ended
	if _, err := io.ReadAll(lines); err != nil {
		t.Errorf("what it has started goes on: %v", err)
	}
	return fault
}

func TestWhatDoesNotAnswerAsARunnerIsKilledWithWhatItHasStarted(t *testing.T) {
	if err := launched(t, "sleep 1000 & echo started >&3; wait"); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestWhatARunnerComplainsOfIsOneHarmlessLine(t *testing.T) {
	err := launched(t, `printf 'no\033[2J\nroom' >&2; echo said >&3; sleep 1000`)
	if err == nil || !strings.HasSuffix(err.Error(), "(no[2J room)") {
		t.Errorf("the error is %v", err)
	}
}
