package egress

import (
	"sync"
	"sync/atomic"
)

// pieces are what bodies are carried in, and longPieces what long answers are.
var (
	pieces     = new(piecePool)
	longPieces = new(longPool)
)

// An answer of at least longAnswer bytes is carried in long pieces, so that its server is waited for less often, while
// fewer than mostLong of them are in use.
const (
	pieceSize  = 64 << 10
	longSize   = 256 << 10
	longAnswer = 1 << 20
	mostLong   = 16
)

// piecePool keeps pieces for reuse.
type piecePool struct{ sync.Pool }

// Get is a piece.
func (p *piecePool) Get() []byte {
	if kept, ok := p.Pool.Get().(*[pieceSize]byte); ok {
		return kept[:]
	}
	return make([]byte, pieceSize)
}

// Put keeps one.
func (p *piecePool) Put(piece []byte) { p.Pool.Put((*[pieceSize]byte)(piece)) }

// longPool keeps long pieces for reuse, and bounds how many are in use.
type longPool struct {
	kept sync.Pool
	used atomic.Int32
}

// Get is a long piece, or a usual one where too many are in use.
func (p *longPool) Get() []byte {
	if p.used.Add(1) > mostLong {
		p.used.Add(-1)
		return pieces.Get()
	}
	if kept, ok := p.kept.Get().(*[longSize]byte); ok {
		return kept[:]
	}
	return make([]byte, longSize)
}

// Put keeps one.
func (p *longPool) Put(piece []byte) {
	if len(piece) != longSize {
		pieces.Put(piece)
		return
	}
	p.kept.Put((*[longSize]byte)(piece))
	p.used.Add(-1)
}
