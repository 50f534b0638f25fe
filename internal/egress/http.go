package egress

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/reach"
)

// mostHead bounds the head of a request, idleTime a kept connection, answerTime the wait for
// a server's answer.
const (
	mostHead   = 64 << 10
	idleTime   = 90 * time.Second
	answerTime = 10 * time.Minute
)

// serveHTTP serves the requests of one connection, one after the other.
func (p *Proxy) serveHTTP(ctx context.Context, client net.Conn, of bailiff.Connection) {
	done := make(chan struct{})
	one := &single{conn: client, done: done, end: sync.OnceFunc(func() { close(done) })}
	server := &http.Server{
		ReadHeaderTimeout: stepTime, IdleTimeout: idleTime, MaxHeaderBytes: mostHead, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
		Handler:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.request(ctx, w, r, of, one) }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				one.end()
			}
		},
	}
	_ = server.Serve(one) // it ends with the connection, and says so
}

// single is a listener with one connection.
type single struct {
	conn net.Conn
	once sync.Once
	done chan struct{}
	end  func()
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

// request serves one request. Its context is the connection's: that of net/http ends when a
// program has said all it will say, while it still waits for the answer.
func (p *Proxy) request(ctx context.Context, w http.ResponseWriter, r *http.Request, of bailiff.Connection, one *single) {
	if r.Method == http.MethodConnect {
		p.connect(ctx, w, r, of, one)
		return
	}
	to, where, no := readRequest(r, of)
	if no != nil {
		tell(w, p.refused(ctx, where, no))
		return
	}
	where, private, no := p.allow(ctx, where)
	if no != nil {
		tell(w, no)
		return
	}
	server, no := p.dial(ctx, to, where, private)
	if no != nil {
		tell(w, no)
		return
	}
	defer server.Close()
	forward(w, r.WithContext(ctx), to, server)
}

// readRequest reads a request in absolute form, which has one meaning or is refused.
func readRequest(r *http.Request, of bailiff.Connection) (to reach.Target, c bailiff.Connection, no *refusal) {
	c = of
	c.Host, c.Via, c.Protocol = r.Host, "forward", "http"
	written := r.URL.Host
	if r.URL.Port() == "" && !strings.HasSuffix(written, ":") {
		written += ":80"
	}
	to, err := reach.ParseTarget(written)
	if err != nil || r.URL.Scheme != "http" || r.URL.User != nil || r.URL.Opaque != "" {
		return to, c, refuse(c, ruleName, "The proxy takes http:// URLs of plain hosts, and CONNECT.", "Use CONNECT for https.")
	}
	if r.URL.Path == "" {
		r.URL.Path = "/"
	}
	c = aimed(of, to, "http", "forward")
	c.Method, c.Path, c.Intercepted = r.Method, r.URL.Path, true
	switch {
	case r.Method == http.MethodTrace || r.Method == "TRACK" || r.Header.Get("Upgrade") != "":
		return to, c, refuse(c, "egress.not_this_request", "The proxy passes on no TRACE and no upgrade.", "")
	case !isPlainPath(r.URL):
		return to, c, refuse(c, "egress.ambiguous", "Two programs may read the path differently.", "Write the path in its shortest form.")
	}
	return to, c, nil
}

// isPlainPath says whether every server reads the same path: neither decoding nor cleaning
// changes where it leads.
func isPlainPath(u *url.URL) bool {
	clean := path.Clean(u.Path)
	if strings.HasSuffix(u.Path, "/") && clean != "/" {
		clean += "/"
	}
	if clean != u.Path || u.Path[0] != '/' || strings.ContainsAny(u.Path, "\\;%#?") {
		return false
	}
	for i := range len(u.Path) {
		if u.Path[i] < 0x20 || u.Path[i] == 0x7f {
			return false
		}
	}
	escaped := strings.ToLower(u.EscapedPath())
	return !strings.Contains(escaped, "%2f") && !strings.Contains(escaped, "%2e")
}

// forward writes the request anew to the server that was dialled, and its answer back.
func forward(w http.ResponseWriter, r *http.Request, to reach.Target, server net.Conn) {
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: answerTime, MaxResponseHeaderBytes: mostHead,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return server, nil },
	}
	proxy := &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Host, pr.Out.Host = to.String(), strings.TrimSuffix(to.String(), ":80")
		},
		ModifyResponse: func(answer *http.Response) error {
			answer.Header.Del("Alt-Svc")
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	proxy.ServeHTTP(w, r)
}

func (p *Proxy) connect(ctx context.Context, w http.ResponseWriter, r *http.Request, of bailiff.Connection, one *single) {
	to, err := reach.ParseTarget(r.RequestURI)
	if err != nil {
		of.Host, of.Via, of.Protocol = r.RequestURI, "connect", "https"
		tell(w, p.refused(ctx, of, refuse(of, ruleName, bailiff.Sentence(err.Error()), "Write host:port.")))
		return
	}
	server, c, no := p.open(ctx, to, "connect", of)
	if no != nil {
		tell(w, no)
		return
	}
	defer one.end()
	client, ahead, err := http.NewResponseController(w).Hijack()
	if err != nil {
		server.Close()
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		server.Close()
		return
	}
	p.tunnel(ctx, &buffered{client, ahead.Reader}, server, c)
}

// tell answers with a refusal.
func tell(w http.ResponseWriter, no *refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Bailiff-Rule", no.Rule)
	w.WriteHeader(http.StatusForbidden)
	_ = json.NewEncoder(w).Encode(no) // a program that has gone needs no answer
}
