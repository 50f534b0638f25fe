package subprocess_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/host/subprocess"
	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

// shell is a script that is run as another's program would be.
func shell(ctx context.Context, script string) *exec.Cmd {
	return subprocess.Command(ctx, "/bin/sh", "-c", script)
}

// begun runs a script whose first line on descriptor 3 is waited for. What is read after
// it ends when nobody has that descriptor any more.
func begun(t *testing.T, ctx context.Context, script string) (line string, rest io.Reader, ended chan error) {
	t.Helper()
	told, held, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { told.Close() })
	must(t, told.SetReadDeadline(awaittest.End(t)))
	ended = make(chan error, 1)
	go func() {
		defer held.Close()
		cmd := shell(ctx, script)
		cmd.ExtraFiles = []*os.File{held}
		_, err := subprocess.Output(ctx, cmd)
		ended <- err
	}()
	reader := bufio.NewReader(told)
	if line, err = reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return line, reader, ended
}

func TestWhatAProgramStartedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, rest, ended := begun(t, ctx, "sleep 1000 & echo started >&3; wait")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	if _, err := io.ReadAll(rest); err != nil {
		t.Errorf("what it started goes on: %v", err)
	}
}

func TestWhatAProgramLeavesBehindIsKilledWithItsOutputOpen(t *testing.T) {
	_, rest, ended := begun(t, t.Context(), "sleep 1000 & echo started >&3")
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if _, err := io.ReadAll(rest); err != nil {
		t.Errorf("what it left goes on: %v", err)
	}
}

func TestWhoeverHoldsAProgramsOutputOpenIsNotWaitedFor(t *testing.T) {
	for name, end := range map[string]error{"that ended": exec.ErrWaitDelay, "that was killed": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			script := "exec 4>&1; other=$(setsid sh -c 'echo $$; exec sleep 1000 >&4 2>&4' &); echo $other >&3"
			if end == context.Canceled {
				script += "; sleep 1000"
			}
			line, _, ended := begun(t, ctx, script)
			if end == context.Canceled {
				cancel()
			}
			if err := <-ended; !errors.Is(err, end) {
				t.Errorf("it ended with %v, want %v", err, end)
			}
			var other int
			if _, err := fmt.Sscan(line, &other); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(other, syscall.SIGKILL); err != nil {
				t.Errorf("it has not held the output: %v", err)
			}
		})
	}
}

// Once a program was waited for, its number may be another's: here it still is the group's
// of what it left, which stands for that other.
func TestAProgramThatWasWaitedForIsNotKilledByItsNumber(t *testing.T) {
	held, told := io.Pipe()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sleep 1000 >&- 2>&- & echo $!")
	cmd.Stdout = told
	p, err := subprocess.Start(cmd)
	must(t, err)
	var other int
	if _, err := fmt.Fscan(held, &other); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, held) }()
	must(t, p.Wait())
	if err := p.Kill(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("killing it ended with %v", err)
	}
	if group, err := syscall.Getpgid(other); err != nil || group != cmd.Process.Pid {
		t.Errorf("the other is in group %d, %v, want %d", group, err, cmd.Process.Pid)
	}
	if state := stateOf(t, other); state == "Z" || state == "X" {
		t.Errorf("the other was killed: it is in state %s", state)
	}
	if err := syscall.Kill(other, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// stateOf is the state of a process, as the kernel calls it.
func stateOf(t *testing.T, process int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	must(t, err)
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
}

func TestTheBeginningOfWhatAProgramSaysIsItsAnswer(t *testing.T) {
	t.Setenv("LEAKED", "yes")
	for script, want := range map[string]string{
		"echo one; echo two >&2; echo three":   "one\nthree\n",
		"echo $LEAKED; pwd; head -c 9":         "\n/\n",
		"yes | head -c 10000000; echo the end": strings.Repeat("y\n", 1<<19),
	} {
		if said, err := subprocess.Output(t.Context(), shell(t.Context(), script)); said != want || err != nil {
			t.Errorf("%s: it said %d bytes, %.20q, %v", script, len(said), said, err)
		}
	}
}

func TestTheEndOfAProgramsComplaintsIsInTheError(t *testing.T) {
	for script, want := range map[string]string{
		"echo fine; exit 3": "sh: exit status 3",
		"echo fine; echo it is >&2; echo late >&2; false": "sh: exit status 1: it is late",
		`printf 'a\033[31mred\r\n' >&2; kill $$`:          "sh: signal: terminated: a[31mred",
	} {
		if said, err := subprocess.Output(t.Context(), shell(t.Context(), script)); said != "" || err == nil || err.Error() != want {
			t.Errorf("%s: it said %q, %v, want %q", script, said, err, want)
		}
	}
	_, err := subprocess.Output(t.Context(), shell(t.Context(), "yes no | head -c 999999 >&2; echo the end >&2; false"))
	if err == nil || len(err.Error()) > 1000 || !strings.HasSuffix(err.Error(), "no no the end") {
		t.Errorf("of many words are left %v", err)
	}
	if _, err := subprocess.Output(t.Context(), subprocess.Command(t.Context(), "/nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a program the error is %v", err)
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
