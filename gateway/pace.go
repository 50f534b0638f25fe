package gateway

import (
	"errors"
	"io"
	"net/http"
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
	return &pacedBody{http.MaxBytesReader(p.ResponseWriter, from, LargestRequest), p.control}
}

// pacedBody lifts the deadline at the body's end: from there on the server reads
// only to notice that the client goes away. A body that broke off keeps it, so
// that no reader waits for its rest.
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
