package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Some things the kernel counts by user and not by sandbox, so that one session could take them from all others of its
// user, and from the user. What no usual program needs is denied to all; of what watchers need a sandbox has a part
// where it has a namespace of users, in which the kernel counts anew.

// share is the part of what a user may have that one sandbox may.
type share struct {
	user, namespace string
	part, least     int
}

var shares = []share{
	{"/proc/sys/fs/inotify/max_user_instances", "/proc/sys/user/max_inotify_instances", 4, 32},
	{"/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches", 2, 4096},
}

// ShareWatches sets those parts for the namespace of users that this process is in, as far as the host lets it, and gives up
// what allows it to. A host may forbid all capabilities in such namespaces; then they are of no use to commands either.
func ShareWatches() error {
	mapped, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return fmt.Errorf("leaving room: %w", err)
	}
	if fields := strings.Fields(string(mapped)); len(fields) != 3 || fields[2] == wholeMap {
		return errors.New("leaving room: this is no namespace of users of a sandbox's own, and the bounds would be the machine's")
	}
	for _, s := range shares {
		err := s.set()
		if err != nil && !isForbidden(err) {
			return fmt.Errorf("leaving room: %w", err)
		}
	}
	if err := dropBounds(); err != nil && !isForbidden(err) {
		return fmt.Errorf("leaving room: %w", err)
	}
	return dropCapabilities()
}

// wholeMap is the length of the map of the machine's own namespace, which has all users.
const wholeMap = "4294967295"

func (s share) set() error {
	text, err := os.ReadFile(s.user)
	if err != nil {
		return err
	}
	all, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("%s: %w", s.user, err)
	}
	return os.WriteFile(s.namespace, []byte(strconv.Itoa(max(all/s.part, s.least))), 0)
}

func isForbidden(err error) bool {
	for _, refusal := range []error{fs.ErrPermission, fs.ErrNotExist, unix.EROFS} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// signalsPart is the part of the signals that may be queued for a user, timers among them, that commands leave it with.
const signalsPart = 4

// LimitQueues has commands take no message queues, and not all signals that may be queued for their user.
func LimitQueues() error {
	queues, signals := unix.Rlimit{}, unix.Rlimit{}
	if err := unix.Getrlimit(unix.RLIMIT_SIGPENDING, &signals); err != nil {
		return fmt.Errorf("bounding queued signals: %w", err)
	}
	signals.Cur /= signalsPart
	signals.Max = signals.Cur
	if err := errors.Join(unix.Setrlimit(unix.RLIMIT_MSGQUEUE, &queues), unix.Setrlimit(unix.RLIMIT_SIGPENDING, &signals)); err != nil {
		return fmt.Errorf("bounding message queues and queued signals: %w", err)
	}
	return nil
}
