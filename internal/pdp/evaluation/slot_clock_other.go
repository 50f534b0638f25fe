//go:build !linux

package evaluation

import "time"

// threadClock is the clock on the wall, where threads have none of their own.
func threadClock() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
