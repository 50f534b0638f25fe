package pdp

import (
	"context"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

// What former policies took is free before the next are read: with no other collection than those of reloads, the heap
// in use stays as it was after the first. No test runs beside this one, since it measures the process.
func TestTheHeapStaysAsItWasAfterManyReloads(t *testing.T) {
	root := tree(t, timedFiles(1))
	p, err := Open(context.Background(), Config{Paths: []string{root}})
	must(t, err)
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	inUse := func(limit int) uint64 {
		write(t, filepath.Join(root, "p.rego"), timed(limit))
		p.reloading.Lock()
		defer p.reloading.Unlock()
		if faults := p.load(context.Background(), true); len(faults) > 0 || seconds(p) != limit {
			t.Fatalf("the policies in force allow %d seconds, want %d; the faults are %v", seconds(p), limit, faults)
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse
	}
	inUse(2)
	first, last := inUse(3), uint64(0)
	for limit := 4; limit < 34; limit++ {
		last = inUse(limit)
	}
	if last > first+first/10 {
		t.Errorf("the heap in use grew from %d to %d KB in 30 reloads", first>>10, last>>10)
	}
}

func timedFiles(limit int) map[string]string { return map[string]string{"p.rego": timed(limit)} }
