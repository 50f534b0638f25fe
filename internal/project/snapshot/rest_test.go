package snapshot

import (
	"testing"
	"time"
)

func TestAfterEachFaultInARowTheNextTryIsLater(t *testing.T) {
	for faults, want := range map[int]time.Duration{0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 6: 320 * time.Second,
		7: 10 * time.Minute, 1000: 10 * time.Minute} {
		if got := (&folder{faults: faults}).rest(); got != want {
			t.Errorf("after %d faults the next try is due in %v, want %v", faults, got, want)
		}
	}
}
