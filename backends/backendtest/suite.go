package backendtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// Config says what to test.
type Config struct {
	// Open makes a backend whose sandboxes are on this machine's kernel.
	Open func(testing.TB) backends.Backend
	// Spec is one that the backend can meet. What it bounds (PIDs, MemoryMB) and
	// promises (ReadOnly) is tried. Fifty commands at once need 600 PIDs. A
	// sandbox needs bash, coreutils and python3.
	Spec backends.Spec
}

type check struct {
	promise string
	try     func(*testing.T, box)
}

// Run opens sandboxes and tries each promise in them.
func Run(t *testing.T, cfg Config) {
	backend := cfg.Open(t)
	if err := backend.Ready(context.Background()); err != nil {
		t.Fatalf("the backend is not ready: %v", err)
	}
	all := slices.Concat(commandChecks(), treeChecks(), backgroundChecks(), dialogueChecks(), interpreterChecks())
	if backend.Isolated() {
		all = append(append(all, isolationChecks(cfg.Spec)...), limitChecks(cfg.Spec)...)
	}
	if backend.Isolated() || os.Getuid() != 0 { // the host's root can trace anything
		all = append(all, check{"A command cannot look into the runner", cannotTrace})
	}
	shared := open(t, backend, cfg.Spec)
	for _, c := range all {
		t.Run(strings.ReplaceAll(c.promise, " ", "_"), func(t *testing.T) {
			c.try(t, box{shared.Sandbox, t, backend, cfg.Spec})
		})
	}
	t.Run("The_end_of_a_sandbox", func(t *testing.T) { testEnds(t, backend, cfg.Spec) })
}

// box is a sandbox in one test.
type box struct {
	backends.Sandbox
	t       testing.TB
	backend backends.Backend
	spec    backends.Spec
}

func open(t testing.TB, backend backends.Backend, spec backends.Spec) box {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	sandbox, err := backend.Open(ctx, spec)
	if err != nil {
		t.Fatalf("opening a sandbox: %v", err)
	}
	t.Cleanup(func() {
		if err := sandbox.Close(context.Background()); err != nil {
			t.Errorf("closing a sandbox: %v", err)
		}
	})
	return box{sandbox, t, backend, spec}
}

// shell is a command with bounds that do not matter to the test.
func shell(script string) backends.Command { return bounded(runner.Shell(script)) }

// python is a program that python3 reads from its standard input.
func python(program string) backends.Command {
	cmd := argv("python3", "-u", "-")
	cmd.Stdin = []byte(program)
	return cmd
}

func argv(words ...string) backends.Command { return bounded(backends.Command{Argv: words}) }

func bounded(cmd backends.Command) backends.Command {
	cmd.Timeout, cmd.HeadBytes = time.Minute, 1<<20
	return cmd
}

// run runs a command that the sandbox must not fail.
func (b box) run(cmd backends.Command) (backends.Exit, string) {
	b.t.Helper()
	var out strings.Builder
	exit, err := b.Run(context.Background(), cmd, func(p []byte) { out.Write(p) })
	if err != nil {
		b.t.Fatalf("running %.60q: %v", cmd.Argv, err)
	}
	return exit, out.String()
}

// says runs a script and compares its output and success.
func (b box) says(script, want string) {
	b.t.Helper()
	exit, out := b.run(shell(script))
	if out != want || exit.Code != 0 {
		b.t.Errorf("%s\nsaid %q and ended with %d, want %q", script, out, exit.Code, want)
	}
}

func (b box) alive() int {
	b.t.Helper()
	n, err := b.Alive(context.Background())
	if err != nil {
		b.t.Fatalf("counting what is alive: %v", err)
	}
	return n
}

// marker is a number that no other process on this machine has among its
// arguments: for "sleep", it is for ever.
func marker() string { return fmt.Sprintf("8%017d", rand.Int64N(1e17)) }

// marked lists the processes of this machine that have the marker among their
// arguments.
func marked(marker string) (list []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if strings.Contains(string(text), marker) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			list = append(list, pid)
		}
	}
	return list
}

// Await waits until a condition holds.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// status reads a field of a process of this machine.
func status(t testing.TB, pid int, field string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("process %d has no %s", pid, field)
	return ""
}

func parent(t testing.TB, pid int) int {
	t.Helper()
	ppid, err := strconv.Atoi(status(t, pid, "PPid"))
	if err != nil {
		t.Fatal(err)
	}
	return ppid
}
