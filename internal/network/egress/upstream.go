package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// ProxyDialer dials by another proxy, which is told addresses only, by CONNECT.
type ProxyDialer struct {
	// URL is that of the proxy: http or https, with a port.
	URL *url.URL
	// Login is user:password; it may be empty.
	Login bailiff.Secret
}

// Dial asks check about the address before the proxy is told of it.
func (d ProxyDialer) Dial(ctx context.Context, to netip.AddrPort, check func(netip.AddrPort) error) (net.Conn, error) {
	if err := check(to); err != nil {
		return nil, err
	}
	conn, err := d.reach(ctx)
	if err != nil {
		return nil, fmt.Errorf("dialling the upstream proxy: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	opened, err := d.ask(conn, to)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return opened, nil
}

// reach connects to the proxy.
func (d ProxyDialer) reach(ctx context.Context) (net.Conn, error) {
	if d.URL.Scheme == "https" {
		return (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", d.URL.Host)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", d.URL.Host)
}

// ask has the proxy connect.
func (d ProxyDialer) ask(conn net.Conn, to netip.AddrPort) (net.Conn, error) {
	if err := conn.SetDeadline(time.Now().Add(stepTime)); err != nil {
		return nil, err
	}
	r := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: to.String()}, Host: to.String(), Header: http.Header{}}
	if login := d.Login.Reveal(); login != "" {
		r.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login)))
	}
	if err := r.Write(conn); err != nil {
		return nil, fmt.Errorf("asking the upstream proxy: %w", err)
	}
	from := bufio.NewReader(conn)
	answer, err := http.ReadResponse(from, r)
	if err != nil {
		return nil, fmt.Errorf("hearing the upstream proxy: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the upstream proxy answered %d", answer.StatusCode)
	}
	return &buffered{conn, from}, conn.SetDeadline(time.Time{})
}
