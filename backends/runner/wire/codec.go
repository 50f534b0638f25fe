package wire

import (
	"encoding/binary"
	"errors"
)

var errMessage = errors.New("the message is cut or malformed")

// message is a payload that is made of parts.
type message[M any] interface {
	*M
	// parts goes through the parts in their order, and writes or reads each.
	parts(c *codec)
}

// Encode writes a message.
func Encode[M any, P message[M]](m M) []byte {
	var c codec
	P(&m).parts(&c)
	return c.buf
}

// Decode reads what Encode wrote; data that has no length of its own is a part of b.
func Decode[M any, P message[M]](b []byte) (m M, err error) {
	c := codec{buf: b, reading: true}
	P(&m).parts(&c)
	if c.err == nil && len(c.buf) > 0 {
		c.err = errMessage
	}
	return m, c.err
}

// codec writes parts to the end of buf, or reads them from its beginning. It reads zero
// values once something was wrong.
type codec struct {
	buf     []byte
	reading bool
	err     error
}

func (c *codec) fail() { c.buf, c.err = nil, errMessage }

func number[N ~int | ~int64 | ~uint32 | ~byte](c *codec, n *N) {
	if !c.reading {
		c.buf = binary.AppendVarint(c.buf, int64(*n))
		return
	}
	value, size := binary.Varint(c.buf)
	if size <= 0 {
		c.fail()
		return
	}
	*n, c.buf = N(value), c.buf[size:]
}

func (c *codec) bool(b *bool) {
	switch {
	case !c.reading:
		c.buf = append(c.buf, flag(*b))
	case len(c.buf) == 0:
		c.fail()
	default:
		*b, c.buf = c.buf[0] == 1, c.buf[1:]
	}
}

// count is how many follow, each of which takes a byte at least.
func (c *codec) count(n int) int {
	number(c, &n)
	if c.reading && (n < 0 || n > len(c.buf)) {
		c.fail()
		return 0
	}
	return n
}

func (c *codec) text(s *string) {
	n := c.count(len(*s))
	if !c.reading {
		c.buf = append(c.buf, *s...)
		return
	}
	*s, c.buf = string(c.buf[:n]), c.buf[n:]
}

func list[E any](c *codec, l *[]E, each func(*E)) {
	n := c.count(len(*l))
	if c.reading {
		*l = nil
	}
	for i := range n {
		if c.reading {
			*l = append(*l, *new(E))
		}
		each(&(*l)[i])
	}
}

// rest is data up to the end of the message.
func (c *codec) rest(data *[]byte) {
	if !c.reading {
		c.buf = append(c.buf, *data...)
		return
	}
	*data, c.buf = c.buf, nil
}

// ignoreRest passes over what follows when the message is read.
func (c *codec) ignoreRest() {
	if c.reading {
		c.buf = nil
	}
}
