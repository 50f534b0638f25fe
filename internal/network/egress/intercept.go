package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// intercept ends the TLS of a program here, and serves the requests in it.
func (p *Proxy) intercept(ctx context.Context, client net.Conn, d *destination) {
	outside := gather(client)
	defer outside.flush()
	inside := tls.Server(outside, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, SessionTicketsDisabled: true,
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if no := nameRefusal(d.c, hello.ServerName); no != nil {
				return nil, no
			}
			return p.authorities.certificate(d.c.Sandbox, d.to.Host)
		},
	})
	if client.SetDeadline(time.Now().Add(stepTime)) != nil {
		return
	}
	if err := inside.HandshakeContext(ctx); err != nil {
		if no := handshakeRefusal(d.c, err); no != nil {
			p.recordRefusal(ctx, d.c, no)
		}
		return
	}
	if client.SetDeadline(time.Time{}) != nil {
		return
	}
	p.inside(ctx, inside, d)
}

// nameRefusal is the refusal of TLS for another name than the one that was judged. TLS names no addresses.
func nameRefusal(c bailiff.Connection, name string) *refusal {
	if name == c.Host && !c.IsAddress || name == "" && c.IsAddress {
		return nil
	}
	return refuse(c, ruleMismatch, "The name in TLS is another than the host of the connection.", "Use one name.")
}

// handshakeRefusal says why TLS could not be ended here; nothing if the program has just gone.
func handshakeRefusal(c bailiff.Connection, err error) *refusal {
	var no *refusal
	var plain tls.RecordHeaderError
	var network *net.OpError
	switch {
	case errors.As(err, &no):
		return no
	case errors.As(err, &plain):
		return refuse(c, ruleOpaque, "The connection is no TLS.", "Use https, or a row with protocol: tcp.")
	case errors.As(err, &network) && network.Op == "remote error":
		return refuse(c, "egress.untrusted", "The program does not trust the certificate of the sandbox.",
			"Have it use the certificates in the file that SSL_CERT_FILE names.")
	case errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled):
		return nil
	}
	return refuse(c, ruleOpaque, "The proxy does not speak this kind of TLS.", "Use TLS 1.2 or later.")
}
