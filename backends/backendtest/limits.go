package backendtest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// limitChecks attack the limits of a spec from inside. Each attack ends by
// itself: it makes no more than a fixed number of the things it floods with, so
// that a sandbox that fails harms no machine.
func limitChecks() []check {
	return []check{
		promise("A fork bomb is bounded", OnPlace, byFlood(forkBomb), boundedProcesses),
		promise("Commands that have no room wait for others", onRunner, crowd, boundedProcesses),
		promise("A flood of processes is bounded, whatever they are", OnKernel, byFlood(floods), boundedProcesses),
		promise("Memory is bounded", OnPlace, byFlood(memory), boundedMemory),
		promise("Memory is bounded, however it is used", OnKernel, byFlood(hogs), boundedMemory),
		promise("Processors are bounded", OnPlace, processors, boundedProcessors),
		promise("Commands have less weight than the sidecar", OnPlace, weight),
		promise("No more is written than the bound on the disk", OnPlace|OnUser, byFlood(fillers), isolated),
		promise("What it cannot do is refused by the name of the field", OnPlace|OnUser, unmet),
	}
}

// attacked opens a sandbox with limits of its own for an attack.
func (b box) attacked(t *testing.T, change func(*backends.Spec)) box {
	t.Helper()
	spec := b.spec
	change(&spec)
	return b.another(t, spec)
}

// goesOn wants the sandbox to serve the next command, or to say that it is at its
// end so that a new one does.
func (b box) goesOn(t *testing.T) {
	t.Helper()
	var out strings.Builder
	exit, err := b.Run(context.Background(), shell("echo fine"), func(p []byte) { out.Write(p) })
	if err == nil && exit.Code == 0 && out.String() == "fine\n" {
		return
	}
	select {
	case <-b.Done():
		b.another(t, b.spec).says("echo fine", "fine\n")
	case <-Late(t):
		t.Errorf("it neither serves another command nor is at its end: %q, %+v, %v", out.String(), exit, err)
	}
}

//go:embed attack.py
var attacks string

// attack is one of the attacks of attack.py.
func attack(name string, number int) backends.Command {
	cmd := python(fmt.Sprintf("%s\nattack(%q, %d)\n", attacks, name, number))
	cmd.Reap = true
	return cmd
}

func writableFolders(t *testing.T, b box) {
	b.prints("what is writable", attack("writable", 0), "/dev/shm\n/home\n/run\n/tmp\n/var/tmp\n/workspace\n")
}

func floods(t *testing.T, b box) {
	attacked := b.attacked(t, func(s *backends.Spec) { s.PIDs = 128 })
	beside := attacked.beside(t)
	for _, kind := range []string{"processes", "threads", "zombies", "daemons"} {
		t.Run(kind, func(t *testing.T) {
			if exit, out := attacked.run(attack(kind, 2*attacked.spec.PIDs)); out != "refused\n" {
				t.Errorf("of %d %s, where %d processes are allowed, none was refused: %s (%+v)", 2*attacked.spec.PIDs, kind,
					attacked.spec.PIDs, out, exit)
			}
			attacked.in(t).noneAlive()
			attacked.in(t).says("echo fine", "fine\n")
		})
	}
	beside()
}

// beside starts a command that goes on until the returned function ends it, which
// wants nothing to have happened to it.
func (b box) beside(t *testing.T) (end func()) {
	t.Helper()
	flag := "/tmp/flag" + marker()
	started, ended := make(chan struct{}), make(chan string, 1)
	go func() {
		var out strings.Builder
		exit, err := b.Run(context.Background(),
			shell(`exec 9<> <(:); wait; echo first; until [[ -e `+flag+` ]]; do read -t 0.02 -u 9; done; echo last`), func(p []byte) {
				if out.Len() == 0 {
					close(started)
				}
				out.Write(p)
			})
		ended <- fmt.Sprint(out.String(), exit.Code, err)
	}()
	<-started
	return func() {
		t.Helper()
		b.run(shell("touch " + flag))
		if got := <-ended; got != "first\nlast\n0 <nil>" {
			t.Errorf("the command beside it came to %q", got)
		}
		b.run(shell("rm " + flag))
	}
}

func hogs(t *testing.T, b box) {
	for _, kind := range []string{"one process", "many processes", "shared memory", "memory without a name", "files in memory",
		"empty files", "pipes", "sockets"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			attacked := b.attacked(t, func(s *backends.Spec) { s.MemoryMB, s.DiskMB = 96, 0 })
			var out strings.Builder
			exit, err := attacked.Run(context.Background(), attack(kind, 4*attacked.spec.MemoryMB), func(p []byte) { out.Write(p) })
			if strings.Contains(out.String(), "no end") || err == nil && !exit.Starved && !strings.Contains(out.String(), "refused") {
				t.Errorf("%d MB were to be had: %s (%+v, %v)", 4*attacked.spec.MemoryMB, out.String(), exit, err)
			}
			attacked.goesOn(t)
		})
	}
}

// processors keeps two processes busy where a half of a processor is to be had, until each has used its part of
// a second: on a busy machine that takes longer, and the share is the less.
func processors(t *testing.T, b box) {
	attacked := b.attacked(t, func(s *backends.Spec) { s.CPUs = 0.5 })
	_, out := attacked.run(python(busy))
	var used, passed float64
	if _, err := fmt.Sscan(out, &used, &passed); err != nil || used > 0.75*passed {
		t.Errorf("used were, of how many seconds: %s(%v), want at most half of them", out, err)
	}
}

const busy = `
import os, time
began = time.monotonic()
for _ in range(2):
    if os.fork() == 0:
        while time.process_time() < 0.3:
            pass
        os._exit(0)
os.wait()
os.wait()
used = os.times()
print(used.children_user + used.children_system, time.monotonic() - began)
`

// weight is read by a process that a command started in a session of its own. This process was
// told no niceness by the tests.
func weight(t *testing.T, b box) {
	b.says("setsid --wait bash -c 'read -ra stat </proc/self/stat; ((stat[18] > 0)); echo $?'", "0\n")
}

// unmet asks for all that a spec of the suite leaves out, since the backend cannot
// do it, and for what none can.
func unmet(t *testing.T, b box) {
	for _, c := range []struct {
		field  string
		tried  bool // by other cases
		change func(*backends.Spec)
	}{
		{"network", false, func(s *backends.Spec) { s.Network = "" }},
		{"network", false, func(s *backends.Spec) { s.Network = "strange" }},
		{"network", outlets(*b.cfg, b.backend) == "", func(s *backends.Spec) { s.Network = backends.Egress }},
		{"network", b.spec.Network == "none", func(s *backends.Spec) { s.Network = "none" }},
		{"cpus", b.spec.CPUs > 0, func(s *backends.Spec) { s.CPUs = 1 }},
		{"memory_mb", b.spec.MemoryMB > 0, func(s *backends.Spec) { s.MemoryMB = 512 }},
		{"pids", false, func(s *backends.Spec) { s.PIDs = 10 }},
		{"pids", b.spec.PIDs > 0, func(s *backends.Spec) { s.PIDs = 512 }},
		{"read_only", b.spec.ReadOnly, func(s *backends.Spec) { s.ReadOnly = true }},
		{"mounts", false, func(s *backends.Spec) { s.Mounts = []bailiff.Mount{{Source: "/etc", Target: "/mnt/etc"}} }},
	} {
		if c.tried {
			continue
		}
		spec := b.spec
		c.change(&spec)
		sandbox, err := b.backend.Open(t.Context(), spec)
		if !errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), c.field) {
			t.Errorf("%+v gives %v, want an error that wraps ErrUnsupported and names %s", spec, err, c.field)
		}
		if err == nil {
			_ = sandbox.Close(context.Background())
		}
	}
}

func fillers(t *testing.T, b box) {
	attacked := b.attacked(t, func(s *backends.Spec) { s.DiskMB, s.Workspace = 64, "" })
	attacked.fill(t)
	attacked.says("echo fine", "fine\n")
}

// fill writes wherever it can, and wants the sum to be within the bound.
func (b box) fill(t *testing.T) {
	t.Helper()
	var megabytes int
	exit, out := b.run(attack("files", 2*b.spec.DiskMB))
	if _, err := fmt.Sscanf(out, "%d MB", &megabytes); err != nil || megabytes > b.spec.DiskMB || megabytes < b.spec.DiskMB/2 {
		t.Errorf("it could write %s(%+v), want at most %d MB and at least half of that", out, exit, b.spec.DiskMB)
	}
}

// bombs are programs that start processes for ever, in a session that is none of their
// command's. They are tried in long runs alone: beside other tests they leave these, and
// the runner, too little of the machine.
var bombs = []struct{ name, code string }{
	{"stay", `
import os
while True:
    try: os.fork()
    except BlockingIOError: pass`},
	{"go at once", `
import os
while True:
    try:
        if os.fork() != 0: os._exit(0)
    except BlockingIOError: pass`},
	{"stay in groups of their own", `
import os
while True:
    try:
        if os.fork() == 0: os.setsid()
    except (BlockingIOError, PermissionError): pass`},
	{"go at once, each from a group of its own", `
import os
while True:
    try:
        if os.fork() != 0: os._exit(0)
        os.setsid()
    except (BlockingIOError, PermissionError): pass`},
}

func forkBomb(t *testing.T, b box) {
	cmd := shell("bomb() { bomb | bomb & }; bomb; sleep 100")
	cmd.Timeout = 500 * time.Millisecond
	for range Rounds(1, 3) {
		if exit, _ := b.run(cmd); !exit.TimedOut && exit.Code == 0 {
			t.Errorf("ended as %+v", exit)
		}
		b.noneAlive()
	}
	if _, out := b.run(argv("python3", "-c", fmt.Sprintf(`
import os, time
try:
    for _ in range(%d):
        if os.fork() == 0:
            time.sleep(1000)
except BlockingIOError:
    print("refused")`, b.spec.PIDs))); out != "refused\n" {
		t.Errorf("%d processes could be started: %s", b.spec.PIDs, out)
	}
	NoError(t, b.Kill(context.Background()))
	b.says("echo fine", "fine\n")
	for _, bomb := range bombs[:Rounds(0, len(bombs))] {
		b.run(argv("bash", "-c", `(setsid python3 -c "$1" >/dev/null 2>&1 &)`, "bash", bomb.code))
		Await(t, "the bomb to go off", func() bool {
			n, err := b.Alive(context.Background())
			return err == nil && n > 0
		})
		if err := b.Kill(context.Background()); err != nil {
			t.Errorf("a bomb of processes that %s: %v", bomb.name, err)
		}
		b.says("echo fine", "fine\n")
	}
}

func memory(t *testing.T, b box) {
	cmd := argv("python3", "-c", fmt.Sprintf("x = bytearray(%d << 20); print(len(x))", 2*b.spec.MemoryMB))
	if exit, out := b.run(cmd); exit.Code == 0 || !exit.Starved {
		t.Errorf("having used twice the memory, it ended as %+v: %s", exit, out)
	}
	child := shell(strings.Join([]string{"python3 -c '", cmd.Argv[2], "'; true"}, ""))
	if exit, out := b.run(child); exit.Code != 0 || !exit.Starved {
		t.Errorf("when a child of it had, it ended as %+v: %s", exit, out)
	}
	if exit, _ := b.run(shell("kill -9 $$")); exit.Code != 137 || exit.Starved {
		t.Errorf("killed otherwise, it ended as %+v", exit)
	}
	b.says("echo fine", "fine\n")
}

// crowd starts more commands than a bound on processes has room for.
func crowd(t *testing.T, b box) {
	b.spec.PIDs = 128
	many := b.another(t, b.spec)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			var out strings.Builder
			exit, err := many.Run(context.Background(), shell(fmt.Sprintf("(sleep 0.05 | cat) && echo %d", i)),
				func(p []byte) { out.Write(p) })
			if want := fmt.Sprintln(i); err != nil || exit.Code != 0 || out.String() != want {
				t.Errorf("command %d said %q and ended as %+v, %v", i, out.String(), exit, err)
			}
		})
	}
	all.Wait()
}
