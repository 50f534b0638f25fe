package serve

import (
	"slices"
	"testing"
)

func TestProcessesThatGoLittleByLittleAreWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name string
		left []int // after each attempt
		gone bool
		told int
	}{
		{"all at once", []int{0}, true, 0},
		{"fewer each time", []int{441, 198, 1, 0}, true, 3},
		{"some never", []int{198, 7, 7}, false, 2},
		{"new ones come", []int{8, 9}, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			rest, told := slices.Clone(c.left), 0
			gone := endure(func() (left int) {
				left, rest = rest[0], rest[1:]
				return left
			}, func() { told++ })
			if gone != c.gone || told != c.told || len(rest) > 0 {
				t.Errorf("gone: %v, told %d times, %d attempts to go; want %v, %d, none", gone, told, len(rest), c.gone, c.told)
			}
		})
	}
}
