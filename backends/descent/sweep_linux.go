package descent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweepTimeout is how long killed processes may take to be gone.
const sweepTimeout = 10 * time.Second

// Sweep kills the marked processes whose makers are gone, and waits until they are gone too.
func Sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left, err := killOrphans()
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("ending %d processes whose sidecar is gone: %w", left, ctx.Err())
		}
	}
}

// killOrphans kills each orphan, and returns how many there were.
func killOrphans() (found int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, fmt.Errorf("looking for processes whose sidecar is gone: %w", err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid <= 1 || pid == os.Getpid() || !hasOrphansMark(pid) {
			continue
		}
		found++
		kill(pid)
	}
	return found, nil
}

// kill kills a process by a descriptor, so that it cannot be another one of the same number.
func kill(pid int) {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(process)
	if hasOrphansMark(pid) {
		_ = unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0)
	}
}

// hasOrphansMark says whether a process has the mark of a maker that is gone. A file that cannot
// be read, such as the variables of another user's process, holds none.
func hasOrphansMark(pid int) bool {
	words, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	first, _, _ := bytes.Cut(words, []byte{0})
	if IsOrphan(string(first)) {
		return true
	}
	variables, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	for entry := range strings.SplitSeq(string(variables), "\x00") {
		if mark, ok := strings.CutPrefix(entry, Variable+"="); ok {
			return IsOrphan(mark)
		}
	}
	return false
}
