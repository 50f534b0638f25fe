package facts

import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

// What one request's text prints must never show in the facts of another.
func TestTextsThatAreReadAtOnceAreReadApart(t *testing.T) {
	t.Parallel()
	var readers sync.WaitGroup
	for n := range 8 {
		readers.Go(func() {
			for i := range 200 {
				want := fmt.Sprintf("file-%d-%d", n, i)
				read := Shell(fmt.Sprintf("cat $(printf 'file-%%s-%%s' %d %d)", n, i), Place{})
				if !slices.Contains(read.Reads, want) {
					t.Errorf("it reads %q, want %q among them", read.Reads, want)
					return
				}
			}
		})
	}
	readers.Wait()
}
