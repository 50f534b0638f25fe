// Package examples_test runs the examples as their readers do: in front of a
// sidecar, and in front of broken ones.
package examples_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// asking are the command lines of the two examples that ask one command, up to
// the address, with a deadline in seconds.
func asking(t *testing.T, seconds string) map[string][]string {
	t.Helper()
	python, err := exec.LookPath("python3")
	backendtest.Needs(t, "PYTHON", err)
	ask := filepath.Join(t.TempDir(), "ask")
	if printed, err := exec.Command("go", "build", "-o", ask, "./go/ask").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, printed)
	}
	return map[string][]string{
		"Python": {python, "-B", "python/ask.py", "--seconds", seconds, "--listen"},
		"Go":     {ask, "-deadline", seconds + "s", "-listen"},
	}
}

// printed is what a command line gives that may fail.
func printed(t *testing.T, line ...string) (output string, status int) {
	t.Helper()
	command := exec.Command(line[0], line[1:]...)
	out, err := command.Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if failed != nil && len(failed.Stderr) == 0 && command.ProcessState.ExitCode() >= 75 {
		t.Errorf("%v failed without a word", line)
	}
	return string(out), command.ProcessState.ExitCode()
}

func TestTheExamplesAskASidecar(t *testing.T) {
	s := apptest.Serve(t)
	for name, line := range asking(t, "60") {
		for command, want := range map[string]struct {
			output string
			status int
		}{
			"echo hello":         {"hello\n", 0},
			"printf 'a'; exit 3": {"a", 3},
			"rm -rf /":           {"", 126},
		} {
			t.Run(name+" has "+command+" run", func(t *testing.T) {
				if output, status := printed(t, append(line, s.Agent, command)...); output != want.output || status != want.status {
					t.Errorf("it printed %q and exited with %d, want %+v", output, status, want)
				}
			})
		}
	}
}

func TestAnAddressThatIsNoneIsSaidInOneLine(t *testing.T) {
	for name, line := range asking(t, "60") {
		for _, address := range []string{"/run/bailiff/agent.sock", "http://127.0.0.1:8641", "tcp://127.0.0.1:99999", "unix://"} {
			t.Run(name+" asks at "+address, func(t *testing.T) {
				command := exec.Command(line[0], append(line[1:], address, "echo hello")...)
				var stderr bytes.Buffer
				command.Stderr = &stderr
				if err := command.Run(); command.ProcessState.ExitCode() != 125 || strings.Count(stderr.String(), "\n") != 1 {
					t.Errorf("it ends with %v and says %q", err, stderr.String())
				}
			})
		}
	}
}

func TestTheExamplesRunNothingInFrontOfABrokenSidecar(t *testing.T) {
	for name, line := range asking(t, "0.3") {
		for _, broken := range apptest.BrokenSidecars() {
			t.Run(name+" asks one that "+broken.Name, func(t *testing.T) {
				marker := filepath.Join(t.TempDir(), "ran")
				if output, status := printed(t, append(line, broken.Open(t, "unix"), "touch "+marker)...); output != "" || status != 125 {
					t.Errorf("it printed %q and exited with %d", output, status)
				}
				if _, err := os.Stat(marker); err == nil {
					t.Error("the command ran")
				}
			})
		}
	}
}
