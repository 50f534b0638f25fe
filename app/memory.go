package app

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// lookEvery is how often it is looked whether memory can go back to the system.
const lookEvery = time.Second

// quietBytes are allocated between two looks while nothing goes on, at most; for less than worthBytes since the last time
// memory is not given back, which takes some hundredths of a second of one processor.
const (
	quietBytes = 1 << 20
	worthBytes = 16 << 20
)

// giveBackAlways gives the memory that a start, a reload or busy minutes took back to the system as soon as they are over.
func (a *App) giveBackAlways(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var i idleness
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if metrics.Read(sample); i.isDue(sample[0].Value.Uint64()) {
				debug.FreeOSMemory()
				dropProgramPages()
			}
		}
	}
}

// idleness tells by what a process has allocated whether it has memory to give back and little else to do.
type idleness struct{ seen, freed uint64 }

func (i *idleness) isDue(allocated uint64) bool {
	quiet := allocated-i.seen < quietBytes
	i.seen = allocated
	if !quiet || allocated-i.freed < worthBytes {
		return false
	}
	i.freed = allocated
	return true
}
