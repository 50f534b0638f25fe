package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
)

// way is what a program was told that it may use: a destination, with a connection to it
// where it is a tunnel whose bytes are carried as they are.
type way struct {
	*destination
	server net.Conn
	terms  terms // of the tunnel
}

func (w *way) close() {
	if w.server != nil {
		w.server.Close()
	}
}

// open judges a tunnel by each way of speaking in turn, and connects one that stays closed.
func (p *Proxy) open(ctx context.Context, to reach.Target, via string, of bailiff.Connection) (*way, *refusal) {
	to = p.nameBehind(to, of.Sandbox)
	c, terms, no := p.allow(ctx, tunnels(to, via, of)...)
	if no != nil {
		return nil, no
	}
	d, no := p.locate(ctx, to, c, terms.private)
	if no != nil {
		return nil, no
	}
	if c.Intercepted {
		return &way{destination: d}, nil
	}
	leave, no := p.enter(ctx, c)
	if no != nil {
		return nil, no
	}
	server, err := d.dial(ctx)
	if err != nil {
		leave()
		return nil, p.recordRefusal(ctx, c, failure(c, err))
	}
	return &way{d, &held{server, leave}, terms}, nil
}

// tunnels are the ways in which a program may speak in a tunnel, the likely one first.
func tunnels(to reach.Target, via string, of bailiff.Connection) []bailiff.Connection {
	https, http, tcp := withTarget(of, to, "https", via), withTarget(of, to, "http", via), withTarget(of, to, "tcp", via)
	https.Intercepted, http.Intercepted = true, true
	if to.Port == 80 {
		return []bailiff.Connection{http, https, tcp}
	}
	return []bailiff.Connection{https, http, tcp}
}

// carry serves what a program says on a way that is open.
func (p *Proxy) carry(ctx context.Context, client net.Conn, w *way) {
	switch {
	case w.server != nil:
		p.tunnel(ctx, client, w)
	case w.c.Protocol == "https":
		p.intercept(ctx, client, w.destination)
	default:
		p.inside(ctx, client, w.destination)
	}
}

// tunnel carries bytes both ways until both have ended, or one fails. TLS must be for the
// host that was judged before any byte goes on.
func (p *Proxy) tunnel(ctx context.Context, client net.Conn, w *way) {
	server, c := w.server, w.c
	defer context.AfterFunc(ctx, func() { server.Close() })()
	var hello []byte
	if c.Protocol == "https" {
		var no *refusal
		if hello, no = greeting(client, c); no != nil {
			p.recordRefusal(ctx, c, no)
			return
		}
	}
	if client.SetDeadline(time.Time{}) != nil {
		return
	}
	cut := func() { client.Close(); server.Close() }
	defer p.stand(ctx, &stood{destination: w.destination, allowed: w.terms.allowed, cut: cut}, w.terms.began)()
	idle := time.AfterFunc(tunnelIdle, cut)
	defer idle.Stop()
	received := make(chan int64, 1)
	go func() { received <- copyTo(client, p.download(ctx, busy{server, idle}, c, w.terms.limits)) }()
	sent := copyTo(server, p.upload(ctx, io.MultiReader(bytes.NewReader(hello), busy{client, idle}), c, w.terms.limits))
	// The end of the tunnel is told although it may be the end of the request too; a
	// fault of the log then shows in the log's own health.
	_ = p.config.Recorder.Record(context.WithoutCancel(ctx), Event{What: Closed, Connection: c, Sent: sent, Received: <-received})
}

// tunnelIdle is how long a tunnel may stand over which nothing passes.
const tunnelIdle = 10 * time.Minute

// busy is one side of a tunnel, of which each read puts off its end.
type busy struct {
	io.Reader
	idle *time.Timer
}

// Read puts the end off.
func (b busy) Read(to []byte) (int, error) {
	n, err := b.Reader.Read(to)
	if n > 0 {
		b.idle.Reset(tunnelIdle)
	}
	return n, err
}

// copyTo copies until the end, and tells the other side of it. A fault ends both sides.
func copyTo(to net.Conn, from io.Reader) int64 {
	n, err := io.Copy(to, from)
	if err != nil || closeWrite(to) != nil {
		to.Close()
	}
	return n
}

// encryptedHello is the extension of a hello whose true name is hidden.
const encryptedHello = 0xfe0d

// errPeeked ends a handshake that is only looked at.
var errPeeked = errors.New("the hello was read")

// greeting reads the first message of TLS, which must name the host that was judged.
func greeting(client net.Conn, c bailiff.Connection) (hello []byte, no *refusal) {
	if client.SetReadDeadline(time.Now().Add(stepTime)) != nil {
		return nil, refuse(c, ruleUnreachable, "The connection has ended.", "")
	}
	seen := &peeked{Conn: client}
	var names *tls.ClientHelloInfo
	err := tls.Server(seen, &tls.Config{GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
		names = info
		return nil, errPeeked
	}}).Handshake()
	if !errors.Is(err, errPeeked) || names == nil {
		return nil, refuse(c, ruleOpaque, "The connection is no TLS.", "Use https, or a row with protocol: tcp.")
	}
	for _, extension := range names.Extensions {
		if extension == encryptedHello {
			return nil, refuse(c, ruleMismatch, "The name in TLS is hidden.", "Switch encrypted client hello off.")
		}
	}
	if no := nameRefusal(c, names.ServerName); no != nil {
		return nil, no
	}
	return seen.read.Bytes(), nil
}

// peeked is a connection that is listened to: what is read is kept, nothing is answered.
type peeked struct {
	net.Conn
	read bytes.Buffer
}

// Read keeps what it reads.
func (p *peeked) Read(to []byte) (int, error) {
	n, err := p.Conn.Read(to)
	p.read.Write(to[:n])
	return n, err
}

// Write drops what it is given.
func (p *peeked) Write(b []byte) (int, error) { return len(b), nil }
