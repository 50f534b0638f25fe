package serve

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
	"github.com/bailiff-dev/bailiff/cmd/bailiff-runner/processes"
)

// limits are the resource limits of a process. Where nothing forbids it, every
// process of the same user can set them, and so starve the runner or, by what
// is inherited, each later command.
type limits [unix.RLIMIT_RTTIME + 1]unix.Rlimit

// leastFiles is what a runner or supervisor makes do with.
const leastFiles = 64

var errLimits = errors.New("a command has changed the resource limits of the processes that look after commands")

// readLimits reads those of a process, 0 being this one.
func readLimits(pid int) (l limits, err error) {
	for resource := range l {
		if err := unix.Prlimit(pid, resource, nil, &l[resource]); err != nil {
			return l, err
		}
	}
	return l, nil
}

// kept says whether limits are what they were. The number of open files is
// raised by each Go program as it starts, up to the same bound.
func (l limits) kept(were limits) bool {
	files := &l[unix.RLIMIT_NOFILE]
	if files.Cur >= leastFiles {
		files.Cur = were[unix.RLIMIT_NOFILE].Cur
	}
	return l == were
}

// reasonOf is why something could not be started: the usual one, or a want that may be over later.
func reasonOf(err error, usual wire.Reason) wire.Reason {
	if processes.IsExhausted(err) || errors.Is(err, errManyProcesses) {
		return wire.Full
	}
	return usual
}
