package confine

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// relational is the scope of tracing in which a process may trace what it started, and nothing else.
const relational = "1"

// RequireGVisor is nil if the kernel is gVisor's, where the runner does without two things.
//
// Its file is readable, since gVisor starts no other. So a supervisor is open to tracing from its start until it closes
// itself. But commands start no supervisor, and gVisor lets them trace only what they started: this is looked at here.
//
// Commands keep message queues and queued signals, whose bounds gVisor lets no process set. They are in the memory of the
// sandbox's own kernel, and no other sandbox has a share in them.
func RequireGVisor() error {
	log := make([]byte, 64<<10)
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, log)
	first, _, _ := bytes.Cut(log[:max(n, 0)], []byte("\n"))
	if err != nil || !bytes.Contains(first, []byte("] Starting gVisor")) {
		return errors.New(wire.NoGVisor)
	}
	const setting = "/proc/sys/kernel/yama/ptrace_scope"
	scope, err := os.ReadFile(setting)
	if err != nil {
		return fmt.Errorf("looking whether commands may trace the runner: %w", err)
	}
	if said := strings.TrimSpace(string(scope)); said != relational {
		return fmt.Errorf("commands may trace the runner: %s is %s, want %s", setting, said, relational)
	}
	return nil
}
