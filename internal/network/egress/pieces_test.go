package egress

import "testing"

func TestFewLongPiecesAreInUseAtOnce(t *testing.T) {
	t.Parallel()
	pool := new(longPool)
	var all [][]byte
	for n := range mostLong + 2 {
		want := longSize
		if n >= mostLong {
			want = pieceSize
		}
		piece := pool.Get()
		if all = append(all, piece); len(piece) != want {
			t.Errorf("piece %d has %d bytes, want %d", n+1, len(piece), want)
		}
	}
	for _, piece := range all {
		pool.Put(piece)
	}
	for range mostLong {
		if piece := pool.Get(); len(piece) != longSize {
			t.Errorf("a piece has %d bytes though none was in use, want %d", len(piece), longSize)
		}
	}
}
