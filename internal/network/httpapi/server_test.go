package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bailiff-dev/bailiff"
)

const secret = "sesame-4711-and-more"

// api is a server on the clock of the test, which answers one request after the
// other, the last answer again and again.
type api struct {
	*httptest.Server
	answers []http.HandlerFunc
	since   time.Time

	mu     sync.Mutex
	times  []time.Duration // since the beginning
	tokens []string
}

// asked is when it was asked.
func (a *api) asked() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.times)
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sent, _ := io.ReadAll(r.Body) // a server notices who goes away once it has heard all
	r.Body = io.NopCloser(bytes.NewReader(sent))
	a.mu.Lock()
	answer := a.answers[min(len(a.times), len(a.answers)-1)]
	a.times = append(a.times, time.Since(a.since))
	a.tokens = append(a.tokens, r.Header.Get("Authorization"))
	a.mu.Unlock()
	answer(w, r)
}

// asking has a client ask a server, over connections within the test's memory.
func asking(t *testing.T, do func(t *testing.T, c *Client, a *api), answers ...http.HandlerFunc) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		wire := newWire()
		a := &api{answers: answers, since: time.Now()}
		a.Server = &httptest.Server{Listener: wire, Config: &http.Server{Handler: a}}
		a.Start()
		c := New(Config{Name: "Acme", Reason: func(body []byte) (code, message string) { return "", string(body) }, After: afterOf,
			Credential: func() (bailiff.Secret, error) { return bailiff.NewSecret(secret), nil }})
		c.http.Transport.(*http.Transport).DialContext = wire.dial
		defer a.Close()
		defer c.http.CloseIdleConnections()
		do(t, c, a)
	})
}

// afterOf reads "after 9s".
func afterOf(body []byte) time.Duration {
	after, _ := time.ParseDuration(strings.TrimPrefix(string(body), "after "))
	return after
}

// wire is a network that consists of one server's listener.
type wire struct {
	calls chan net.Conn
	cut   chan struct{}
	once  sync.Once
}

func newWire() *wire { return &wire{calls: make(chan net.Conn), cut: make(chan struct{})} }

func (w *wire) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func (w *wire) Close() error {
	w.once.Do(func() { close(w.cut) })
	return nil
}

func (w *wire) Accept() (net.Conn, error) {
	select {
	case conn := <-w.calls:
		return conn, nil
	case <-w.cut:
		return nil, net.ErrClosed
	}
}

func (w *wire) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case w.calls <- there:
		return here, nil
	case <-w.cut:
		return nil, errors.New("nobody is at 192.0.2.1")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// The answers of an API.

func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

var (
	fine = says(200, `{"name": "it"}`)
	busy = says(429, "busy", "Retry-After", "7")
	down = says(500, "down")
)

// cut ends the connection without an answer.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// torn ends it in the middle of one.
func torn(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"name": `)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// silent says nothing.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// halting begins, and says nothing more.
func halting(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, `{"name": `)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// endless goes on and on.
func endless(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := w.Write(make([]byte, 64<<10)); err != nil {
			return
		}
	}
}

// raw is what no HTTP server would say.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, text)
			conn.Close()
		}
	}
}

// thing is what is asked for.
type thing struct{ Name string }

func (a *api) call(idempotent bool, into any) Call {
	return Call{Method: "POST", Address: a.URL + "/things", Body: JSON(thing{"it"}), Answer: into, Idempotent: idempotent}
}
