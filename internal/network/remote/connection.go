package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// connection is one connection to a host that lets us in.
type connection struct {
	client *ssh.Client
	wire   *heard
	host   *Host
	// users are how many use it; the host guards it.
	users int
	// done is closed when nothing can be said over it any more.
	done chan struct{}
}

// unopened is that nothing was opened over a connection, so that it can be tried
// over another one.
type unopened struct{ error }

func (u *unopened) Unwrap() error { return u.error }

// connect reaches the host, checks who it is and logs in.
func (h *Host) connect(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	terms, done, err := h.cfg.terms(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	raw, err := h.reach(ctx)
	if err != nil {
		return nil, fmt.Errorf("reaching %s: %w", h, err)
	}
	wire := &heard{Conn: raw}
	stop := context.AfterFunc(ctx, func() { wire.Close() })
	conn, channels, requests, err := ssh.NewClientConn(wire, h.cfg.Address, terms)
	if err == nil && !stop() {
		err = ctx.Err()
	}
	if err != nil {
		wire.Close()
		return nil, fmt.Errorf("logging in as %s: %w", h, h.advised(inTime(ctx, err)))
	}
	c := &connection{client: ssh.NewClient(conn, channels, requests), wire: wire, host: h, done: make(chan struct{})}
	go c.watch()
	go c.keepAlive(h.cfg.KeepAlive)
	return c, nil
}

// advised adds to a refusal of all our keys, for which the library has no error of its
// own, what would be right.
func (h *Host) advised(err error) error {
	if !strings.Contains(err.Error(), "unable to authenticate") {
		return err
	}
	return fmt.Errorf("%w: the host takes none of our keys; add the public half of one to the authorized_keys of %s there", err, h.cfg.User)
}

// patience is how long a host may take to let us in.
const patience = 20 * time.Second

// inTime prefers the end of a context to what it has caused.
func inTime(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (h *Host) reach(ctx context.Context) (net.Conn, error) {
	if h.jump != nil {
		return h.jump.Open(ctx, "tcp", h.cfg.Address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", h.cfg.Address)
}

func (c *connection) watch() {
	_ = c.client.Wait()
	close(c.done)
	c.close()
}

// keepAlive asks for a sign of life twice in the time that the host may be silent.
// Whatever it sends is one: an answer may stand behind much else.
func (c *connection) keepAlive(silence time.Duration) {
	tick := time.NewTicker(silence / 2)
	defer tick.Stop()
	answered := make(chan struct{}, 1)
	answered <- struct{}{}
	for {
		select {
		case <-c.done:
			return
		case <-tick.C:
		}
		select {
		case <-answered:
			go func() {
				_, _, _ = c.client.SendRequest("keepalive@openssh.com", true, nil)
				answered <- struct{}{}
			}()
		default:
			if time.Since(c.wire.last()) >= silence/2 {
				c.close()
				return
			}
		}
	}
}

// close takes the line away, which does not wait.
func (c *connection) close() { c.wire.Close() }

func (c *connection) broken() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *connection) leave() { c.host.left(c) }

// open connects from the host to an address.
func (c *connection) open(ctx context.Context, network, address string) (net.Conn, error) {
	opened, err := within(ctx, c.done, func() (net.Conn, error) { return c.client.Dial(network, address) })
	var refused *ssh.OpenChannelError
	switch {
	case err == nil:
		return &leased{Conn: opened, leave: sync.OnceFunc(c.leave)}, nil
	case ctx.Err() != nil || errors.As(err, &refused):
		return nil, err
	}
	return nil, &unopened{err}
}

// within does something until the context or the connection ends; what is done too late is undone. The library waits for ever
// for the answer to a channel that it opens after it has told the channels of the end: its first write to a dead line is no error.
func within[T io.Closer](ctx context.Context, over <-chan struct{}, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	results := make(chan result, 1)
	go func() {
		value, err := do()
		results <- result{value, err}
	}()
	var none T
	select {
	case r := <-results:
		return r.value, r.err
	case <-over:
		return none, net.ErrClosed
	case <-ctx.Done():
		go func() {
			if r := <-results; r.err == nil {
				r.value.Close()
			}
		}()
		return none, ctx.Err()
	}
}

// leased is a connection over another one, which it uses until it is closed.
type leased struct {
	net.Conn
	leave func()
}

// CloseWrite ends what is sent.
func (l *leased) CloseWrite() error {
	return l.Conn.(interface{ CloseWrite() error }).CloseWrite()
}

// Close ends it.
func (l *leased) Close() error {
	defer l.leave()
	return l.Conn.Close()
}

// heard is a connection that knows when something last came over it.
type heard struct {
	net.Conn
	at atomic.Int64
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if n > 0 {
		h.at.Store(time.Now().UnixNano())
	}
	return n, err
}

func (h *heard) last() time.Time { return time.Unix(0, h.at.Load()) }
