// Package headtail keeps an output within bounds. It hands on the first bytes as they
// come and the last bytes at the end, and counts the bytes between them. It holds no more
// than the last bytes.
package headtail

// Writer hands on the first Head bytes written to it and, at its end, the last
// Tail bytes of what followed.
type Writer struct {
	Head, Tail int
	// Emit is given what is handed on, in any pieces; it must not keep them.
	Emit func([]byte)

	kept   []byte // a ring of Tail bytes once it is full
	next   int    // where the ring goes on
	beyond int64  // bytes that came after the head
}

func (w *Writer) Write(p []byte) (int, error) {
	n := min(len(p), w.Head)
	if n > 0 {
		w.Emit(p[:n])
		w.Head -= n
	}
	w.keep(p[n:])
	return len(p), nil
}

func (w *Writer) keep(p []byte) {
	w.beyond += int64(len(p))
	if over := len(p) - w.Tail; over > 0 {
		p = p[over:]
	}
	n := min(len(p), w.Tail-len(w.kept))
	w.kept = append(w.kept, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(w.kept[w.next:], p)
		w.next = (w.next + n) % w.Tail
	}
}

// End hands on what was kept and returns how much was not. Nothing may be written
// after it.
func (w *Writer) End() (dropped int64) {
	for _, part := range [][]byte{w.kept[w.next:], w.kept[:w.next]} {
		if len(part) > 0 {
			w.Emit(part)
		}
	}
	return w.beyond - int64(len(w.kept))
}
