package backendtest

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

// limitChecks attack the limits of a spec from inside. Each attack ends by
// itself: it makes no more than a fixed number of whatever it floods with, so
// that a sandbox that fails harms no machine.
func limitChecks(spec backends.Spec) (checks []check) {
	if spec.ReadOnly {
		checks = append(checks, check{"Nothing is writable but the folders meant for it", writableFolders})
	}
	if spec.PIDs > 0 {
		checks = append(checks, check{"A flood of processes is bounded, whatever they are", floods})
	}
	if spec.MemoryMB > 0 {
		checks = append(checks, check{"Memory is bounded, however it is used", hogs})
	}
	return append(checks,
		check{"No more is written than the bound on the disk", fillers},
		check{"A named workspace keeps within the bound on the disk, or is refused", boundedWorkspace})
}

// attacked opens a sandbox with limits of its own for an attack.
func (b box) attacked(t *testing.T, change func(*backends.Spec)) box {
	t.Helper()
	spec := b.spec
	change(&spec)
	return open(t, b.backend, spec)
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
		open(t, b.backend, b.spec).says("echo fine", "fine\n")
	case <-time.After(10 * time.Second):
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
	exit, out := b.run(attack("writable", 0))
	if want := "/dev/shm\n/home\n/run\n/tmp\n/var/tmp\n/workspace\n"; out != want || exit.Code != 0 {
		t.Errorf("it ended with %d and these are writable:\n%swant:\n%s", exit.Code, out, want)
	}
}

func floods(t *testing.T, b box) {
	attacked := b.attacked(t, func(s *backends.Spec) { s.PIDs = 128 })
	beside := attacked.beside(t)
	for _, kind := range []string{"processes", "threads", "zombies", "daemons"} {
		t.Run(kind, func(t *testing.T) {
			if exit, out := attacked.run(attack(kind, 2*attacked.spec.PIDs)); out != "refused\n" {
				t.Errorf("of %d %s, where %d processes are allowed, none was refused: %s (%+v)", 2*attacked.spec.PIDs, kind, attacked.spec.PIDs, out, exit)
			}
			if n := attacked.alive(); n != 0 {
				t.Errorf("%d processes are left", n)
			}
			box{attacked.Sandbox, t, b.backend, attacked.spec}.says("echo fine", "fine\n")
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
		exit, err := b.Run(context.Background(), shell(`exec 9<> <(:); wait; echo first; until [[ -e `+flag+` ]]; do read -t 0.02 -u 9; done; echo last`), func(p []byte) {
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
	for _, kind := range []string{"one process", "many processes", "shared memory", "memory without a name", "files in memory", "empty files", "pipes", "sockets"} {
		t.Run(kind, func(t *testing.T) {
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

// boundedWorkspace is kept where the backend can bound files that outlive a sandbox.
func boundedWorkspace(t *testing.T, b box) {
	spec := b.spec
	spec.DiskMB, spec.Workspace = 64, "bounded"+marker()
	first, err := b.backend.Open(context.Background(), spec)
	if err != nil {
		if !strings.Contains(err.Error(), "disk_mb") {
			t.Errorf("it is refused with %v, want disk_mb to be named", err)
		}
		return
	}
	keeper := b.backend.(backends.Keeper)
	t.Cleanup(func() {
		if err := eventually(func() error { return keeper.RemoveWorkspace(context.Background(), spec.Owner, spec.Workspace) }); err != nil {
			t.Error(err)
		}
	})
	in := box{first, t, b.backend, spec}
	in.says("echo kept >file; ls -A", "file\n")
	in.fill(t)
	if err := first.Close(context.Background()); err != nil {
		t.Error(err)
	}
	again := open(t, b.backend, spec)
	again.says("cat file", "kept\n")
	again.fill(t)
	open(t, b.backend, spec).says("cat file; rm file", "kept\n")
	again.says("cat file 2>/dev/null || echo gone", "gone\n")
}
