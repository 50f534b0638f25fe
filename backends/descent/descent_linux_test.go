package descent

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// absent is the mark of a maker that is not there.
func absent(t *testing.T) string {
	t.Helper()
	mark, err := Mark()
	must(t, err)
	parts := strings.Split(mark, "-")
	return strings.Join([]string{parts[0], parts[1], "999999999", "1"}, "-")
}

// started is a process with a first argument and a variable of its own, which waits to be killed.
func started(t *testing.T, first string, variables ...string) (ended chan error) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	cmd.Args[0], cmd.Env = first, variables
	must(t, cmd.Start())
	ended = make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return ended
}

func TestASweepEndsMarkedProcessesWhoseMakerIsGoneAndNoOther(t *testing.T) {
	t.Parallel()
	mine, err := Mark()
	must(t, err)
	gone := absent(t)
	orphans := []chan error{started(t, gone), started(t, gone+"-more"), started(t, "sleep", "A=b", Variable+"="+gone)}
	others := []chan error{started(t, mine), started(t, "sleep"), started(t, "bailiff-x"), started(t, "sleep", Variable+"="+mine),
		started(t, "sleep", Variable+"X="+gone)}
	must(t, Sweep(t.Context()))
	for i, ended := range orphans {
		var signalled *exec.ExitError
		if err := <-ended; !errors.As(err, &signalled) || signalled.ExitCode() != -1 {
			t.Errorf("orphan %d ended with %v, want a kill", i, err)
		}
	}
	for i, ended := range others {
		select {
		case err := <-ended:
			t.Errorf("process %d has no maker that is gone, and ended with %v", i, err)
		default:
		}
	}
}

func TestAMarkWhoseMakerIsGoneIsAnOrphans(t *testing.T) {
	t.Parallel()
	mark, err := Mark()
	must(t, err)
	parts := strings.Split(mark+"-x", "-") // bailiff, namespace, number, start, more
	for _, c := range []struct {
		name   string
		change func(parts []string)
		orphan bool
	}{
		{"one's own", func([]string) {}, false},
		{"of an earlier process of the same number", func(p []string) { p[3] = "1" }, true},
		{"of a number that no process has", func(p []string) { p[2] = "999999999" }, true},
		{"of another namespace", func(p []string) { p[1], p[2] = "1", "999999999" }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := slices.Clone(parts)
			c.change(changed)
			if got := IsOrphan(strings.Join(changed, "-")); got != c.orphan {
				t.Errorf("orphan is %v, want %v", got, c.orphan)
			}
		})
	}
	for _, other := range []string{"bailiff-other", "bailiff", "", "bailiff-1-self-2", parts[1] + "-999999999-1"} {
		if IsOrphan(other) {
			t.Errorf("%q is no mark, and is an orphan's", other)
		}
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
