package gateway

import (
	"fmt"
	"net"
	"net/http"
	"sync"
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
	held    map[string]int // by peer
}

// Accept waits for a place, then for a connection of a peer that has its share not used up.
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
		who := peerName(c)
		if b.enter(who) {
			return &conn{Conn: c, leave: sync.OnceFunc(func() { b.leave(who) })}, nil
		}
		b.crowded()
		turnAway(c)
	}
}

// enter gives a peer one of its places, if one is left.
func (b *boundedListener) enter(who string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[who] >= b.most {
		return false
	}
	b.held[who]++
	return true
}

func (b *boundedListener) leave(who string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[who]--; b.held[who] == 0 {
		delete(b.held, who)
	}
	<-b.places
}

// Close ends Accept, whatever it waits for.
func (b *boundedListener) Close() error {
	b.closeOnce.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

// tooMany is the answer to a connection beyond a peer's share. It is sent before a request is read.
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
}

func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
