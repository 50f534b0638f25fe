package headtail_test

import (
	"bytes"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/text/headtail"
)

// FuzzExcerpt compares with keeping everything: whatever the bounds and the pieces
// in which output comes, head and tail are those of the whole.
func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("abcdefghij"), 3, 2, 1)
	f.Add([]byte("abcdefghij"), 0, 4, 3)
	f.Add([]byte("abcdefghij"), 20, 20, 7)
	f.Add(bytes.Repeat([]byte("xyz"), 100), 5, 0, 50)
	f.Fuzz(func(t *testing.T, whole []byte, head, tail, piece int) {
		head, tail, piece = abs(head)%1000, abs(tail)%1000, 1+abs(piece)%100
		var got []byte
		w := headtail.Writer{Head: head, Tail: tail, Emit: func(p []byte) { got = append(got, p...) }}
		for rest := whole; len(rest) > 0; {
			n := min(piece, len(rest))
			_, _ = w.Write(rest[:n])
			rest = rest[n:]
		}
		dropped := w.End()
		first := whole[:min(head, len(whole))]
		after := whole[len(first):]
		last := after[max(0, len(after)-tail):]
		if want := append(bytes.Clone(first), last...); !bytes.Equal(got, want) || dropped != int64(len(whole)-len(want)) {
			t.Errorf("handed on %q and dropped %d of %q, want %q", got, dropped, whole, want)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
