package app

import (
	"testing"

	"github.com/bailiff-dev/bailiff/internal/tests/awaittest"
)

func TestMemoryIsGivenBackOnceNothingGoesOn(t *testing.T) {
	t.Parallel()
	var i idleness
	for _, look := range []struct {
		allocated uint64 // in MiB
		due       bool
	}{
		{100, false}, // the start goes on
		{100, true},
		{100, false},
		{200, false}, // busy
		{300, false},
		{300, true},
		{302, false},
		{304, false}, // a little now and then
		{304, false},
		{317, false},
		{317, true},
	} {
		if due := i.isDue(look.allocated << 20); due != look.due {
			t.Errorf("with %d MiB allocated it is due: %v, want %v", look.allocated, due, look.due)
		}
	}
}

func TestReloadsInARowAreCollectedAfterOneOnceMemoryIsGivenBack(t *testing.T) {
	t.Parallel()
	began, end := make(chan struct{}), make(chan struct{})
	m := &memory{collect: func() { began <- struct{}{}; <-end }}
	reload := func(when string, wantCollected bool) {
		if m.reloaded(); m.isBusy.Load() != wantCollected {
			t.Errorf("%s it is collected: %v", when, !wantCollected)
		}
	}
	reload("after one reload, which the next quiet second does,", false)
	for range 2 {
		reload("after one more", true)
		<-began
		m.reloaded() // beside it, and begins none
		end <- struct{}{}
		awaittest.Until(t, "the collection is over", func() bool { return !m.isBusy.Load() })
	}
	m.giveBack()
	reload("after the first since memory was given back", false)
	var none *memory
	none.reloaded()
	none.giveBackAlways(t.Context()) // returns at once
}
