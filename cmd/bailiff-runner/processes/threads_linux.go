package processes

import (
	"runtime"
	"sync"
)

// StartThreads makes the Go runtime start its threads now. It keeps them; were
// it to start one while commands have used up the number of processes that the
// sandbox may have, it would give up.
func StartThreads(threads int) {
	var ready, all sync.WaitGroup
	ready.Add(threads)
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait()
		})
	}
	all.Wait()
}
