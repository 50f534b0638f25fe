package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// mostServers is how many connections to the server requests of one connection use at once.
const mostServers = 32

// spellings are the request as the policies are asked about it: its path decoded, once more
// with the escaped slashes in it kept, and each of these without the segments "." that apt
// writes, since servers read it in either way, and before these the path to which it has something
// written. A request with more meanings is refused.
func spellings(c bailiff.Connection, r *http.Request) ([]bailiff.Connection, *refusal) {
	if r.URL.Path == "" {
		r.URL.Path = "/"
	}
	c.Method, c.Path, c.Intercepted, c.Time = r.Method, r.URL.Path, true, time.Now()
	switch {
	case slices.Contains([]string{http.MethodConnect, http.MethodTrace, "TRACK"}, r.Method),
		r.Header.Get("Upgrade") != "" && !isWebSocket(r):
		return []bailiff.Connection{c}, refuse(c, ruleRequest,
			"The proxy passes on no TRACE, no tunnel in a tunnel and no upgrade but to a WebSocket.", "")
	case !isPlainPath(r.URL):
		return []bailiff.Connection{c}, refuse(c, ruleAmbiguous, "Two programs may read the path differently.",
			"Write the path in its shortest form.")
	}
	if no := misread(c, r); no != nil {
		return []bailiff.Connection{c}, no
	}
	also, no := destinations(c, r)
	if no != nil {
		return []bailiff.Connection{c}, no
	}
	return append(also, readings(c, r.URL)...), nil
}

// withoutDots is a path without segments that lead nowhere.
func withoutDots(path string) string {
	for strings.Contains(path, "/./") {
		path = strings.ReplaceAll(path, "/./", "/")
	}
	return path
}

// keptSlashes is the path decoded but for the slashes that are escaped in it.
func keptSlashes(u *url.URL) string {
	parts := strings.Split(strings.ReplaceAll(u.EscapedPath(), "%2F", "%2f"), "%2f")
	for i, part := range parts {
		if decoded, err := url.PathUnescape(part); err == nil {
			parts[i] = decoded
		}
	}
	return strings.Join(parts, "%2f")
}

// isPlainPath says whether every server reads the same path, but for escaped slashes and
// segments that lead nowhere: neither decoding nor cleaning changes where it leads.
func isPlainPath(u *url.URL) bool {
	clean := path.Clean(u.Path)
	if strings.HasSuffix(u.Path, "/") && clean != "/" {
		clean += "/"
	}
	if clean != withoutDots(u.Path) || u.Path[0] != '/' || !utf8.ValidString(u.Path) || strings.ContainsAny(u.Path, "\\;%#?") {
		return false
	}
	for i := range len(u.Path) {
		if u.Path[i] < 0x20 || u.Path[i] == 0x7f {
			return false
		}
	}
	return !strings.Contains(strings.ToLower(u.EscapedPath()), "%2e")
}

// exchange sends requests that were allowed to their destination.
type exchange struct {
	*destination
	transport      *http.Transport
	sent, received atomic.Int64
}

// exchange makes one whose connections end with the context. It speaks HTTP/2 with a server
// only for a program that does: for others that would cost time and gain nothing.
func (d *destination) exchange(ctx context.Context, http2 bool) *exchange {
	x := &exchange{destination: d}
	x.transport = &http.Transport{
		DisableCompression: true, Protocols: new(http.Protocols), MaxConnsPerHost: mostServers, IdleConnTimeout: idleTime,
		TLSHandshakeTimeout: stepTime, ResponseHeaderTimeout: answerTime, MaxResponseHeaderBytes: mostHead,
		TLSClientConfig: &tls.Config{RootCAs: d.proxy.config.Roots, ServerName: d.to.Host.String(), MinVersion: tls.VersionTLS12},
		DialContext: func(dialling context.Context, _, _ string) (net.Conn, error) {
			server, err := d.dial(dialling)
			if err != nil {
				return nil, err
			}
			context.AfterFunc(ctx, func() { server.Close() })
			return &counted{server, x}, nil
		},
	}
	x.transport.Protocols.SetHTTP1(true)
	x.transport.Protocols.SetHTTP2(http2)
	return x
}

// end tells how many bytes passed. The end of a request may be the end of its connections,
// which is told nevertheless; a fault of the log then shows in the log's own health.
func (x *exchange) end(ctx context.Context) {
	x.transport.CloseIdleConnections()
	_ = x.proxy.config.Recorder.Record(context.WithoutCancel(ctx), Event{What: Closed, Connection: x.c, Sent: x.sent.Load(),
		Received: x.received.Load()})
}

// counted is a connection to a server whose bytes are counted.
type counted struct {
	net.Conn
	x *exchange
}

// Read counts what is received.
func (c *counted) Read(to []byte) (int, error) {
	n, err := c.Conn.Read(to)
	c.x.received.Add(int64(n))
	return n, err
}

// Write counts what is sent.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.x.sent.Add(int64(n))
	return n, err
}

// serve judges one request, writes it anew to the server, and the answer back.
func (x *exchange) serve(ctx context.Context, w http.ResponseWriter, r *http.Request, asked []bailiff.Connection) {
	terms, no := x.proxy.allowAll(ctx, asked, isWebSocket(r))
	if no != nil {
		tell(w, no)
		return
	}
	c := asked[len(asked)-1]
	if err := x.check(terms.private); err != nil {
		tell(w, x.proxy.recordRefusal(ctx, c, failure(c, err)))
		return
	}
	leave, no := x.proxy.enter(ctx, c)
	if no != nil {
		tell(w, no)
		return
	}
	defer leave()
	x.forward(ctx, w, r, c, terms)
}

// errSwitched is an answer that would leave HTTP.
var errSwitched = errors.New("the server switches to another protocol")

func (x *exchange) forward(ctx context.Context, w http.ResponseWriter, r *http.Request, c bailiff.Connection,
	t terms) {
	most := t.limits
	sent := &sending{ReadCloser: r.Body}
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = sent
	}
	if no := x.proxy.bound(ctx, r, c, most); no != nil {
		tell(w, no)
		return
	}
	var proxy *httputil.ReverseProxy
	proxy = &httputil.ReverseProxy{
		// Answers of unknown length are handed on at once anyway. Those without a body must not be: their head ends the stream.
		Transport: x.transport, FlushInterval: flushEvery, BufferPool: pieces, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(pr *httputil.ProxyRequest) {
			pr.Out.URL.Scheme, pr.Out.URL.Host, pr.Out.Host = c.Protocol, x.to.String(), authority(c.Protocol, x.to)
			pr.Out.URL.RawQuery = pr.In.URL.RawQuery // as it was written: no query is judged
			if len(c.Secrets) > 0 {
				undivide(pr.Out)
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			answer.Header.Del("Alt-Svc")
			if answer.StatusCode == http.StatusSwitchingProtocols && !isWebSocket(r) {
				return errSwitched
			}
			if answer.ContentLength >= longAnswer {
				proxy.BufferPool = longPieces
			}
			if err := x.proxy.boundAnswer(ctx, answer, c, most); err != nil || len(c.Secrets) == 0 {
				return err
			}
			return x.proxy.scrub(answer, c.Secrets)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			no := failure(c, err)
			no.status = http.StatusBadGateway
			if sent.isMalformed.Load() {
				no = refuse(c, ruleMalformed, "The body of the request is no plain HTTP.", "Check its chunks and its length.")
				no.status = http.StatusBadRequest
			}
			if r.Context().Err() == nil && !errors.As(err, &no) {
				no = x.proxy.recordRefusal(ctx, c, no)
			}
			tell(w, no)
		},
	}
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{Got1xxResponse: fewBefore()}))
	switch {
	case isWebSocket(r):
		cuttable, cut := context.WithCancel(r.Context())
		defer cut()
		defer x.proxy.stand(ctx, &stood{x.destination, t.allowed, true, cut}, t.began)()
		r = r.WithContext(cuttable)
	case len(c.Secrets) > 0:
		proxy.Transport = quiet{x.transport}
	}
	proxy.ServeHTTP(w, r)
}

// sending is the body of a request, of which a fault of its framing is the program's, not the server's.
type sending struct {
	io.ReadCloser
	isMalformed atomic.Bool
}

// Read notes such a fault.
func (s *sending) Read(to []byte) (int, error) {
	n, err := s.ReadCloser.Read(to)
	var off net.Error
	if err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, http.ErrBodyReadAfterClose) &&
		!errors.Is(err, context.Canceled) && !errors.As(err, &off) {
		s.isMalformed.Store(true)
	}
	return n, err
}

// mostBefore is how many informational answers may come before the one that counts.
const mostBefore = 8

// fewBefore counts the informational answers to a request, which could go on for ever.
func fewBefore() func(int, textproto.MIMEHeader) error {
	var seen atomic.Int32
	return func(int, textproto.MIMEHeader) error {
		if seen.Add(1) > mostBefore {
			return errors.New("the server sends too many informational answers")
		}
		return nil
	}
}

// Ports that a URL need not name.
var usualPorts = map[string]string{"http": ":80", "https": ":443"}

// authority is the host as requests name it.
func authority(protocol string, to reach.Target) string {
	return strings.TrimSuffix(to.String(), usualPorts[protocol])
}

// isHost says whether a request on a connection is for the connection's host.
func (d *destination) isHost(written string) bool {
	to, err := reach.ParseTarget(written)
	if err != nil {
		to, err = reach.ParseTarget(written + usualPorts[d.c.Protocol])
	}
	return err == nil && to == d.to
}

// inside serves the requests on a connection to one host, until it ends.
func (p *Proxy) inside(ctx context.Context, client net.Conn, d *destination) {
	ctx, cancel := context.WithCancel(ctx)
	x := d.exchange(ctx, speaksHTTP2(client))
	defer x.end(ctx)
	var open gate
	defer open.shut()
	defer cancel()
	p.serveRequests(ctx, newSingle(client), d.c, func(w http.ResponseWriter, r *http.Request) {
		if !open.enter() {
			return
		}
		defer open.leave()
		r, end := whole(ctx, r)
		defer end()
		if !d.isHost(r.Host) || r.URL.Host != "" || r.URL.Scheme != "" {
			no := refuse(d.c, ruleMismatch, "The request is for another host than its connection.", "Open a connection for each host.")
			no.status = http.StatusMisdirectedRequest
			tell(w, p.recordRefusal(ctx, d.c, no))
			return
		}
		asked, no := spellings(d.c, r)
		if no == nil {
			no = p.give(r, asked)
		}
		if no != nil {
			tell(w, p.recordRefusal(ctx, asked[0], no))
			return
		}
		x.serve(ctx, w, r, asked)
	})
}

// whole gives a request of HTTP/1 the connection's own end: that of net/http comes when a
// program has said all it will say, while it still waits for the answer.
func whole(ctx context.Context, r *http.Request) (*http.Request, context.CancelFunc) {
	if r.ProtoMajor > 1 {
		return r, func() {}
	}
	kept, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	stop := context.AfterFunc(ctx, cancel)
	return r.WithContext(kept), func() { stop(); cancel() }
}

// gate lets requests in until it is shut, which waits for those inside.
type gate struct {
	mu   sync.RWMutex
	over bool
}

func (g *gate) enter() bool {
	g.mu.RLock()
	if g.over {
		g.mu.RUnlock()
		return false
	}
	return true
}

func (g *gate) leave() { g.mu.RUnlock() }

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}

const (
	// longestPhrase bounds the sentence in a line of status.
	longestPhrase = 300
	// lingerTime is how long a program has to read a refusal and close.
	lingerTime = 500 * time.Millisecond
)

// tellTunnel refuses a tunnel. Programs show the line of status at most, so it says why.
func tellTunnel(w http.ResponseWriter, no *refusal) {
	body, err := json.Marshal(no)
	if err != nil {
		panic(err) // texts and a number can always be written
	}
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		tell(w, no)
		return
	}
	defer client.Close()
	_, _ = fmt.Fprintf(client, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nX-Bailiff-Rule: %s\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s\n", cmp.Or(no.status, http.StatusForbidden), phrase("Refused by bailiff ("+no.Rule+"): "+no.Message+
		" "+no.Instead), phrase(no.Rule), len(body)+1, body) // a program that has gone needs no answer
	if closeWrite(client) == nil && client.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.Copy(io.Discard, client) // what still comes would reset the answer
	}
}

// phrase is a text as it may stand in a line of a head.
func phrase(text string) string {
	plain := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return ' '
		}
		return c
	}, bailiff.Beginning(text, longestPhrase))
	return strings.TrimSpace(plain)
}

// tell answers with a refusal.
func tell(w http.ResponseWriter, no *refusal) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Bailiff-Rule", no.Rule)
	w.WriteHeader(cmp.Or(no.status, http.StatusForbidden))
	_ = json.NewEncoder(w).Encode(no) // a program that has gone needs no answer
}

// flushEvery is how long a part of an answer of known length waits for more of it.
const flushEvery = 5 * time.Millisecond
