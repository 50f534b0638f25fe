package flow

import (
	"sync"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Credit is how many bytes may still be sent, with what each frame of them costs.
type Credit struct {
	mu   sync.Mutex
	more sync.Cond
	left int
	over bool
}

// Open gives the first credit.
func (c *Credit) Open(window int) {
	c.more.L = &c.mu
	c.left = window
}

// Add gives n bytes more.
func (c *Credit) Add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left += n
	c.more.Signal()
}

// Take waits until there is some and takes a frame's worth with at most n bytes. It is
// zero once the credit was closed.
func (c *Credit) Take(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.left <= wire.Overhead && !c.over {
		c.more.Wait()
	}
	if c.over {
		return 0
	}
	n = min(n, c.left-wire.Overhead)
	c.left -= n + wire.Overhead
	if c.left > wire.Overhead {
		c.more.Signal() // for another who waits
	}
	return n
}

// Close lets every waiting call go on.
func (c *Credit) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.more.Broadcast()
}
