package gateway

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"
)

// boundedListener accepts a connection only while there is a place for it, and gives no peer more than
// its share of the places.
type boundedListener struct {
	net.Listener
	places    chan struct{}
	closed    chan struct{}
	closeOnce sync.Once

	// most is the share of one peer; crowded is told of a connection beyond it.
	most    int
	crowded func()
	mu      sync.Mutex
	held    map[string][]*conn // by peer
}

// Accept waits for a place, then for a connection of a peer whose share is not used up.
func (b *boundedListener) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			<-b.places
			return nil, err
		}
		if own, ok := b.enter(c); ok {
			return own, nil
		}
		b.crowded()
		turnAway(c)
	}
}

// enter gives a peer one of its places. If none is left, it takes the place of a connection
// that only waits for a next request, which is closed.
func (b *boundedListener) enter(c net.Conn) (*conn, bool) {
	who := peerName(c)
	own := &conn{Conn: c, who: who}
	own.leave = sync.OnceFunc(func() { b.leave(who, own) })
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.held[who]) >= b.most {
		waits := slices.IndexFunc(b.held[who], func(other *conn) bool { return other.idle.Load() })
		if waits < 0 {
			return nil, false
		}
		other := b.held[who][waits]
		b.held[who] = slices.Delete(b.held[who], waits, waits+1)
		go func() { _ = other.Close() }() // which gives its place back
	}
	b.held[who] = append(b.held[who], own)
	return own, true
}

func (b *boundedListener) leave(who string, own *conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held[who] = slices.DeleteFunc(b.held[who], func(other *conn) bool { return other == own })
	if len(b.held[who]) == 0 {
		delete(b.held, who)
	}
	<-b.places
}

// Close ends Accept at once.
func (b *boundedListener) Close() error {
	b.closeOnce.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// tooMany answers a connection beyond a peer's share, before a request is read.
var tooMany = sync.OnceValue(func() []byte {
	body, _ := json.Marshal(problem(http.StatusServiceUnavailable, "busy",
		"Your program holds too many connections to this listener; close some, then try again."))
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"+
		"Retry-After: 1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
})

// turnAway closes a connection, and says why to a client that listens.
func turnAway(c net.Conn) {
	_ = c.SetWriteDeadline(time.Now().Add(time.Millisecond)) // a new connection has room for it
	_, _ = c.Write(tooMany())
	_ = c.Close()
}

// conn gives its place back when it is closed.
type conn struct {
	net.Conn
	leave func()
	// who names the peer.
	who string
	// idle says that it waits for a next request.
	idle atomic.Bool
}

// noteIdle notes of a connection whether it waits for a next request.
func noteIdle(c net.Conn, state http.ConnState) {
	if ours := own(c); ours != nil {
		ours.idle.Store(state == http.StateIdle)
	}
}

// own is a listener's connection, below TLS too; nil for another's.
func own(c net.Conn) *conn {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	ours, _ := c.(*conn)
	return ours
}

func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
