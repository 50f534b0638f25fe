package egress

import (
	"cmp"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// mostHead bounds the head of a request, idleTime a kept connection, answerTime the wait for
// a server's answer, mostStreams the requests at once on one connection of HTTP/2.
const (
	mostHead    = 64 << 10
	idleTime    = 90 * time.Second
	answerTime  = 10 * time.Minute
	mostStreams = 100
)

// serveHTTP serves the requests of one connection, one after the other.
func (p *Proxy) serveHTTP(ctx context.Context, client net.Conn, of bailiff.Connection) {
	of.Via, of.Protocol = "forward", "http"
	p.serveRequests(ctx, newSingle(client), of, func(w http.ResponseWriter, r *http.Request) {
		r, end := whole(ctx, r)
		defer end()
		p.request(ctx, w, r, of)
	})
}

// serveRequests serves the requests of one connection, and returns when it has ended. Of is
// the connection as far as it is known without a request that can be read.
func (p *Proxy) serveRequests(ctx context.Context, one *single, of bailiff.Connection, handle http.HandlerFunc) {
	heads := watch(one, func(no *refusal) { p.recordRefusal(ctx, of, no) }, of)
	var taken atomic.Bool
	server := &http.Server{
		ReadHeaderTimeout: stepTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHead, ErrorLog: log.New(io.Discard, "", 0),
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: mostStreams},
		BaseContext: func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			heads.read()
			if no := headSizeRefusal(of, r); no != nil {
				tell(w, p.recordRefusal(ctx, of, no))
				return
			}
			if no := p.pace(ctx, withHost(of, r)); no != nil {
				tell(w, no)
				return
			}
			handle(w, r)
			if taken.Load() { // net/http does not tell the end of a connection that it gave away
				one.end()
			}
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			switch state {
			case http.StateClosed:
				one.end()
			case http.StateHijacked:
				taken.Store(true)
			case http.StateIdle:
				heads.await()
			}
		},
	}
	_ = server.Serve(one) // it ends with the connection, and says so
}

// withHost is a connection with the host that a request names, where it has none yet.
func withHost(of bailiff.Connection, r *http.Request) bailiff.Connection {
	of.Host = cmp.Or(of.Host, r.Host)
	return of
}

// single is a listener with one connection.
type single struct {
	conn net.Conn
	once sync.Once
	done chan struct{}
	end  func()
}

func newSingle(conn net.Conn) *single {
	done := make(chan struct{})
	return &single{conn: conn, done: done, end: sync.OnceFunc(func() { close(done) })}
}

// Accept hands the connection on, and then waits for its end.
func (s *single) Accept() (conn net.Conn, err error) {
	s.once.Do(func() { conn = s.conn })
	if conn == nil {
		<-s.done
		err = net.ErrClosed
	}
	return conn, err
}

// Close leaves the connection open: who serves it closes it.
func (s *single) Close() error { return nil }

// Addr is where the connection came to.
func (s *single) Addr() net.Addr { return s.conn.LocalAddr() }

// request serves one request.
func (p *Proxy) request(ctx context.Context, w http.ResponseWriter, r *http.Request, of bailiff.Connection) {
	if r.Method == http.MethodConnect {
		p.connect(ctx, w, r, of)
		return
	}
	to, asked, no := readRequest(r, of)
	if no == nil {
		no = p.give(r, asked)
	}
	if no != nil {
		tell(w, p.recordRefusal(ctx, asked[0], no))
		return
	}
	terms, no := p.allowAll(ctx, asked, isWebSocket(r))
	if no != nil {
		tell(w, no)
		return
	}
	leave, no := p.enter(ctx, asked[len(asked)-1])
	if no != nil {
		tell(w, no)
		return
	}
	defer leave()
	d, no := p.locate(ctx, to, asked[len(asked)-1], terms.private)
	if no != nil {
		tell(w, no)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	x := d.exchange(ctx, false)
	defer x.end(ctx)
	defer cancel()
	x.forward(ctx, w, r, d.c, terms)
}

// readRequest reads a request in absolute form, which has one meaning or is refused.
func readRequest(r *http.Request, of bailiff.Connection) (to reach.Target, asked []bailiff.Connection, no *refusal) {
	written := r.URL.Host
	if r.URL.Port() == "" && !strings.HasSuffix(written, ":") {
		written += ":80"
	}
	to, err := reach.ParseTarget(written)
	if err != nil || r.URL.Scheme != "http" || r.URL.User != nil || r.URL.Opaque != "" {
		of.Host, of.Via, of.Protocol = r.Host, "forward", "http"
		return to, []bailiff.Connection{of}, refuse(of, ruleName, "The proxy takes http:// URLs of plain hosts, and CONNECT.",
			"Use CONNECT for https.")
	}
	asked, no = spellings(withTarget(of, to, "http", "forward"), r)
	return to, asked, no
}

func (p *Proxy) connect(ctx context.Context, w http.ResponseWriter, r *http.Request, of bailiff.Connection) {
	to, err := reach.ParseTarget(r.RequestURI)
	if err != nil {
		of.Host, of.Via, of.Protocol = r.RequestURI, "connect", "https"
		tellTunnel(w, p.recordRefusal(ctx, of, refuse(of, ruleName, bailiff.Sentence(err.Error()), "Write host:port.")))
		return
	}
	way, no := p.open(ctx, to, "connect", of)
	if no != nil {
		tellTunnel(w, no)
		return
	}
	defer way.close()
	client, ahead, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	p.carry(ctx, &buffered{client, ahead.Reader}, way)
}
