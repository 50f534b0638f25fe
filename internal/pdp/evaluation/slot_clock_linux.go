package evaluation

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadClock is the clock of the processor time of this thread, which any thread may read: see CPUCLOCK_PERTHREAD in the
// kernel's posix-timers.h.
func threadClock() func() time.Duration {
	const perThread, scheduled = 4, 2
	id := int32(^unix.Gettid()<<3 | perThread | scheduled)
	return func() time.Duration {
		var now unix.Timespec
		if unix.ClockGettime(id, &now) != nil {
			return time.Duration(1<<63 - 1) // without the clock the limit is over at the next look
		}
		return time.Duration(now.Nano())
	}
}
