package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// ListenerConfig says where a listener is, which clients may connect, how fast they must
// be, and how many are served at once. Zero limits mean the usual ones.
type ListenerConfig struct {
	Name string
	// Network is "unix" or "tcp"; Address a socket's path, or host:port.
	Network, Address string
	// UIDs are the users that may connect to a Unix socket; empty means all users
	// whom the socket's mode lets in.
	UIDs []uint32
	// Token is what clients on TCP must send; required there, unless Login says
	// that the handler knows its clients by a login of its own.
	Token bailiff.Secret
	Login bool
	// TLS has a TCP listener speak TLS with what it says; nil has it speak in the clear.
	TLS *tls.Config
	// HeaderTimeout and BodyTimeout are how long a client may take to send each,
	// WriteTimeout how long to take one write, IdleTimeout how long to keep a
	// connection for the next request.
	HeaderTimeout, BodyTimeout, WriteTimeout, IdleTimeout time.Duration
	// MaxConnections are served at once, further ones wait to be accepted. One peer has
	// MaxPerPeer of them at most: a process on a Unix socket, an address on TCP. A further
	// one takes the place of one of its own that waits for a next request; if none does, it
	// is closed with 503, and Crowded is called. MaxRequests run at once. A further one takes
	// the slot of one whose body still arrives, which gets 503; if there is none, it gets 503.
	MaxConnections, MaxPerPeer, MaxRequests int
	Crowded                                 func()
	Log                                     *slog.Logger
}

// LargestRequest bounds the body of a request, in bytes.
const LargestRequest = 1 << 20

// The usual limits.
const (
	headerTimeout  = 10 * time.Second
	bodyTimeout    = 30 * time.Second
	writeTimeout   = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	maxConnections = 1024
	maxPerPeer     = 512
	maxRequests    = 256
	maxHeader      = 32 << 10
	// afterCancel is what a cancelled handler has to come to an end.
	afterCancel = 10 * time.Second
	// lastRequests is what requests have to end by themselves, see ServeUntil.
	lastRequests = 5 * time.Second
)

// internalFault is all that a client learns of a fault of the sidecar's own.
const internalFault = "The sidecar failed at this request; its log says how."

// Listener is an open socket, with the handler of its requests.
type Listener struct {
	config  ListenerConfig
	handler http.Handler
	socket  net.Listener
	server  *http.Server
	slots   *slots
	token   [sha256.Size]byte
	cancel  context.CancelCauseFunc
	file    socketFile
}

var errClosing = errors.New("the sidecar is shutting down")

// Open starts to listen; requests are taken once [Listener.Serve] runs.
func Open(c ListenerConfig, handler http.Handler) (*Listener, error) {
	if c.Network == "tcp" && c.Token.Reveal() == "" && !c.Login {
		return nil, fmt.Errorf("opening %s: a TCP listener needs a token, want one in token_file", c.address())
	}
	c.defaults()
	listener, file, err := listen(c)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", c.address(), err)
	}
	l := &Listener{config: c, handler: handler, file: file, slots: newSlots(c.MaxRequests),
		token: sha256.Sum256([]byte("Bearer " + c.Token.Reveal()))}
	l.socket = &boundedListener{Listener: listener, places: make(chan struct{}, c.MaxConnections), closed: make(chan struct{}),
		most: c.MaxPerPeer, crowded: c.Crowded, held: map[string][]*conn{}}
	l.server = l.newServer()
	return l, nil
}

func (c *ListenerConfig) defaults() {
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, headerTimeout)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, bodyTimeout)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, writeTimeout)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, idleTimeout)
	c.MaxConnections = cmp.Or(c.MaxConnections, maxConnections)
	c.MaxPerPeer = cmp.Or(c.MaxPerPeer, maxPerPeer)
	c.MaxRequests = cmp.Or(c.MaxRequests, maxRequests)
	if c.Crowded == nil {
		c.Crowded = func() {}
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
}

func (c *ListenerConfig) address() string { return c.Network + "://" + c.Address }

func (l *Listener) newServer() *http.Server {
	ctx, cancel := context.WithCancelCause(context.Background())
	l.cancel = cancel
	closing := make(chan struct{})
	ctx = context.WithValue(ctx, closingKey{}, closing)
	server := &http.Server{
		Handler:           l,
		ReadHeaderTimeout: l.config.HeaderTimeout,
		WriteTimeout:      l.config.WriteTimeout,
		IdleTimeout:       l.config.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(l.config.Log.With("listener", l.config.Name).Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withPeer,
		ConnState:         noteIdle,
		TLSConfig:         l.config.TLS,
	}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true) // a connection has one request at a time, as the bounds count them
	server.RegisterOnShutdown(sync.OnceFunc(func() { close(closing) }))
	return server
}

type closingKey struct{}

// closingOf is closed when a request's listener takes no more requests, for answers
// that would go on for ever.
func closingOf(ctx context.Context) <-chan struct{} {
	closing, _ := ctx.Value(closingKey{}).(chan struct{})
	return closing
}

// ServeUntil takes requests at a listener of its own until ctx ends or the listener fails,
// and calls opened once the listener is open. Requests that run then have five seconds.
func ServeUntil(ctx context.Context, c ListenerConfig, handler http.Handler, opened func(*Listener)) error {
	listener, err := Open(c, handler)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- listener.Serve() }()
	opened(listener)
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
	defer cancel()
	return errors.Join(err, listener.Shutdown(last))
}

// Name is that of the listener, as the configuration has it.
func (l *Listener) Name() string { return l.config.Name }

// Address is that of the listener, with the port that the system chose for :0.
func (l *Listener) Address() string {
	if l.config.Network == "unix" {
		return l.config.address()
	}
	return l.config.Network + "://" + l.socket.Addr().String()
}

// HasAddress says whether clients that connect to its address reach it: the file of a Unix socket may be gone, or be another's.
func (l *Listener) HasAddress() bool { return l.file.isThere() }

// Serve takes requests until [Listener.Shutdown].
func (l *Listener) Serve() error {
	serve := l.server.Serve
	if l.config.TLS != nil {
		serve = func(socket net.Listener) error { return l.server.ServeTLS(socket, "", "") }
	}
	if err := serve(l.socket); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving %s: %w", l.config.address(), err)
	}
	return nil
}

// Shutdown takes no more requests, lets those that run finish until ctx ends,
// then cancels them and waits for their answers. The error says that some were
// cancelled. The socket's path is free once [Listener.Serve] has returned: a later
// listener may be there long before the last request ends.
func (l *Listener) Shutdown(ctx context.Context) error {
	l.file.remove()
	defer func() { _ = l.socket.Close() }() // which the server does only if it ever served
	if err := l.server.Shutdown(ctx); err == nil {
		return nil
	}
	l.cancel(errClosing)
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), afterCancel)
	defer stop()
	if err := l.server.Shutdown(last); err != nil {
		_ = l.server.Close()
		return fmt.Errorf("closing %s: a request did not end when it was cancelled", l.config.address())
	}
	return fmt.Errorf("closing %s: running requests were cancelled", l.config.address())
}

// ServeHTTP refuses clients that may not connect, bounds the rest in speed and number, and
// survives a panic of the handler.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := &paced{ResponseWriter: w, control: http.NewResponseController(w), timeout: l.config.WriteTimeout}
	defer l.survive(p, r)
	if r.ContentLength != 0 {
		r.Body = p.body(r.Body, l.config.BodyTimeout) // even if no handler reads it: net/http does, to the end
	}
	if refusal := l.refusal(r); refusal != nil {
		w.Header().Set("Connection", "close")
		refuse(p, refusal)
		return
	}
	within, leave, ok := l.enter(p, r)
	if !ok {
		refuse(p, problem(http.StatusServiceUnavailable, "busy", "Too many requests run at once; try again in a second."))
		return
	}
	defer leave()
	l.handler.ServeHTTP(p, within)
}

// refusal is why a client may not connect; nil if it may.
func (l *Listener) refusal(r *http.Request) *api.Problem {
	if l.config.Network == "tcp" && l.config.Login {
		return nil
	}
	if l.config.Network == "tcp" {
		return l.tokenless(strings.Join(r.Header["Authorization"], ","))
	}
	if len(l.config.UIDs) == 0 {
		return nil
	}
	who := peerOf(r.Context())
	if who.err != nil || !slices.Contains(l.config.UIDs, who.uid) {
		l.config.Log.Warn("refused a user that may not connect", "listener", l.config.Name, "uid", who.uid, "error", who.err)
		return problem(http.StatusForbidden, "peer_not_allowed", fmt.Sprintf("Listener %s does not serve your user (uid %d).",
			l.config.Name, who.uid))
	}
	return nil
}

// tokenless is why a header does not let in; nil if it holds the token.
func (l *Listener) tokenless(header string) *api.Problem {
	given := sha256.Sum256([]byte(header))
	switch {
	case subtle.ConstantTimeCompare(given[:], l.token[:]) == 1:
		return nil
	case strings.HasPrefix(header, "Bearer "):
		return problem(http.StatusUnauthorized, "unauthorized", "The token that was sent is not that of listener "+l.config.Name+
			"; its token_file holds that.")
	}
	return problem(http.StatusUnauthorized, "unauthorized", "Listener "+l.config.Name+
		" wants its token, as \"Authorization: Bearer …\", and was sent none.")
}

// survive answers for a handler that panicked. Where an answer has begun, it was
// the handler's to end: a stream ends itself, and net/http hangs up after a
// plain answer that is too short.
func (l *Listener) survive(p *paced, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	about := r.Context()
	if b, named := cause.(blamed); named {
		about, cause = bailiff.Concerning(about, bailiff.Concern{RequestID: b.requestID}), b.cause
	}
	l.config.Log.ErrorContext(about, "serving a request panicked", "listener", l.config.Name, "path", r.URL.Path, "cause", cause, "stack",
		string(debug.Stack()))
	if !p.started {
		refuse(p, problem(http.StatusInternalServerError, "internal", internalFault))
	}
}

// blamed is a panic on its way to the listener, with the request that it is about.
type blamed struct {
	requestID string
	cause     any
}

// blame names a request in a panic that passes by.
func blame(req bailiff.Request) {
	if cause := recover(); cause != nil {
		panic(blamed{req.ID, cause})
	}
}
