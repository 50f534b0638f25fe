package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// paced gives every write a deadline of its own, so that an answer may take
// long and its reader may not.
type paced struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	started bool
}

// WriteHeader notes that the answer has begun.
func (p *paced) WriteHeader(status int) {
	p.started = true
	p.ResponseWriter.WriteHeader(status)
}

// Write writes within the timeout or fails.
func (p *paced) Write(b []byte) (int, error) {
	p.started = true
	_ = p.control.SetWriteDeadline(time.Now().Add(p.timeout)) // a broken connection fails the write
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// body limits a request's body in size and, from now, in time.
func (p *paced) body(from io.ReadCloser, timeout time.Duration) io.ReadCloser {
	_ = p.control.SetReadDeadline(time.Now().Add(timeout)) // a broken connection fails the read
	return &pacedBody{http.MaxBytesReader(p.ResponseWriter, from, maxBody), p.control}
}

// pacedBody lifts the deadline at the body's end: from there on the server reads
// only to notice that the client goes away. A body that broke off keeps it, so
// that nobody waits for its rest.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *pacedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if errors.Is(err, io.EOF) {
		_ = b.control.SetReadDeadline(time.Time{}) // as above
	}
	return n, err
}

// boundedListener accepts a connection only while there is a place for it.
type boundedListener struct {
	net.Listener
	places    chan struct{}
	closed    chan struct{}
	closeOnce sync.Once
}

// Accept waits for a place, then for a connection.
func (b *boundedListener) Accept() (net.Conn, error) {
	select {
	case b.places <- struct{}{}:
	case <-b.closed:
		return nil, net.ErrClosed
	}
	c, err := b.Listener.Accept()
	if err != nil {
		<-b.places
		return nil, err
	}
	return &conn{Conn: c, leave: sync.OnceFunc(func() { <-b.places })}, nil
}

// Close ends Accept, whatever it waits for.
func (b *boundedListener) Close() error {
	b.closeOnce.Do(func() { close(b.closed) })
	return b.Listener.Close()
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
