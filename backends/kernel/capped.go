package kernel

// capped hands on the first bytes written to it, keeps the last of what follows,
// and counts what lies between.
type capped struct {
	head, tail int
	emit       func([]byte)

	kept    []byte
	dropped int64
}

func (c *capped) write(p []byte) {
	if n := min(len(p), c.head); n > 0 {
		c.emit(p[:n])
		c.head -= n
		p = p[n:]
	}
	if over := len(p) - c.tail; over > 0 {
		c.dropped += int64(over)
		p = p[over:]
	}
	c.kept = append(c.kept, p...)
	if len(c.kept) > 2*c.tail {
		c.trim()
	}
}

// trim forgets all but the last bytes.
func (c *capped) trim() {
	over := len(c.kept) - c.tail
	c.kept = append(c.kept[:0], c.kept[over:]...)
	c.dropped += int64(over)
}

// end hands on what was kept, and returns how much was not.
func (c *capped) end() (dropped int64) {
	if len(c.kept) > c.tail {
		c.trim()
	}
	if len(c.kept) > 0 {
		c.emit(c.kept)
		c.kept = nil
	}
	return c.dropped
}
