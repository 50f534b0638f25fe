package wire

import (
	"encoding/binary"
	"errors"
)

var errMessage = errors.New("the message is cut or malformed")

type encoder struct{ buf []byte }

func (e *encoder) number(n int64) { e.buf = binary.AppendVarint(e.buf, n) }
func (e *encoder) bool(b bool)    { e.buf = append(e.buf, flag(b)) }

func (e *encoder) text(s string) {
	e.number(int64(len(s)))
	e.buf = append(e.buf, s...)
}

func (e *encoder) list(l []string) {
	e.number(int64(len(l)))
	for _, s := range l {
		e.text(s)
	}
}

// decoder yields zero values once something was wrong.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) number() int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 {
		d.rest, d.err = nil, errMessage
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) bool() bool {
	if len(d.rest) == 0 {
		d.err = errMessage
		return false
	}
	b := d.rest[0] == 1
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) text() string {
	n := d.number()
	if n < 0 || n > int64(len(d.rest)) {
		d.rest, d.err = nil, errMessage
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

// count is how many follow, each of which takes a byte at least.
func (d *decoder) count() int64 {
	n := d.number()
	if n < 0 || n > int64(len(d.rest)) {
		d.rest, d.err = nil, errMessage
		return 0
	}
	return n
}

func (d *decoder) list() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	l := make([]string, 0, n)
	for range n {
		l = append(l, d.text())
	}
	return l
}

func (d *decoder) end() error {
	if d.err == nil && len(d.rest) > 0 {
		return errMessage
	}
	return d.err
}
