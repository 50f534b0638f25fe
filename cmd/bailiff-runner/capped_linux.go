package main

// capped hands on the first bytes written to it, keeps the last of what follows,
// and counts what lies between.
type capped struct {
	head, tail int
	emit       func([]byte)

	kept   []byte // a ring of tail bytes once it is full
	next   int    // where the ring goes on
	beyond int64  // bytes that came after the head
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.head)
	if n > 0 {
		c.emit(p[:n])
		c.head -= n
	}
	c.keep(p[n:])
	return len(p), nil
}

func (c *capped) keep(p []byte) {
	c.beyond += int64(len(p))
	if over := len(p) - c.tail; over > 0 {
		p = p[over:]
	}
	n := min(len(p), c.tail-len(c.kept))
	c.kept = append(c.kept, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(c.kept[c.next:], p)
		c.next = (c.next + n) % c.tail
	}
}

// end hands on what was kept and returns how much was not.
func (c *capped) end() (dropped int64) {
	for _, part := range [][]byte{c.kept[c.next:], c.kept[:c.next]} {
		if len(part) > 0 {
			c.emit(part)
		}
	}
	return c.beyond - int64(len(c.kept))
}
