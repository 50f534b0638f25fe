package docker

import (
	"errors"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// forks makes processes until one is refused, and ends them.
const forks = `
import os, signal
made = []
try:
    while len(made) < 200:
        child = os.fork()
        if child == 0: signal.pause()
        made.append(child)
except BlockingIOError:
    print("refused before the 128th" if len(made) < 128 else len(made))
for child in made: os.kill(child, signal.SIGKILL)
`

func TestLimitsHold(t *testing.T) {
	backendtest.Alone(t)
	b := testBackend(t)
	spec := testSpec(t)
	spec.PIDs, spec.DiskMB = 128, 64
	sb := backendtest.Open(t, b, spec)
	for _, c := range []struct{ name, script, want string }{
		{"memory", "exec 2>/dev/null; python3 -c 'bytearray(1<<30)'; echo $?", "137\n"},
		{"processes", "python3 -c '" + forks + "'", "refused before the 128th\n"},
		{"the workspace", "head -c 100M /dev/zero 2>&1 >/workspace/big; stat -c %s /workspace/big; rm /workspace/big",
			"head: error writing 'standard output': No space left on device\n33554432\n"},
		{"temporary files", "head -c 100M /dev/zero >/tmp/big 2>/dev/null; stat -c %s /tmp/big; rm /tmp/big", "12582912\n"},
		{"weight", "cd /sys/fs/cgroup; if [[ -e cpu.weight ]]; then (($(<cpu.weight)<100)); else (($(<cpu/cpu.shares)<1024)); fi; echo $?",
			"0\n"},
		{"shared memory", "head -c 100M /dev/zero >/dev/shm/big 2>/dev/null; stat -c %s /dev/shm/big; rm /dev/shm/big", "2097152\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := shell(c.script)
			command.Reap = true
			if got := run(t, sb, command); got != c.want {
				t.Errorf("%s\nprints %q, want %q", c.script, got, c.want)
			}
		})
	}
}

// The engine answers truthfully here but for one field, as one would that cannot do it.
func TestALimitThatTheEngineDropsIsNamed(t *testing.T) {
	for _, c := range []struct{ name, path, told, says string }{
		{cpus, "/json", `"NanoCpus":1000000000`, `"NanoCpus":0`},
		{memoryMB, "/json", `"Memory":268435456`, `"Memory":0`},
		{swap, "/json", `"MemorySwap":268435456`, `"MemorySwap":-1`},
		{pids, "/json", `"PidsLimit":128`, `"PidsLimit":null`},
		{seccomp, "/info", `"name=seccomp,profile=default"`, `"name=seccomp,profile=unconfined"`},
		{seccomp, "/info", `"name=seccomp,profile=default"`, `"name=cgroupns"`},
		{"read_only", "/json", `"ReadonlyRootfs":true`, `"ReadonlyRootfs":false`},
		{"network", "/json", `"NetworkMode":"none"`, `"NetworkMode":"bridge"`},
		{"capabilities", "/json", `"CapDrop":["ALL"]`, `"CapDrop":null`},
		{"no-new-privileges", "/json", `"SecurityOpt":["no-new-privileges"]`, `"SecurityOpt":null`},
	} {
		t.Run(c.name, func(t *testing.T) {
			host := editedEngine(t, c.path, c.told, c.says)
			b := testBackend(t, func(cfg *Config) { cfg.Host = host })
			err := opening(t, b, testSpec(t))
			if !errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), c.name) {
				t.Fatalf("Open says %v, want ErrUnsupported and %q", err, c.name)
			}
			if acceptableName(c.name) {
				b.cfg.AcceptMissing = []string{c.name}
				if err := opening(t, b, testSpec(t)); err != nil {
					t.Errorf("Open says %v though the lack of %s is accepted", err, c.name)
				}
			}
		})
	}
}

func acceptableName(name string) bool {
	return (Config{Runner: "x", AcceptMissing: []string{name}}).check() == nil
}

// Most engines cannot bound a volume or a container's root; one that can is as good.
func TestABoundOnTheDiskIsKeptOrRefused(t *testing.T) {
	onVolume, onRoot := testSpec(t), testSpec(t)
	onVolume.DiskMB, onVolume.Workspace = 64, "w"
	onRoot.DiskMB, onRoot.ReadOnly = 64, false
	for name, spec := range map[string]backends.Spec{"of a named workspace": onVolume, "of a writable root": onRoot} {
		t.Run(name, func(t *testing.T) {
			b := testBackend(t)
			spec.Owner = owner(t)
			err := opening(t, b, spec)
			if err != nil && (!errors.Is(err, backends.ErrUnsupported) || !strings.Contains(err.Error(), "disk_mb")) {
				t.Errorf("Open says %v, want ErrUnsupported and disk_mb", err)
			}
			b.cfg.AcceptMissing = []string{diskMB}
			if err := opening(t, b, spec); err != nil {
				t.Errorf("Open says %v though the lack is accepted", err)
			}
		})
	}
}
