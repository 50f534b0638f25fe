package egress

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	_ "golang.org/x/crypto/x509roots/fallback" // for a sidecar on a machine without certificates
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/bailiff-dev/bailiff/internal/network/reach"
	"github.com/bailiff-dev/bailiff/internal/recent"
)

// KeySize is how many bytes the key has from which the keys of sandboxes' authorities come.
const KeySize = 32

// A leaf holds for leafFor, its first half a margin for clocks that go wrong; it is made
// anew a quarter before its end. So many are remembered, and as many certificates of sandboxes.
const (
	leafFor    = 48 * time.Hour
	mostLeaves = 1024
)

// The time for which an authority holds is fixed, so that a certificate made after a restart
// is the one that programs in the sandbox trust.
var (
	authorityFrom  = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	authorityUntil = time.Date(2049, 12, 31, 0, 0, 0, 0, time.UTC)
)

// authorities make the certificates that programs in sandboxes see. Each sandbox has an
// authority of its own, whose key is derived whenever it is needed and is kept nowhere.
type authorities struct {
	key    []byte
	own    *Authority        // of an organisation, if there is one
	leaf   *ecdsa.PrivateKey // of all leaves of this process
	leaves *recent.Map[leafOf, *tls.Certificate]
	// certificates are those of sandboxes' authorities, which take longer to make than their keys to derive.
	certificates *recent.Map[string, *x509.Certificate]
}

// leafOf is a host as a sandbox sees it.
type leafOf struct {
	sandbox string
	host    reach.Host
}

// Authority is an organisation's own, by which the certificates of all sandboxes are made.
type Authority struct {
	// Chain is its certificate, and those of the authorities above it up to a root.
	Chain []*x509.Certificate
	Key   crypto.Signer
}

func newAuthorities(key []byte, own *Authority) (*authorities, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("making certificates: the key has %d bytes, want %d", len(key), KeySize)
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key of certificates: %w", err)
	}
	return &authorities{key, own, leaf, recent.New[leafOf, *tls.Certificate](mostLeaves),
		recent.New[string, *x509.Certificate](mostLeaves)}, nil
}

// Trust is the certificate, in PEM, of the authority that programs in a sandbox are to trust.
// It is the same after a restart. Others are those of public authorities, for programs whose
// TLS is left closed in a sandbox that knows none.
func (p *Proxy) Trust(sandbox string) (certificate, others []byte, err error) {
	now := p.now.Load().authorities
	if certificate, err = now.pem(sandbox); err != nil {
		return nil, nil, err
	}
	p.given.Put(sandbox, now)
	return certificate, publicRoots(), nil
}

// publicRoots are those that Mozilla trusts without a condition, in PEM.
var publicRoots = sync.OnceValue(func() (all []byte) {
	for root := range bundle.Roots() {
		if root.Constraint == nil { // which a file could not say
			all = append(all, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})...)
		}
	}
	return all
})

func (a *authorities) pem(sandbox string) ([]byte, error) {
	chain, _, err := a.of(sandbox)
	if err != nil {
		return nil, err
	}
	var text []byte
	for _, one := range chain {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Raw})...)
	}
	return text, nil
}

// authoritiesOf are those that a sandbox was told to trust, or else the present ones.
func (p *Proxy) authoritiesOf(sandbox string) *authorities {
	if given, ok := p.given.Get(sandbox); ok {
		return given
	}
	return p.now.Load().authorities
}

// of is the organisation's authority with those above it, or makes that of a sandbox.
func (a *authorities) of(sandbox string) ([]*x509.Certificate, crypto.Signer, error) {
	if sandbox == "" {
		return nil, nil, errors.New("making certificates: the sandbox has no name")
	}
	if a.own != nil {
		return a.own.Chain, a.own.Key, nil
	}
	key, err := a.derive(sandbox)
	if err != nil {
		return nil, nil, fmt.Errorf("deriving the key of a sandbox: %w", err)
	}
	if known, ok := a.certificates.Get(sandbox); ok {
		return []*x509.Certificate{known}, key, nil
	}
	name := sha256.Sum256([]byte(sandbox))
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(name[:8]), Subject: pkix.Name{CommonName: "bailiff sandbox " + hex.EncodeToString(name[:8])},
		NotBefore: authorityFrom, NotAfter: authorityUntil, KeyUsage: x509.KeyUsageCertSign,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
	}
	bytes, err := x509.CreateCertificate(nil, template, template, key.Public(), key) // without chance, for the same bytes each time
	if err != nil {
		return nil, nil, fmt.Errorf("making the authority of a sandbox: %w", err)
	}
	certificate, err := x509.ParseCertificate(bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the authority of a sandbox: %w", err)
	}
	a.certificates.Put(sandbox, certificate)
	return []*x509.Certificate{certificate}, key, nil
}

// derive makes the key of a sandbox's authority. A number that is no key of the curve, of
// which there are few, is passed over.
func (a *authorities) derive(sandbox string) (key *ecdsa.PrivateKey, err error) {
	for try := range 8 {
		info := fmt.Sprintf("bailiff sandbox authority %d %s", try, sandbox)
		scalar, err := hkdf.Key(sha256.New, a.key, nil, info, KeySize)
		if err != nil {
			return nil, err
		}
		if key, err = ecdsa.ParseRawPrivateKey(elliptic.P256(), scalar); err == nil {
			return key, nil
		}
	}
	return nil, errors.New("no number is a key")
}

// certificate is the leaf of a host for a sandbox.
func (a *authorities) certificate(sandbox string, host reach.Host) (*tls.Certificate, error) {
	of := leafOf{sandbox, host}
	if known, ok := a.leaves.Get(of); ok && time.Until(known.Leaf.NotAfter) > leafFor/4 {
		return known, nil
	}
	chain, key, err := a.of(sandbox)
	if err != nil {
		return nil, err
	}
	authority := chain[0]
	template := &x509.Certificate{
		NotBefore: time.Now().Add(-leafFor / 2), NotAfter: time.Now().Add(leafFor / 2), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	if authority.NotAfter.Before(template.NotAfter) {
		template.NotAfter = authority.NotAfter
	}
	if address, ok := host.Address(); ok {
		template.IPAddresses = append(template.IPAddresses, address.AsSlice())
	} else {
		template.DNSNames = []string{host.String()}
	}
	bytes, err := x509.CreateCertificate(rand.Reader, template, authority, a.leaf.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(bytes)
	if err != nil {
		return nil, fmt.Errorf("reading a certificate: %w", err)
	}
	made := &tls.Certificate{Certificate: [][]byte{bytes}, PrivateKey: a.leaf, Leaf: leaf}
	for _, one := range chain {
		made.Certificate = append(made.Certificate, one.Raw)
	}
	a.leaves.Put(of, made)
	return made, nil
}
