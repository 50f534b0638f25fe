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

// Sweep kills the marked processes whose makers are gone, waits until they are gone too, and
// returns how many there were.
func Sweep(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	killed := map[int]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		left, err := strike(killed)
		if err != nil || left == 0 {
			return len(killed), err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return len(killed), fmt.Errorf("ending %d processes whose sidecar is gone: %w", left, ctx.Err())
		}
	}
}

// strike kills each orphan, notes it, and returns how many were found.
func strike(killed map[int]bool) (found int, err error) {
	folder, err := os.Open("/proc")
	if err != nil {
		return 0, fmt.Errorf("looking for processes whose sidecar is gone: %w", err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return 0, fmt.Errorf("looking for processes whose sidecar is gone: %w", err)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid <= 1 || pid == os.Getpid() || !hasOrphansMark(pid) {
			continue
		}
		found++
		if kill(pid) {
			killed[pid] = true
		}
	}
	return found, nil
}

// kill kills a process by a descriptor, so that it cannot be another one of the same number.
func kill(pid int) bool {
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(process)
	return hasOrphansMark(pid) && unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0) == nil
}

// hasOrphansMark says whether a process has the mark of a maker that is gone. What cannot be
// read, such as the variables of another user's process, holds none.
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
