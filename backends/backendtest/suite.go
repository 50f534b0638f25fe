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
	// Name names the file of results, as in results/docker.txt, and the column of the
	// table. Empty for a variant of a backend, whose results stand nowhere.
	Name string
	// Against says what the backend is tried against, in words for the table, such as
	// "a Docker engine" or "a stand-in for the cloud".
	Against string
	// Open makes a backend.
	Open func(testing.TB) backends.Backend
	// Spec is one that the backend can meet. What it bounds (CPUs, PIDs, MemoryMB) and
	// promises (ReadOnly, Network) is tried; what it leaves out must be refused. Fifty
	// commands at once need 600 PIDs. A sandbox needs bash, coreutils and python3.
	Spec backends.Spec
	// Tries says which promises are tried: those that rest on one of these grounds. The zero
	// value tries all, those that rest on the runner alone as well. So does every round in which
	// BAILIFF_TEST_ALL is set, or results are written.
	Tries Ground
	// Without says of cases, by their promise, why the backend cannot keep it.
	Without map[string]string
	// Break cuts a sandbox off in the middle of its work, as a fault would: it severs
	// the stream, or stops the machine. Nil kills the runner, a process of this machine.
	Break func(testing.TB, backends.Sandbox)
	// NoOutlet is why sandboxes cannot be given an outlet, so that the network "egress" is
	// refused; empty if they can.
	NoOutlet string
	// Remote says that sandboxes are on another kernel than this machine's, such as a
	// cloud's: processes are then looked for from inside, and what could be seen from
	// outside only is left out.
	Remote bool
}

// Ground is what the keeping of a promise rests on besides the runner, which is the same program in
// every backend.
type Ground uint8

const (
	// OnPlace is what the technology makes: namespaces, mounts, limits, what is left of them.
	OnPlace Ground = 1 << iota
	// OnUser are the rights of the user that makes the place, and of the one that commands run as.
	OnUser
	// OnStream is what carries bytes between the sidecar and the runner.
	OnStream
	// OnKernel is what the kernel makes of a bound that a place has set, for every kind of use. It is tried for each
	// way of setting bounds, such as control groups, and not for each backend that sets them so.
	OnKernel

	// OnBackend is all that a backend brings of its own.
	OnBackend = OnPlace | OnUser | OnStream
	// onRunner is no more than the runner.
	onRunner Ground = 0
)

// check is one case: a promise, what that rests on, what tries it, and when it can be tried.
type check struct {
	group, promise string
	ground         Ground
	try            func(*testing.T, box)
	conditions     []condition
}

// condition says why a case is beside the point for a backend; empty if it is not.
type condition func(Config, backends.Backend) string

func promise(what string, ground Ground, try func(*testing.T, box), conditions ...condition) check {
	return check{promise: what, ground: ground, try: try, conditions: conditions}
}

// all are the cases, in the order in which they are tried and shown.
func all() (list []check) {
	for _, g := range []struct {
		name   string
		checks []check
	}{
		{"Commands", commandChecks()},
		{"Processes", treeChecks()},
		{"Background commands", backgroundChecks()},
		{"Dialogues and interpreters", slices.Concat(dialogueChecks(), interpreterChecks())},
		{"Isolation", isolationChecks()},
		{"The outlet", outletChecks()},
		{"Limits", limitChecks()},
		{"Workspaces", workspaceChecks()},
		{"The end of a sandbox", endChecks()},
		{"Sidecars that come and go", sidecarChecks()},
	} {
		for _, c := range g.checks {
			c.group = g.name
			list = append(list, c)
		}
	}
	return list
}

// Run opens sandboxes and tries each promise in them that is to be tried.
func Run(t *testing.T, cfg Config) {
	backend := cfg.Open(t)
	if err := backend.Ready(context.Background()); err != nil {
		t.Fatalf("the backend is not ready: %v", err)
	}
	cases := all()
	cfg.checkNames(t, cases)
	shared := open(t, &cfg, backend, cfg.Spec)
	results := outcomes{}
	for _, c := range cfg.cases(cases) {
		t.Run(strings.ReplaceAll(c.promise, " ", "_"), func(t *testing.T) {
			if lack := c.lack(cfg, backend); lack != "" {
				results[c.promise] = lack
				t.Skip("left out: " + lack)
			}
			defer results.record(t, c.promise)
			c.try(t, shared.in(t))
		})
	}
	results.compare(t, cfg)
}

// cases are those of all that rest on what is to be tried.
func (c Config) cases(all []check) (list []check) {
	for _, one := range all {
		if c.Tries == 0 || one.ground&c.Tries != 0 || everything() || updating() {
			list = append(list, one)
		}
	}
	return list
}

// checkNames wants every case that is left out to be one.
func (c Config) checkNames(t testing.TB, cases []check) {
	t.Helper()
	for name, reason := range c.Without {
		if !slices.ContainsFunc(cases, func(c check) bool { return c.promise == name }) || reason == "" {
			t.Errorf("Config.Without names %q: want a case, and a reason", name)
		}
	}
}

// lack is why a backend cannot keep a promise, empty if it can.
func (c check) lack(cfg Config, backend backends.Backend) string {
	if reason := cfg.Without[c.promise]; reason != "" {
		return reason
	}
	for _, condition := range c.conditions {
		if reason := condition(cfg, backend); reason != "" {
			return reason
		}
	}
	return ""
}

// The conditions. What a spec does not ask for is refused, which is a case of its own.

func isolated(_ Config, b backends.Backend) string {
	return unless(b.Isolated(), "commands are not kept from the host")
}

func onThisKernel(c Config, _ backends.Backend) string {
	return unless(!c.Remote, "it shows on the kernel that the sandbox is on only")
}

var (
	networkless       = asking(func(s backends.Spec) bool { return s.Network == "none" }, "it cannot do without a network")
	readOnlyRoot      = asking(func(s backends.Spec) bool { return s.ReadOnly }, "its root cannot be made read-only")
	boundedProcessors = asking(func(s backends.Spec) bool { return s.CPUs > 0 }, "it cannot bound processors")
	boundedProcesses  = asking(func(s backends.Spec) bool { return s.PIDs > 0 }, "it cannot bound processes")
	boundedMemory     = asking(func(s backends.Spec) bool { return s.MemoryMB > 0 }, "it cannot bound memory")
)

func asking(met func(backends.Spec) bool, reason string) condition {
	return func(c Config, _ backends.Backend) string { return unless(met(c.Spec), reason) }
}

func unless(met bool, reason string) string {
	if met {
		return ""
	}
	return reason
}

// box is a sandbox in one test.
type box struct {
	backends.Sandbox
	t       testing.TB
	cfg     *Config
	backend backends.Backend
	spec    backends.Spec
}

func open(t testing.TB, cfg *Config, backend backends.Backend, spec backends.Spec) box {
	t.Helper()
	return box{Open(t, backend, spec), t, cfg, backend, spec}
}

// another opens one more sandbox of the same backend.
func (b box) another(t testing.TB, spec backends.Spec) box {
	t.Helper()
	return open(t, b.cfg, b.backend, spec)
}

// in is the same sandbox in another test.
func (b box) in(t testing.TB) box {
	b.t = t
	return b
}

// holding is another sandbox in the same test.
func (b box) holding(sandbox backends.Sandbox, spec backends.Spec) box {
	b.Sandbox, b.spec = sandbox, spec
	return b
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
	b.prints(script, shell(script), want)
}

// prints runs a command, which is described, and compares its output and success.
func (b box) prints(what string, cmd backends.Command, want string) {
	b.t.Helper()
	if exit, out := b.run(cmd); out != want || exit.Code != 0 {
		b.t.Errorf("%s\nsaid %q and ended with %d, want %q", what, out, exit.Code, want)
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

func (b box) noneAlive() {
	b.t.Helper()
	if n := b.alive(); n != 0 {
		b.t.Errorf("%d processes are counted, want none", n)
	}
}

// marker is a number that no other process on this machine has among its
// arguments: for "sleep", it is for ever.
func marker() string { return fmt.Sprintf("8%017d", rand.Int64N(1e17)) }

// marked lists the processes that have the marker among their arguments, as they
// are numbered by each process that can see them.
func (b box) marked(marker string) (list []int) {
	if !b.cfg.Remote {
		return marked(marker)
	}
	_, out := b.run(python(fmt.Sprintf(seen, marker)))
	for _, pid := range strings.Fields(out) {
		n, _ := strconv.Atoi(pid)
		list = append(list, n)
	}
	return list
}

// seen is what sees a marker from inside, having it on its standard input only.
const seen = `
import glob
for name in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        if b"%s" in open(name, "rb").read():
            print(name.split("/")[2])
    except OSError:
        pass
`

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

// status reads a field of a process of this machine.
func status(t testing.TB, pid int, field string) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	Must(t, err)
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
	Must(t, err)
	return ppid
}
