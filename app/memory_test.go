package app

import "testing"

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
