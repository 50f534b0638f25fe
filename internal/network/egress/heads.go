package egress

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"github.com/bailiff-dev/bailiff"
)

// Bounds on the head of a request, beside [mostHead].
const (
	mostURL     = 16 << 10
	mostHeaders = 200
)

// headSizeRefusal is the refusal of a head with too much in it.
func headSizeRefusal(c bailiff.Connection, r *http.Request) *refusal {
	lines := 0
	for _, values := range r.Header {
		lines += len(values)
	}
	if lines <= mostHeaders && len(r.RequestURI) <= mostURL {
		return nil
	}
	if c.Host == "" {
		c.Host = r.Host
	}
	return tooLarge(c)
}

func tooLarge(c bailiff.Connection) *refusal {
	no := refuse(c, ruleTooLarge, "The head of the request is too large.",
		"Send at most 16 KiB of URL, 200 headers and 64 KiB in all.")
	no.status = http.StatusRequestHeaderFieldsTooLarge
	return no
}

func headRefusal(c bailiff.Connection, err error) *refusal {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return refuse(c, ruleMalformed, "The head of the request did not come within "+stepTime.String()+".", "Send it at once.")
	}
	return refuse(c, ruleMalformed, bailiff.Sentence(err.Error()), "Use HTTP/1.1, CONNECT, or SOCKS5 with names.")
}

// errHead is a request that net/http refuses by itself.
var errHead = errors.New("the head of the request is no plain HTTP/1.1")

// heads watches a connection for requests of HTTP/1 that net/http refuses by itself, before
// it calls a handler.
type heads struct {
	net.Conn
	of      bailiff.Connection
	refused func(*refusal)
	known   atomic.Bool // the head of the present request
	begun   atomic.Bool // some of it has come
}

// watch has a listener hand on its connection watched. HTTP/2 is left alone: net/http must
// know the connection as one of TLS.
func watch(one *single, refused func(*refusal), of bailiff.Connection) *heads {
	h := &heads{Conn: one.conn, of: of, refused: refused}
	if !speaksHTTP2(one.conn) {
		one.conn = h
	}
	return h
}

// speaksHTTP2 says whether a program chose HTTP/2 as its TLS began.
func speaksHTTP2(client net.Conn) bool {
	inside, ok := client.(*tls.Conn)
	return ok && inside.ConnectionState().NegotiatedProtocol == "h2"
}

// read notes that the head of a request was read, await that another one is to come.
func (h *heads) read() { h.known.Store(true) }

func (h *heads) await() {
	h.begun.Store(false)
	h.known.Store(false)
}

// Read notes a head that does not end in time.
func (h *heads) Read(to []byte) (int, error) {
	n, err := h.Conn.Read(to)
	if h.known.Load() {
		return n, err
	}
	if n > 0 {
		h.begun.Store(true)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) && h.begun.Load() {
		h.refuse(headRefusal(h.of, err))
	}
	return n, err
}

// Write notes an answer to a head that no handler has seen.
func (h *heads) Write(b []byte) (int, error) {
	if !h.known.Load() {
		no := headRefusal(h.of, errHead)
		if strings.HasPrefix(string(b), "HTTP/1.1 431 ") {
			no = tooLarge(h.of)
		}
		h.refuse(no)
	}
	return h.Conn.Write(b)
}

// refuse notes one refusal of a head.
func (h *heads) refuse(no *refusal) {
	if h.known.CompareAndSwap(false, true) {
		h.refused(no)
	}
}

// CloseWrite ends what is said, where the connection below can do so.
func (h *heads) CloseWrite() error { return closeWrite(h.Conn) }
