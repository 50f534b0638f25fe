package egress

import (
	"net"
	"sync"
	"time"
)

// gathered is a connection to a program that hands on in one piece what is written while an earlier
// piece is still on its way. TLS and HTTP/2 write in small pieces, of which each would be a frame of
// the outlet, and a wait for every process on its way.
type gathered struct {
	net.Conn

	mu      sync.Mutex
	changed sync.Cond
	// waiting is what was written and not handed on, handing says that a call hands on.
	waiting []byte
	handing bool
	// stuck is how many calls wait for room.
	stuck int
	fault error
}

func gather(c net.Conn) *gathered {
	g := &gathered{Conn: c}
	g.changed.L = &g.mu
	return g
}

// Write waits while there is no room. A fault of what was written before is told by the next call.
func (g *gathered) Write(p []byte) (written int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(p) > 0 {
		for g.fault == nil && len(g.waiting) == gatheredSize {
			g.stuck++
			g.changed.Wait()
			g.stuck--
		}
		if g.fault != nil {
			return written, g.fault
		}
		n := g.add(p)
		written, p = written+n, p[n:]
	}
	return written, nil
}

// add takes as much as there is room for.
func (g *gathered) add(p []byte) int {
	if g.waiting == nil {
		g.waiting = gathering.Get().(*[gatheredSize]byte)[:0]
	}
	n := min(len(p), gatheredSize-len(g.waiting))
	g.waiting = append(g.waiting, p[:n]...)
	if !g.handing {
		g.handing = true
		go g.hand()
	}
	return n
}

// hand hands on until nothing waits.
func (g *gathered) hand() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.fault == nil && len(g.waiting) > 0 {
		piece := g.waiting
		g.waiting = nil
		g.changed.Broadcast()
		g.mu.Unlock()
		_, err := g.Conn.Write(piece)
		gathering.Put((*[gatheredSize]byte)(piece[:gatheredSize]))
		g.mu.Lock()
		g.fault = err
	}
	g.handing = false
	g.changed.Broadcast()
}

// gatheredSize is what is handed on at once at most, which an outlet carries in one frame.
const gatheredSize = 32 << 10

// gathering are what pieces are gathered in, kept for reuse.
var gathering = sync.Pool{New: func() any { return new([gatheredSize]byte) }}

// SetWriteDeadline bounds what is handed on. TLS sets one that is past once it has said its last word,
// which is handed on before.
func (g *gathered) SetWriteDeadline(t time.Time) error {
	if !t.IsZero() && !time.Now().Before(t) {
		g.flush()
	}
	return g.Conn.SetWriteDeadline(t)
}

// lastTime is how long a program has to take what was written before a close.
const lastTime = 5 * time.Second

// Close ends both directions once what was written is handed on, or at once where a call still
// writes: it is to be broken off then.
func (g *gathered) Close() error {
	g.mu.Lock()
	stuck := g.stuck > 0
	g.mu.Unlock()
	if !stuck && g.Conn.SetWriteDeadline(time.Now().Add(lastTime)) == nil {
		g.flush()
	}
	return g.Conn.Close()
}

// flush waits until what was written is handed on, or cannot be.
func (g *gathered) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.handing {
		g.changed.Wait()
	}
}
