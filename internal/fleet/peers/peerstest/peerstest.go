// Package peerstest makes what tests of several sidecars need: an authority and certificates of its.
//
// Not here: the sidecars themselves (internal/fleet/peers, app).
package peerstest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// Authority vouches for sidecars on this machine.
type Authority struct {
	// Path is the file with its certificate.
	Path string

	folder string
	about  *x509.Certificate
	key    *ecdsa.PrivateKey
}

// New makes an authority that lasts as long as the test.
func New(tb testing.TB) *Authority {
	tb.Helper()
	folder, err := os.MkdirTemp("", "peers")
	backendtest.Must(tb, err)
	tb.Cleanup(func() { _ = os.RemoveAll(folder) })
	a := &Authority{folder: folder}
	a.Path, _ = a.Issue(tb, "authority")
	return a
}

// Issue makes a certificate for 127.0.0.1, and the key to it.
func (a *Authority) Issue(tb testing.TB, name string) (certificate, key string) {
	tb.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	backendtest.Must(tb, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: a.about == nil, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth}}
	if a.about == nil {
		a.about, a.key = about, own
	}
	signed, err := x509.CreateCertificate(rand.Reader, about, a.about, own.Public(), a.key)
	backendtest.Must(tb, err)
	secret, err := x509.MarshalPKCS8PrivateKey(own)
	backendtest.Must(tb, err)
	return a.write(tb, name+".pem", "CERTIFICATE", signed), a.write(tb, name+".key", "PRIVATE KEY", secret)
}

func (a *Authority) write(tb testing.TB, name, kind string, bytes []byte) string {
	tb.Helper()
	path := filepath.Join(a.folder, name)
	backendtest.Must(tb, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600))
	return path
}
