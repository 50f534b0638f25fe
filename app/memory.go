package app

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
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

// memory is that of a process that is the sidecar's alone. Nil is that of a process that has more to do, where nothing is collected
// for the sidecar: each collection would go through what is not its own.
type memory struct {
	collect func() // all that is not in use, while others go on
	reloads atomic.Int32
	isBusy  atomic.Bool
}

// memoryOf is that of a sidecar's process.
func memoryOf(c Config) *memory {
	if !c.OwnsProcess {
		return nil
	}
	return &memory{collect: runtime.GC}
}

// giveBackAlways gives the memory that a start, a reload or busy minutes took back to the system as soon as they are over.
func (m *memory) giveBackAlways(ctx context.Context) {
	if m == nil {
		return
	}
	m.giveBack() // what compiling and testing the policies took
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
				m.giveBack()
			}
		}
	}
}

func (m *memory) giveBack() {
	m.reloads.Store(0)
	debug.FreeOSMemory()
	dropProgramPages()
}

// reloaded collects, beside what goes on, what former policies left, if memory was not given back since the reload before: what stays
// of reloads in a row would lie between what does not, and pages of which a little is in use cannot be given back.
func (m *memory) reloaded() {
	if m == nil || m.reloads.Add(1) < 2 || !m.isBusy.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer m.isBusy.Store(false)
		m.collect()
	}()
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
