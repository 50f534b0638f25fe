package processes

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// What a shell started is below it, and goes with it, unless it is spared with all that is below it.
func TestWhatIsBelowAProcessIsKilledAndWhatIsSparedStays(t *testing.T) {
	t.Parallel()
	backendtest.Starts(t)
	shell := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $!; sleep 1000 & wait")
	out, err := shell.StdoutPipe()
	backendtest.Must(t, err)
	backendtest.Must(t, shell.Start())
	t.Cleanup(func() {
		_ = shell.Process.Kill()
		_ = shell.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	backendtest.Must(t, err)
	spared, err := strconv.Atoi(strings.TrimSpace(line))
	backendtest.Must(t, err)
	root, others := shell.Process.Pid, []int{}
	backendtest.Await(t, "two processes below it", func() bool {
		others = Below(root, func(pid int) bool { return pid == spared })
		return len(others) == 1 && slices.Contains(Below(root, None), spared)
	})
	if parent, known := ParentOf(spared); !known || parent != root {
		t.Errorf("it was started by %d, %v; want %d", parent, known, root)
	}
	if n := Kill(root, func(pid int) bool { return pid == spared }); n != 1 {
		t.Errorf("%d were killed, want the one that is not spared", n)
	}
	backendtest.Await(t, "its end", func() bool { return !slices.Contains(Below(root, None), others[0]) })
	if !slices.Contains(Below(root, None), spared) {
		t.Error("the spared one is gone too")
	}
	if n := Kill(os.Getpid(), func(pid int) bool { return pid != root && pid != spared }); n == 0 {
		t.Error("nothing was killed")
	}
}
