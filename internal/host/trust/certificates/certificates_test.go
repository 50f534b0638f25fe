package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestACertificateIsReadWithItsOwnKeyOnly(t *testing.T) {
	folder := t.TempDir()
	file := func(name, kind string, der []byte, err error) string {
		t.Helper()
		must(t, err)
		path := filepath.Join(folder, name)
		must(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return path
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	another, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	made := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	certificate := file("c.pem", "CERTIFICATE", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(key)
	own := file("own.key", "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKCS8PrivateKey(another)
	other := file("other.key", "PRIVATE KEY", der, err)
	open := filepath.Join(folder, "open.key")
	must(t, os.WriteFile(open, []byte("x"), 0o600))
	must(t, os.Chmod(open, 0o644)) // whatever the umask
	for _, c := range []struct{ certificate, key, want string }{
		{certificate, own, ""},
		{certificate, other, "is not that of the certificate in " + certificate},
		{certificate, certificate, "holds no private key as PEM"},
		{certificate, open, "others may use " + open},
		{own, own, "holds no certificate as PEM"},
	} {
		if _, err := KeyPair(c.certificate, c.key); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want %q", c.certificate, c.key, err, c.want)
		}
	}
}

// must ends a test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
