package backendtest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
)

func isolationChecks(spec backends.Spec) []check {
	checks := []check{
		{"The host's files are out of sight", hostFiles},
		{"The host's processes are out of sight", hostProcesses},
		{"Commands are nobody in particular", unprivileged},
		{"Killing everybody leaves the sandbox usable", killEverybody},
		{"Temporary files are the sandbox's own", temporaryFiles},
		{"Two sandboxes meet nowhere", apart},
		{"A named workspace outlives its sandbox", workspaces},
		{"Calls of the kernel that no command needs are refused", calls},
	}
	if spec.Network == "none" {
		checks = append(checks, check{"There is no network", noNetwork})
	}
	if spec.ReadOnly {
		checks = append(checks, check{"The root is read-only", readOnly})
	}
	if spec.PIDs > 0 {
		checks = append(checks, check{"A fork bomb is bounded", forkBomb}, check{"Commands that have no room wait for others", crowd})
	}
	if spec.MemoryMB > 0 {
		checks = append(checks, check{"Memory is bounded", memory})
	}
	return checks
}

func hostFiles(t *testing.T, b box) {
	path := hostFile(t, "of the host")
	b.says("cat "+path+" 2>/dev/null || echo out of sight", "out of sight\n")
	b.says("cat /etc/shadow 2>/dev/null || echo out of sight", "out of sight\n") // an image may have its own
	for _, path := range []string{"/root/.", "/run/docker.sock", "/var/run/docker.sock", "/proc/1/root/.", "/proc/1/cwd/.", "/dev/mem", "/dev/kmsg"} {
		b.says("cat "+path+" >/dev/null 2>&1 || ls "+path+" 2>/dev/null || echo out of sight", "out of sight\n")
	}
	b.says("find / -xdev -name '*.sock' 2>/dev/null; true", "")
	name := planted(t)
	b.says("find / -path /proc -prune -o -name "+name+" -print 2>/dev/null; ls -d /proc/[0-9]*/{cwd,root/{tmp,run,mnt,srv,opt}}/"+name+" 2>/dev/null; true", "")
}

// planted puts a file wherever a host has files of its own, and returns its name.
func planted(t *testing.T) (name string) {
	name = "planted" + marker()
	home, _ := os.UserHomeDir()
	for _, folder := range []string{os.TempDir(), "/tmp", "/var/tmp", "/run", "/mnt", "/srv", "/opt", home} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("of the host"), 0o644); err == nil {
			t.Cleanup(func() { os.Remove(path) })
		}
	}
	return name
}

func hostProcesses(t *testing.T, b box) {
	m := marker()
	other := open(t, b.backend, b.spec)
	other.run(shell("setsid sleep " + m + " >/dev/null 2>&1 &"))
	Await(t, "the other sandbox's process is there", func() bool { return len(marked(m)) == 1 })
	b.says(`for f in /proc/[0-9]*/cmdline; do [[ $(tr '\0' ' ' <$f 2>/dev/null) == "sleep `+m+` " ]] && echo $f; done; true`, "")
	b.says("readlink /proc/1/exe >/dev/null || echo closed", "closed\n")
}

func unprivileged(t *testing.T, b box) {
	b.says("grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n")
	b.says("grep CapBnd /proc/self/status", "CapBnd:\t0000000000000000\n")
	m := marker()
	b.run(shell("setsid sleep " + m + " >/dev/null 2>&1 &"))
	Await(t, "a process is there", func() bool { return len(marked(m)) == 1 })
	for _, pid := range marked(m) {
		if uid := status(t, pid, "Uid"); strings.Contains("\t"+uid+"\t", "\t0\t") {
			t.Errorf("its user is the host's root: %s", uid)
		}
	}
	b.says("[[ $(id -u) != 0 ]] && echo not root", "not root\n")
	if err := b.Kill(context.Background()); err != nil {
		t.Error(err)
	}
}

func killEverybody(t *testing.T, b box) {
	b.run(shell("kill -9 -1"))
	b.says("echo fine", "fine\n")
	b.run(shell("kill -STOP -1"))
	b.says("echo fine", "fine\n")
	if err := b.Kill(context.Background()); err != nil {
		t.Error(err)
	}
}

func temporaryFiles(t *testing.T, b box) {
	file := "mine" + marker()
	other := open(t, b.backend, b.spec)
	for _, folder := range []string{"/tmp", "/workspace", "/home"} {
		b.says("echo here >"+folder+"/"+file+" && cat "+folder+"/"+file, "here\n")
		other.says("cat "+folder+"/"+file+" 2>/dev/null || echo none", "none\n")
		b.says("printf '#!/bin/sh\necho runs' >"+folder+"/x && chmod +x "+folder+"/x && "+folder+"/x && rm "+folder+"/x", "runs\n")
	}
	b.says("pwd", "/workspace\n")
}

func workspaces(t *testing.T, b box) {
	spec := b.spec
	spec.Workspace, spec.DiskMB = "../w/"+marker(), 0
	first := open(t, b.backend, spec)
	first.says("echo kept >file; mkdir folder; chmod 0 folder; cat file", "kept\n")
	if err := first.Close(context.Background()); err != nil {
		t.Error(err)
	}
	again := open(t, b.backend, spec)
	again.says("cat file", "kept\n")
	other := spec
	other.Workspace += "-other"
	neighbour := open(t, b.backend, other)
	neighbour.says("cat file 2>/dev/null || echo none", "none\n")
	for _, in := range []box{again, neighbour} { // a workspace in use need not be removable
		if err := in.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	keeper, ok := b.backend.(backends.Keeper)
	if !ok {
		t.Fatal("the backend cannot remove workspaces")
	}
	theirs := func() int {
		names, err := keeper.Workspaces(context.Background(), spec.Owner)
		if err != nil {
			t.Error(err)
		}
		others, _ := keeper.Workspaces(context.Background(), spec.Owner+"-other")
		return count(names, spec.Workspace) + count(names, other.Workspace) + len(others)
	}
	if n := theirs(); n != 2 {
		t.Errorf("%d workspaces are listed, want the two that are kept", n)
	}
	for range 2 {
		for _, workspace := range []string{spec.Workspace, other.Workspace} {
			if err := eventually(func() error { return keeper.RemoveWorkspace(context.Background(), spec.Owner, workspace) }); err != nil {
				t.Error(err)
			}
		}
	}
	if n := theirs(); n != 0 {
		t.Errorf("%d workspaces are listed that are removed", n)
	}
	t.Cleanup(func() { _ = keeper.RemoveWorkspace(context.Background(), spec.Owner, spec.Workspace) })
	open(t, b.backend, spec).says("cat file 2>/dev/null || echo none", "none\n")
}

func count(names []string, name string) (n int) {
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

// eventually repeats what a sandbox that is just going away may hinder.
func eventually(attempt func() error) (err error) {
	for range 200 {
		if err = attempt(); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

func readOnly(t *testing.T, b box) {
	for _, path := range []string{"/x", "/usr/x", "/etc/x", "/usr/bin/x", "/proc/sys/kernel/hostname", "/.bailiff/x"} {
		b.says("echo x 2>/dev/null >"+path+" || echo read-only", "read-only\n")
	}
}

func forkBomb(t *testing.T, b box) {
	cmd := shell("bomb() { bomb | bomb & }; bomb; sleep 100")
	cmd.Timeout = time.Second
	for range 3 {
		if exit, _ := b.run(cmd); !exit.TimedOut && exit.Code == 0 {
			t.Errorf("ended as %+v", exit)
		}
		if n := b.alive(); n != 0 {
			t.Errorf("%d processes are left", n)
		}
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
	if err := b.Kill(context.Background()); err != nil {
		t.Error(err)
	}
	b.says("echo fine", "fine\n")
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
	many := open(t, b.backend, b.spec)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			var out strings.Builder
			exit, err := many.Run(context.Background(), shell(fmt.Sprintf("(sleep 0.05 | cat) && echo %d", i)), func(p []byte) { out.Write(p) })
			if want := fmt.Sprintln(i); err != nil || exit.Code != 0 || out.String() != want {
				t.Errorf("command %d said %q and ended as %+v, %v", i, out.String(), exit, err)
			}
		})
	}
	all.Wait()
}

//go:embed calls.py
var caller string

// calls tries calls of the kernel that reach beyond a sandbox, or that break the
// runner, and some that must go on to work.
func calls(t *testing.T, b box) {
	want := "" +
		"socket 1 2 10 16\n" + // unix, inet, inet6, netlink
		"socketpair 1\n" +
		"another process's limits: refused\n" +
		"one's own limits: allowed\n" +
		"foreign calls: refused\n" +
		"clone: refused\n" +
		"clone3: unknown\n" +
		"io_uring_setup: unknown\n" +
		"TIOCSTI: refused\n" +
		"threads and processes: allowed\n"
	for _, name := range []string{"add_key", "bpf", "fsopen", "keyctl", "mount", "open_by_handle_at", "open_tree", "perf_event_open",
		"pivot_root", "request_key", "setns", "syslog", "umount2", "unshare", "userfaultfd"} {
		want += name + ": refused\n"
	}
	if exit, out := b.run(python(caller)); out != want || exit.Code != 0 {
		t.Errorf("it ended with %d and said\n%swant\n%s", exit.Code, out, want)
	}
}

//go:embed trace.py
var tracer string

// cannotTrace tries from inside, as the runner's own user, every way to look
// into it that works on a process of one's own.
func cannotTrace(t *testing.T, b box) {
	exit, out := b.run(python(tracer))
	if want := "own: mem environ fd maps ptrace\nsupervisor:\nrunner:\n"; out != want || exit.Code != 0 {
		t.Errorf("open to a command were:\n%swant:\n%s", out, want)
	}
}
