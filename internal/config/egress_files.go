package config

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/trust"
)

// ReadCertificates reads the certificates in a file, as PEM.
func ReadCertificates(path string) (all []*x509.Certificate, err error) {
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

// Read reads the authority, which must be one, with a key that fits. Below its certificate are
// those of the authorities above it, up to a root: programs trust no other.
func (ca EgressCA) Read() ([]*x509.Certificate, crypto.Signer, error) {
	text, err := trust.Public(ca.Certificate)
	if err != nil {
		return nil, nil, err
	}
	key, err := trust.Secret(ca.Key)
	if err != nil {
		return nil, nil, err
	}
	chain, err := ReadCertificates(ca.Certificate)
	if err != nil {
		return nil, nil, err
	}
	if !bytes.Contains(key, []byte("PRIVATE KEY-----")) {
		return nil, nil, fmt.Errorf("%s holds no private key as PEM (-----BEGIN PRIVATE KEY-----)", ca.Key)
	}
	pair, err := tls.X509KeyPair(text, key)
	if err != nil {
		return nil, nil, fmt.Errorf("the key in %s is not that of the certificate in %s", ca.Key, ca.Certificate)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	switch c := pair.Leaf; {
	case !ok:
		return nil, nil, fmt.Errorf("the key in %s cannot sign", ca.Key)
	case !c.IsCA || !c.BasicConstraintsValid || c.KeyUsage != 0 && c.KeyUsage&x509.KeyUsageCertSign == 0:
		return nil, nil, fmt.Errorf("the certificate in %s is none of an authority: want CA:TRUE and the usage keyCertSign", ca.Certificate)
	case time.Now().After(c.NotAfter) || time.Now().Before(c.NotBefore):
		return nil, nil, fmt.Errorf("the certificate in %s is not valid now: it is from %s to %s", ca.Certificate,
			c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly))
	}
	if last := chain[len(chain)-1]; last.CheckSignatureFrom(last) != nil {
		return nil, nil, fmt.Errorf("the last certificate in %s is issued by %s: want that one's certificate below it, up to a root",
			ca.Certificate, last.Issuer)
	}
	return chain, signer, nil
}

var errNoUser = errors.New("the credential is not user:password")

// Login reads the user and the password for the proxy; both are empty without a credential.
func (p UpstreamProxy) Login() (bailiff.Secret, error) {
	if !p.Credential.Given() {
		return bailiff.Secret{}, nil
	}
	login, err := p.Credential.Read()
	if err == nil && !strings.Contains(login.Reveal(), ":") {
		err = errNoUser
	}
	return login, err
}

// lookAtEgress looks at the files that the section names.
func (r *reader) lookAtEgress(o *Outlook, e Egress) {
	for i, path := range e.Trust {
		_, err := ReadCertificates(path)
		r.note(o, fmt.Sprintf("egress.trust[%d]", i), err)
	}
	if e.CA != (EgressCA{}) {
		_, _, err := e.CA.Read()
		r.note(o, "egress.ca", err)
	}
	if _, err := e.UpstreamProxy.Login(); errors.Is(err, errNoUser) {
		r.note(o, "egress.upstream_proxy.credential", err)
	}
}
