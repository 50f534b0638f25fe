package config

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/host/trust/certificates"
)

// Read reads the authority, which must be one, with a key that fits. Below its certificate are
// those of the authorities above it, up to a root: programs trust no other.
func (ca EgressCA) Read() ([]*x509.Certificate, crypto.Signer, error) {
	chain, err := certificates.Read(ca.Certificate)
	if err != nil {
		return nil, nil, err
	}
	pair, err := certificates.KeyPair(ca.Certificate, ca.Key)
	if err != nil {
		return nil, nil, err
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
	if !p.Credential.IsSet() {
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
		_, err := certificates.Read(path)
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
