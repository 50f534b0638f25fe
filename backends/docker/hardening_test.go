package docker

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

func TestWhatACommandFindsInside(t *testing.T) {
	sb := backendtest.Open(t, testBackend(t), testSpec(t))
	for _, c := range []struct{ name, script, want string }{
		{"it is nobody in particular", "id -u; id -g; id -G", "10000\n10000\n10000\n"},
		{"it has no capability and can get none", "grep -E '^Cap(Prm|Eff|Bnd|Amb)' /proc/self/status | cut -f2 | sort -u",
			"0000000000000000\n"},
		{"it gains nothing from a setuid program", "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1\n"},
		{"its system calls are filtered", "grep Seccomp: /proc/self/status", "Seccomp:\t2\n"},
		{"no network but the loopback", "ls /sys/class/net", "lo\n"},
		{"the root is read-only", "touch /x /etc/x /usr/x 2>&1 | grep -c 'Read-only file system'", "3\n"},
		{"every folder meant for writing is writable",
			"for d in /tmp /var/tmp /run /home /workspace; do touch $d/x && echo ok; done | uniq -c | tr -d ' '", "5ok\n"},
		{"programs may be built and run", "for d in /tmp /workspace; do printf '#!/bin/sh\\necho ran' >$d/p; chmod +x $d/p; $d/p; done",
			"ran\nran\n"},
		{"nothing can be mounted", "mount -t tmpfs none /mnt 2>/dev/null || echo refused", "refused\n"},
		{"no user namespace can be made", "unshare -U true 2>/dev/null || echo refused", "refused\n"},
		{"no device of the host", "ls /dev | grep -cE '^(sd|vd|nvme|dm|kmsg|mem)'", "0\n"},
		{"no engine's socket", "find / -xdev -type s 2>/dev/null | wc -l", "0\n"},
		{"the host's name is not told", "cat /proc/sys/kernel/hostname", "sandbox\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			backendtest.Says(t, sb, c.script, c.want)
		})
	}
}

func TestNobodyInsideCanReachTheRunner(t *testing.T) {
	sb := backendtest.Open(t, testBackend(t), testSpec(t))
	// The runner is process 1, its supervisors are the same program started anew.
	const runners = `for p in /proc/[0-9]*; do case "$(cat $p/comm 2>/dev/null)" in runner|exe) echo $p;; esac; done`
	found := strings.Fields(output(t, sb, runners))
	if len(found) < 2 || found[0] != "/proc/1" {
		t.Fatalf("runner and supervisors are %v of these: %s", found, output(t, sb, "grep . /proc/[0-9]*/comm"))
	}
	for _, c := range []struct{ name, attempt string }{
		{"reading its variables", "cat $p/environ"},
		{"reading its memory", "head -c 1 $p/mem"},
		{"listing its open files", "ls $p/fd/"},
		{"writing to its stream", "echo forged >$p/fd/1"},
		{"reading its stream", "head -c 1 $p/fd/0"},
		{"finding its program", "readlink $p/exe"},
		{"reading its program", "head -c 1 /.bailiff/runner"},
		{"replacing its program", "cp /bin/true /.bailiff/runner"},
		{"tracing it", `python3 -c "import ctypes,os,sys; sys.exit(ctypes.CDLL(None).ptrace(16, ${p#/proc/}, 0, 0) != 0)"`},
		{"reading its memory by system call", `python3 -c "
import ctypes, sys
class iovec(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('len', ctypes.c_size_t)]
buf = ctypes.create_string_buffer(1)
local, remote = iovec(ctypes.addressof(buf), 1), iovec(0x400000, 1)
sys.exit(ctypes.CDLL(None).process_vm_readv(${p#/proc/}, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) != 1)"`},
		{"taking a copy of its open files", `python3 -c "
import ctypes, sys
fd = ctypes.CDLL(None).syscall(434, ${p#/proc/}, 0)
sys.exit(ctypes.CDLL(None).syscall(438, fd, 1, 0) < 0)"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := "for p in $(" + runners + "); do { " + c.attempt + "; } >/dev/null 2>&1 && echo reached $p; done; true"
			backendtest.Says(t, sb, script, "")
		})
	}
}

func TestTheEngineIsToldNoVariable(t *testing.T) {
	b := testBackend(t)
	sb := backendtest.Open(t, b, testSpec(t))
	const value = "correct-horse-battery-staple"
	command := shell(`test "$TOKEN" = ` + value + ` && echo has it`)
	command.Env = map[string]bailiff.Secret{"TOKEN": bailiff.NewSecret(value)}
	if got := run(t, sb, command); got != "has it\n" {
		t.Fatalf("the command printed %q", got)
	}
	_, raw, err := b.engine.ContainerInspectWithRaw(t.Context(), sb.ID(), true)
	backendtest.Must(t, err)
	if bytes.Contains(raw, []byte(value)) || bytes.Contains(raw, []byte("TOKEN")) {
		t.Errorf("the engine knows the variable: %s", raw)
	}
}

func TestWhatTheEngineIsTold(t *testing.T) {
	b := testBackend(t)
	spec := testSpec(t)
	spec.Workspace, spec.Expires = "w", time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	got, err := b.engine.ContainerInspect(t.Context(), backendtest.Open(t, b, spec).ID())
	backendtest.Must(t, err)
	for what, ok := range map[string]bool{
		"a name that tells whose it is": strings.HasPrefix(got.Name, "/bailiff-"),
		"the owner as a label":          got.Config.Labels[labelOwner] == spec.Owner,
		"the session as a digest":       got.Config.Labels[labelSession] == hashed(spec.Session),
		"the spec as a digest":          got.Config.Labels[labelSpec] == specHash(spec),
		"the expiry":                    got.Config.Labels[labelExpires] == "2030-01-02T03:04:05Z",
		"all capabilities dropped":      strings.Join(got.HostConfig.CapDrop, " ") == "ALL" && len(got.HostConfig.CapAdd) == 0,
		"no way to gain any":            strings.Join(got.HostConfig.SecurityOpt, " ") == "no-new-privileges",
		"not privileged":                !got.HostConfig.Privileged,
		"memory without swap":           got.HostConfig.Memory == 256*mib && got.HostConfig.MemorySwap == 256*mib,
		"one processor":                 got.HostConfig.NanoCPUs == 1e9,
		"a bound on processes":          *got.HostConfig.PidsLimit == 128,
		"a read-only root":              got.HostConfig.ReadonlyRootfs,
		"no network":                    got.HostConfig.NetworkMode == "none",
		"no log":                        got.HostConfig.LogConfig.Type == "none",
		"private namespaces": got.HostConfig.IpcMode == "private" && got.HostConfig.PidMode == "" &&
			got.HostConfig.UTSMode == "",
		"an unprivileged user": got.Config.User == "10000:10000",
		"the runner as the only program": strings.Join(got.Config.Entrypoint, " ") == runnerPath &&
			strings.Join(got.Config.Cmd, " ") == runner.Confine,
		"no grace when it is stopped":     got.Config.StopSignal == "SIGKILL",
		"no health check of the image's":  strings.Join(got.Config.Healthcheck.Test, " ") == "NONE",
		"volumes for runner and files":    len(got.Mounts) == 2,
		"a runner nobody inside can edit": !mounted(got, "/"+runnerFolder).RW,
	} {
		if !ok {
			t.Errorf("the engine was not told %s", what)
		}
	}
	if raw := strings.Join([]string{got.Name, got.Config.Labels[labelSession]}, " "); strings.Contains(raw, "42") &&
		strings.Contains(raw, "telegram") {
		t.Errorf("the session is told in the clear: %s", raw)
	}
}

func mounted(c container.InspectResponse, target string) container.MountPoint {
	for _, m := range c.Mounts {
		if m.Destination == target {
			return m
		}
	}
	return container.MountPoint{RW: true}
}

func shell(script string) backends.Command {
	command := runner.Shell(script)
	command.Timeout, command.HeadBytes = time.Minute, 1<<16
	return command
}

func output(t testing.TB, sb backends.Sandbox, script string) string {
	t.Helper()
	return run(t, sb, shell(script))
}

func run(t testing.TB, sb backends.Sandbox, command backends.Command) string {
	t.Helper()
	var got strings.Builder
	exit, err := sb.Run(t.Context(), command, func(p []byte) { got.Write(p) })
	backendtest.Must(t, err)
	if exit.TimedOut || exit.Interrupted {
		t.Fatalf("the command was killed: %+v", exit)
	}
	return got.String()
}
