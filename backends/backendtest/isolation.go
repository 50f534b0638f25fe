package backendtest

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func isolationChecks() []check {
	return []check{
		promise("The host's files are out of sight", OnPlace|OnUser, hostFiles, isolated),
		promise("The host's processes are out of sight", OnPlace|OnUser, hostProcesses, isolated),
		promise("The sidecar's variables are out of reach", OnPlace|OnUser, sidecarsVariables, isolated),
		promise("Commands are nobody in particular", OnPlace|OnUser, unprivileged, isolated),
		promise("Killing everybody leaves the sandbox usable", OnPlace|OnUser, killEverybody, isolated),
		promise("Temporary files are the sandbox's own", OnPlace|OnUser, temporaryFiles, isolated),
		promise("Two sandboxes meet nowhere", OnPlace, apart, isolated),
		promise("Calls of the kernel that no command needs are refused", OnPlace|OnUser, calls, isolated),
		promise("There is no network", OnPlace|OnUser, noNetwork, isolated, networkless),
		promise("The root is read-only", OnPlace|OnUser, readOnly, isolated, readOnlyRoot),
		promise("Nothing is writable but the folders meant for it", OnPlace|OnUser, writableFolders, isolated, readOnlyRoot),
		promise("A command cannot look into the runner", OnPlace|OnUser, cannotTrace),
	}
}

func hostFiles(t *testing.T, b box) {
	path := hostFile(t, "of the host")
	b.says("cat "+path+" 2>/dev/null || echo out of sight", "out of sight\n")
	b.says("cat /etc/shadow 2>/dev/null || echo out of sight", "out of sight\n") // an image may have its own
	for _, path := range []string{"/root/.", "/run/docker.sock", "/var/run/docker.sock", "/proc/1/root/.", "/proc/1/cwd/.", "/dev/mem",
		"/dev/kmsg"} {
		b.says("cat "+path+" >/dev/null 2>&1 || ls "+path+" 2>/dev/null || echo out of sight", "out of sight\n")
	}
	name := planted(t)
	b.says(mountedBelowUsr+`find / "${mounted[@]}" '(' -path /proc -o -path /sys -o -path /usr ')' -prune -o '(' -name '*.sock' `+
		"-o -name "+name+" ')' -print 2>/dev/null; "+
		"ls -d /proc/[0-9]*/{cwd,root/{tmp,run,mnt,srv,opt}}/"+name+" 2>/dev/null; true", "")
}

// mountedBelowUsr are folders to look into besides the others: a system's own programs, which take longer to walk through than all the
// rest, are no host's files unless they are mounted there.
const mountedBelowUsr = `mounted=(); while read -r _ _ _ _ at _; do [[ $at != /usr/* ]] || mounted+=("$at"); done </proc/self/mountinfo; `

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
	other := b.another(t, b.spec)
	other.run(shell("setsid sleep " + m + " >/dev/null 2>&1 &"))
	Await(t, "the other sandbox's process is there", func() bool { return len(b.marked(m)) == 1 })
	b.says(`for f in /proc/[0-9]*/cmdline; do [[ $(tr '\0' ' ' 2>/dev/null <$f) == "sleep `+m+` " ]] && echo $f; done; true`, "")
	b.says("readlink /proc/1/exe >/dev/null || echo closed", "closed\n")
}

// sidecarsVariables looks for a variable of this process in those of all processes
// that a command can see, the technology's own among them.
func sidecarsVariables(t *testing.T, b box) {
	value := "value" + marker()
	t.Setenv("SIDECAR_ONLY", value)
	fresh := b.another(t, b.spec)
	_, out := fresh.run(python(fmt.Sprintf(readable, value)))
	if !strings.HasPrefix(out, "looked at ") || strings.Contains(out, "found") {
		t.Errorf("of the variables of processes it says %q", out)
	}
}

const readable = `
import glob
looked = 0
for name in glob.glob("/proc/[0-9]*/environ"):
    try:
        content = open(name, "rb").read()
    except OSError:
        continue
    looked += 1
    if b"%s" in content:
        print("found in", name)
print("looked at", looked) if looked else None
`

func unprivileged(t *testing.T, b box) {
	b.says("grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n")
	b.says("grep CapBnd /proc/self/status", "CapBnd:\t0000000000000000\n")
	b.says("[[ $(id -u) != 0 ]] && echo not root", "not root\n")
	if b.cfg.Remote {
		return
	}
	m := marker()
	b.run(shell("setsid sleep " + m + " >/dev/null 2>&1 &"))
	Await(t, "a process is there", func() bool { return len(b.marked(m)) == 1 })
	for _, pid := range b.marked(m) {
		if uid := status(t, pid, "Uid"); strings.Contains("\t"+uid+"\t", "\t0\t") {
			t.Errorf("its user is the host's root: %s", uid)
		}
	}
	NoError(t, b.Kill(context.Background()))
}

func killEverybody(t *testing.T, b box) {
	b.run(shell("kill -9 -1"))
	b.says("echo fine", "fine\n")
	b.run(shell("kill -STOP -1"))
	b.says("echo fine", "fine\n")
	NoError(t, b.Kill(context.Background()))
}

func temporaryFiles(t *testing.T, b box) {
	file := "mine" + marker()
	other := b.another(t, b.spec)
	for _, folder := range []string{"/tmp", "/workspace", "/home"} {
		b.says("echo here >"+folder+"/"+file+" && cat "+folder+"/"+file, "here\n")
		other.says("cat "+folder+"/"+file+" 2>/dev/null || echo none", "none\n")
		b.says("printf '#!/bin/sh\necho runs' >"+folder+"/x && chmod +x "+folder+"/x && "+folder+"/x && rm "+folder+"/x", "runs\n")
	}
	b.says("pwd", "/workspace\n")
}

func readOnly(t *testing.T, b box) {
	for _, path := range []string{"/x", "/usr/x", "/etc/x", "/usr/bin/x", "/proc/sys/kernel/hostname", "/.bailiff/x"} {
		b.says("echo x 2>/dev/null >"+path+" || echo read-only", "read-only\n")
	}
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
		"a message queue: EMFILE\n" + // of which the kernel counts the bytes by user
		"watching files: allowed\n" +
		"queues of processes: allowed\n" +
		"threads and processes: allowed\n"
	for _, name := range []string{"add_key", "bpf", "fsopen", "keyctl", "mount", "open_by_handle_at", "open_tree", "perf_event_open",
		"pivot_root", "request_key", "setns", "syslog", "umount2", "unshare", "userfaultfd"} {
		want += name + ": refused\n"
	}
	b.prints("the caller", python(caller), want)
}

//go:embed trace.py
var tracer string

// cannotTrace tries from inside, as the runner's own user, every way to look
// into it that works on a process of one's own.
func cannotTrace(t *testing.T, b box) {
	b.prints("what is open to a command", python(tracer), "own: mem environ fd maps ptrace\nsupervisor:\nrunner:\n")
}
