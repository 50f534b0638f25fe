// Package certificates reads certificates and their keys from files that are relied on.
//
// Promised here: a certificate's file is public and a key's is secret, as package trust has it.
// Not here: which certificates are wanted, and whom they are shown. It is a package of its own so that
// small programs need no cryptography.
package certificates

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// Read reads the certificates in a file that is public, as PEM.
func Read(path string) (all []*x509.Certificate, err error) {
	text, err := trust.Public(path)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: certificate %d: %w", path, len(all)+1, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds no certificate as PEM (-----BEGIN CERTIFICATE-----)", path)
	}
	return all, nil
}

// KeyPair reads a certificate, and the file of its key, which is secret.
func KeyPair(certificate, key string) (*tls.Certificate, error) {
	chain, err := Read(certificate)
	if err != nil {
		return nil, err
	}
	private, err := trust.Secret(key)
	if err != nil {
		return nil, err
	}
	if !bytes.Contains(private, []byte("PRIVATE KEY-----")) {
		return nil, fmt.Errorf("%s holds no private key as PEM (-----BEGIN PRIVATE KEY-----)", key)
	}
	var public []byte
	for _, one := range chain {
		public = append(public, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Raw})...)
	}
	pair, err := tls.X509KeyPair(public, private)
	if err != nil {
		return nil, fmt.Errorf("the key in %s is not that of the certificate in %s", key, certificate)
	}
	return &pair, nil
}
