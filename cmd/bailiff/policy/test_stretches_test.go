package policy

import "testing"

func TestStretchesAreInOrderAndEachOnce(t *testing.T) {
	t.Parallel()
	if got := stretches([][2]int{{49, 49}, {7, 9}, {100, 100}, {49, 49}}); got != "7-9, 49, 100" {
		t.Errorf("got %s", got)
	}
}
