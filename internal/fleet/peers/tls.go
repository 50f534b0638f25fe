package peers

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
	"github.com/bailiff-dev/bailiff/internal/host/trust/certificates"
)

// TLS names the files by which sidecars know each other.
type TLS struct {
	// Certificate is this sidecar's, for the name in its address, and Key is the key to it. Both
	// are read anew for each connection, so that they can be renewed.
	Certificate, Key string
	// Authority holds the certificates of who vouches for the fleet's sidecars, and for nothing else.
	Authority string
}

func (t TLS) pair() (*tls.Certificate, error) {
	pair, err := certificates.KeyPair(t.Certificate, t.Key)
	if err != nil {
		return nil, fmt.Errorf("reading certificate and key of store.peer: %w", err)
	}
	return pair, nil
}

func (t TLS) authority() (*x509.CertPool, error) {
	text, err := trust.Public(t.Authority)
	if err != nil {
		return nil, fmt.Errorf("reading the authority of store.peer: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s of store.peer holds no certificate in PEM", t.Authority)
	}
	return pool, nil
}

func (t TLS) client() (*tls.Config, error) {
	authority, err := t.authority()
	if err == nil {
		_, err = t.pair()
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: authority,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.pair() }}, err
}

func (t TLS) server() (*tls.Config, error) {
	authority, err := t.authority()
	return &tls.Config{MinVersion: tls.VersionTLS13, ClientCAs: authority, ClientAuth: tls.RequireAndVerifyClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.pair() }}, err
}
