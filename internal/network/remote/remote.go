// Package remote reaches other hosts by ssh: it runs commands there and opens
// connections from there, such as to the socket of a container engine.
//
// A [Host] is an address, not a connection. It connects when it is first asked for
// something and again when that connection has broken; what ran over a broken one
// has ended, and is never started anew. All that is asked for shares a connection
// until the host allows no more sessions on it, then there is a further one, which
// goes when it is not used any more. One that stays silent for as long as
// [Config.KeepAlive] says is closed, so that a dead host or line shows in bounded
// time, whatever waits for it.
//
// A host must show a key that a file of known hosts names (or a certificate of an
// authority that one names): a key that changed or was revoked is refused with the
// line that says otherwise, and an unknown host is refused unless the configuration
// trusts it the first time, which is then written down. Logging in is by keys: files
// that only their owner may read, or an agent. Hosts on the way are checked the same.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/bailiff-dev/bailiff"
)

// Config says which host, and how it knows us and we know it.
type Config struct {
	// Address is a name or number with a port; User is who logs in.
	Address, User string
	// Keys are files of private keys without a passphrase. Agent is the socket of a
	// program that holds further ones; empty means that none is asked.
	Keys  []string
	Agent string
	// KnownHosts are files in the format of ssh. One that is not there names no host.
	KnownHosts []string
	// TrustFirst is a file to which the key of a host is added that no file names. It
	// counts among the known hosts. Empty means that such a host is refused.
	TrustFirst string
	// Jump is the host from which this one is reached; nil means from here.
	Jump *Config
	// KeepAlive is how long the host may be silent; zero means 30 seconds.
	KeepAlive time.Duration
}

// Parse reads user@name or user@name:port, as a user and an address. Its errors do not
// repeat the text, which may hold a password.
func Parse(text string) (user, address string, err error) {
	user, address, _ = strings.Cut(text, "@")
	switch {
	case strings.Contains(user, ":") && address != "":
		return "", "", errors.New("want user@name or user@name:port without a password: log in by key")
	case user == "" || address == "" || strings.HasPrefix(user, "-") || strings.ContainsAny(address, "@/") ||
		strings.ContainsFunc(text, isUnseen):
		return "", "", errNoHost
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = address, "22"
		if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
			host = host[1 : len(host)-1]
		}
	}
	if _, err := net.LookupPort("tcp", port); err != nil || port == "" || !isName(host) {
		return "", "", errNoHost
	}
	return user, net.JoinHostPort(host, port), nil
}

var errNoHost = errors.New("want user@name or user@name:port")

func isUnseen(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// isName takes names, and numbers: these alone hold colons.
func isName(host string) bool {
	if !strings.ContainsAny(host, ":[]") {
		return host != ""
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Host is another machine.
type Host struct {
	cfg  Config
	jump *Host
	// connecting holds an element while no call looks for a connection.
	connecting chan struct{}

	mu          sync.Mutex
	connections []*connection
	closed      bool
}

// New checks the configuration. It does not connect yet.
func New(cfg Config) (*Host, error) {
	if cfg.KeepAlive == 0 {
		cfg.KeepAlive = 30 * time.Second
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, connecting: make(chan struct{}, 1)}
	h.connecting <- struct{}{}
	if cfg.Jump != nil {
		jump, err := New(*cfg.Jump)
		if err != nil {
			return nil, fmt.Errorf("the host on the way: %w", err)
		}
		h.jump = jump
	}
	return h, nil
}

func (c Config) check() error {
	var lacking []string
	for what, missing := range map[string]bool{
		"an address": c.Address == "", "a user": c.User == "", "a key or an agent": len(c.Keys) == 0 && c.Agent == "",
		"a file of known hosts": len(c.KnownHosts) == 0 && c.TrustFirst == "",
	} {
		if missing {
			lacking = append(lacking, what)
		}
	}
	if len(lacking) > 0 {
		slices.Sort(lacking)
		return fmt.Errorf("a host to be reached by ssh lacks %s", strings.Join(lacking, ", "))
	}
	if c.Jump != nil && c.Jump.User == c.User && strings.EqualFold(c.Jump.Address, c.Address) {
		return fmt.Errorf("jump is %s@%s, which is the host itself: name the one on the way, or leave it out", c.User, c.Address)
	}
	return nil
}

// Open connects from the host to an address there: network is "tcp", or "unix" for
// the path of a socket. What it returns has CloseWrite, and no deadlines.
func (h *Host) Open(ctx context.Context, network, address string) (net.Conn, error) {
	var opened net.Conn
	err := h.over(ctx, func(c *connection) (err error) {
		opened, err = c.open(ctx, network, address)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("connecting to %s at %s: %w", address, h, err)
	}
	return opened, nil
}

// Start starts a command, which the login shell of the user there reads.
func (h *Host) Start(ctx context.Context, command string) (*Process, error) {
	var p *Process
	err := h.over(ctx, func(c *connection) (err error) {
		p, err = c.start(ctx, command)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("starting a command at %s: %w", h, err)
	}
	return p, nil
}

// Silence is how long the host may be silent before it is given up.
func (h *Host) Silence() time.Duration { return h.cfg.KeepAlive }

// String names the host as its user would.
func (h *Host) String() string { return h.cfg.User + "@" + strings.TrimSuffix(h.cfg.Address, ":22") }

// Close ends all connections, with what runs over them.
func (h *Host) Close() error {
	h.mu.Lock()
	h.closed = true
	connections := slices.Clone(h.connections)
	h.mu.Unlock()
	for _, c := range connections {
		c.close()
	}
	if h.jump != nil {
		return h.jump.Close()
	}
	return nil
}

// over opens something over a connection, or over another one where it could not be
// opened for want of room or since the connection has broken; over a new one last.
func (h *Host) over(ctx context.Context, open func(*connection) error) error {
	var tried []*connection
	for {
		c, fresh, err := h.enter(ctx, tried)
		if err != nil {
			return bailiff.ForeignError(err)
		}
		if err = open(c); err == nil {
			return nil
		}
		c.leave()
		var full *unopened
		if fresh || ctx.Err() != nil || !errors.As(err, &full) {
			return bailiff.ForeignError(err)
		}
		tried = append(tried, c)
	}
}

// enter makes its caller a user of a connection that was not tried yet, a new one if
// there is no other.
func (h *Host) enter(ctx context.Context, tried []*connection) (c *connection, fresh bool, err error) {
	select {
	case <-h.connecting:
		defer func() { h.connecting <- struct{}{} }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if c := h.standing(tried); c != nil {
		return c, false, nil
	}
	c, err = h.connect(ctx)
	if err != nil {
		return nil, true, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		c.close()
		return nil, true, net.ErrClosed
	}
	c.users = 1
	h.connections = append(h.connections, c)
	return c, true, nil
}

func (h *Host) standing(tried []*connection) *connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connections = slices.DeleteFunc(h.connections, (*connection).broken)
	for _, c := range h.connections {
		if !slices.Contains(tried, c) {
			c.users++
			return c
		}
	}
	return nil
}

// left is told that a connection has one user less. One that is not the first and
// serves no caller goes.
func (h *Host) left(c *connection) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := slices.Index(h.connections, c)
	if c.users--; c.users == 0 && at > 0 {
		h.connections = slices.Delete(h.connections, at, at+1)
		c.close()
	}
}
