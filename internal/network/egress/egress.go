// Package egress is the proxy between a sandbox and the network: HTTP, CONNECT and SOCKS5
// with names, over any connection that a sandbox's outlet hands on.
//
// Promised: nothing is resolved, dialled or answered as open before the policies have
// allowed the destination and the recorder has written that down. A name is resolved
// once, one forbidden address among its addresses refuses them all, and what is dialled
// is what was checked. Each request of HTTP, and of HTTPS whose TLS is ended here, is
// parsed, judged and written anew, and the server is verified. A tunnel that is left
// closed is TLS for the name that was judged, or its destination is one for plain TCP.
// The key of a sandbox's authority is kept nowhere. Every fault refuses.
//
// A name that a program looks up itself is answered with an address that stands for it inside, if
// the policies let the name be reached at some port; what is dialled there is a tunnel to the name.
//
// Not here: who is asked about a connection, which secrets are swapped, and the outlets.
package egress

import (
	"bufio"
	"context"
	"crypto/x509"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/config/required"
	"github.com/bailiff-dev/bailiff/internal/network/names"
	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/recent"
	"github.com/bailiff-dev/bailiff/internal/secrets/swap"
)

// Judge says whether a connection, or a request on it, may go on.
type Judge interface {
	Connection(ctx context.Context, c bailiff.Connection) bailiff.ConnectionJudgement
}

// Recorder writes an event down; it has returned once the event is safe.
type Recorder interface {
	Record(ctx context.Context, e Event) error
}

// Resolver lists the addresses of a name.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to an address; check is asked about what the kernel is told.
type Dialer interface {
	Dial(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (net.Conn, error)
}

// What may happen to a connection.
const (
	Opened  = "opened"
	Refused = "refused"
	Closed  = "closed"
)

// Event is one thing that happened to a connection.
type Event struct {
	// What is [OpenSandbox], [Refused] or [Closed].
	What string
	// Connection is as it was judged; its host is as the program wrote it, where that
	// could not be read.
	Connection bailiff.Connection
	// Rule, Message and Instead say why it was refused.
	Rule, Message, Instead string
	// Approval is the id of the question to people, where they were asked.
	Approval string
	// Judged is what the policies said last, where they had a say in it.
	Judged *bailiff.ConnectionJudgement
	// More is how many refusals like this one, and in its time, it stands for too.
	More int
	// Sent and Received are bytes of a connection that closed.
	Sent, Received int64
}

// Config is what a proxy needs.
type Config struct {
	Judge    Judge
	Recorder Recorder
	Resolver Resolver
	Dialer   Dialer
	Floor    *reach.Floor
	// Key has [KeySize] bytes, from which the keys of sandboxes' authorities are derived.
	Key []byte
	// Roots are those by which servers are verified.
	Roots *x509.CertPool
	// Authority is that of an organisation; nil has each sandbox get one of its own.
	Authority *Authority
	Limits    Limits
	// Ports has programs that know no proxy look names up and connect; nil has them use a proxy.
	Ports Ports
}

// Proxy serves the connections of sandboxes. It is safe for concurrent use.
type Proxy struct {
	now         *atomic.Pointer[settings] // for the next connection
	meter       *meter
	standing    *standing
	past        *past
	given       *recent.Map[string, *authorities] // by the sandbox that trusts them
	tables      *recent.Map[string, *names.Table] // by the sandbox whose names they are
	config      Config                            // of this connection, as all that follows
	authorities *authorities
	excess      string                   // the sentence of its refusal, where a limit was reached
	hear        bailiff.ConnectionHearer // while it serves one connection, as the next is
	swapped     []bailiff.Swapped
	standIns    swap.Finder       // of swapped
	dead        []bailiff.Swapped // what stood for values in other requests of the session
}

// settings are a configuration with the authorities that it has.
type settings struct {
	config      Config
	authorities *authorities
}

// mostGiven is of how many sandboxes the proxy remembers what they trust.
const mostGiven = 10_000

// New names everything that is missing at once.
func New(c Config) (*Proxy, error) {
	p := &Proxy{now: &atomic.Pointer[settings]{}, meter: newMeter(),
		standing: &standing{all: map[*stood]bool{}}, past: newPast(), given: recent.New[string, *authorities](mostGiven),
		tables: recent.New[string, *names.Table](mostTables)}
	if err := p.Change(c); err != nil {
		return nil, err
	}
	return p, nil
}

// Change puts another configuration into force. Connections that are open keep the one they
// began with, and sandboxes the authority that they were given. A faulty one changes nothing.
func (p *Proxy) Change(c Config) error {
	made, err := settingsOf(c)
	if err == nil {
		p.now.Store(made)
	}
	return err
}

// Check says why a proxy cannot go by a configuration.
func Check(c Config) error {
	_, err := settingsOf(c)
	return err
}

func settingsOf(c Config) (*settings, error) {
	if err := required.Fields("egress", map[string]bool{
		"Judge": c.Judge == nil, "Recorder": c.Recorder == nil, "Resolver": c.Resolver == nil, "Dialer": c.Dialer == nil,
		"Floor": c.Floor == nil, "Key": len(c.Key) == 0, "Roots": c.Roots == nil, "Limits": c.Limits == Limits{},
	}); err != nil {
		return nil, err
	}
	made, err := newAuthorities(c.Key, c.Authority)
	return &settings{c, made}, err
}

// stepTime bounds each of a head, a handshake, a resolving and a dialling.
const stepTime = 10 * time.Second

// First bytes of SOCKS, which no HTTP request begins with.
const (
	socksVersion  = 0x05
	socks4Version = 0x04
)

// Serve serves one connection of a sandbox to its end, and closes it. Of says on whose
// behalf: the session, the request and the backend. Swapped are the variables whose values
// are put in for their stand-ins. Hear is told what becomes of it.
func (p *Proxy) Serve(ctx context.Context, conn net.Conn, of bailiff.Connection, swapped []bailiff.Swapped, hear bailiff.ConnectionHearer) {
	heard := p.forConnection(of, swapped, hear)
	end, excess := p.meter.begin(ctx, of.Sandbox, heard.config.Limits)
	defer end()
	heard.excess = excess
	heard.serve(ctx, conn, of)
}

// forConnection is the proxy for one connection.
func (p *Proxy) forConnection(of bailiff.Connection, swapped []bailiff.Swapped, hear bailiff.ConnectionHearer) *Proxy {
	heard, now := *p, p.now.Load()
	heard.config, heard.authorities = now.config, p.authoritiesOf(of.Sandbox)
	heard.swapped, heard.standIns = swapped, swap.NewFinder(swapped)
	heard.dead = p.past.others(of, swapped)
	heard.hear, heard.config.Recorder = hear, telling{now.config.Recorder, hear}
	return &heard
}

func (p *Proxy) serve(ctx context.Context, conn net.Conn, of bailiff.Connection) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if conn.SetReadDeadline(time.Now().Add(stepTime)) != nil {
		return
	}
	if c, may := conn.(direct); may && c.Direct().IsValid() {
		p.serveDirect(ctx, conn, c.Direct(), of)
		return
	}
	from := bufio.NewReader(conn)
	first, err := from.Peek(1)
	if err != nil {
		return
	}
	client := &buffered{conn, from}
	switch first[0] {
	case socksVersion:
		p.serveSOCKS(ctx, client, of)
	case socks4Version:
		p.refuseSOCKS4(ctx, client, of)
	default:
		p.serveHTTP(ctx, client, of)
	}
}

// buffered is a connection of which some was read ahead.
type buffered struct {
	net.Conn
	from *bufio.Reader
}

// Read reads what was read ahead first.
func (b *buffered) Read(to []byte) (int, error) { return b.from.Read(to) }

// CloseWrite ends what is said, where the connection below can do so.
func (b *buffered) CloseWrite() error { return closeWrite(b.Conn) }

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
