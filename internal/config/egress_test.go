package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
	"github.com/bailiff-dev/bailiff/internal/host/trust/certificates"
)

// issuedIn writes an authority that another one has issued, without and with the certificate of
// that one below it.
func issuedIn(t *testing.T, folder string) {
	t.Helper()
	above, signer, err := EgressCA{Certificate: filepath.Join(folder, "ca.pem"), Key: filepath.Join(folder, "ca.key")}.Read()
	must(t, err)
	certificateIn(t, folder, "issued", true, time.Now().Add(time.Hour))
	below, err := certificates.Read(filepath.Join(folder, "issued.pem"))
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "issued"}, IsCA: true,
		NotBefore: below[0].NotBefore, NotAfter: below[0].NotAfter, BasicConstraintsValid: true}
	issued, err := x509.CreateCertificate(rand.Reader, template, above[0], below[0].PublicKey, signer)
	must(t, err)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: issued})
	must(t, os.WriteFile(filepath.Join(folder, "issued.pem"), text, 0o600))
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: above[0].Raw})...)
	must(t, os.WriteFile(filepath.Join(folder, "chain.pem"), text, 0o600))
}

// certificateIn writes a certificate and its key into two files of a folder.
func certificateIn(t *testing.T, folder, name string, isCA bool, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until, IsCA: isCA, BasicConstraintsValid: true}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	for suffix, block := range map[string]pem.Block{
		".pem": {Type: "CERTIFICATE", Bytes: certificate}, ".key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		must(t, os.WriteFile(filepath.Join(folder, name+suffix), pem.EncodeToMemory(&block), 0o600))
	}
}

func TestTheFilesOfTheSectionEgressAreLookedAt(t *testing.T) {
	folder := t.TempDir()
	later := time.Now().Add(time.Hour)
	certificateIn(t, folder, "ca", true, later)
	issuedIn(t, folder)
	certificateIn(t, folder, "other", true, later)
	certificateIn(t, folder, "leaf", false, later)
	certificateIn(t, folder, "past", true, time.Now().Add(-time.Hour))
	must(t, os.WriteFile(filepath.Join(folder, "text"), []byte("no PEM at all"), 0o600))
	must(t, os.WriteFile(filepath.Join(folder, "login"), []byte("a password alone"), 0o600))
	certificateIn(t, folder, "loose", true, later)
	must(t, os.Chmod(filepath.Join(folder, "loose.key"), 0o644))
	for text, want := range map[string]string{
		"trust: [ca.pem]":                                      "",
		"trust: [ca.pem, text]":                                "egress.trust[1]: FOLDER/text holds no certificate as PEM",
		"ca: {certificate: ca.pem, key: {file: ca.key}}":       "",
		"ca: {certificate: ca.pem, key: {file: other.key}}":    "egress.ca: the key in FOLDER/other.key is not that of the certificate in",
		"ca: {certificate: ca.pem, key: {file: text}}":         "egress.ca: FOLDER/text holds no private key as PEM",
		"ca: {certificate: leaf.pem, key: {file: leaf.key}}":   "egress.ca: the certificate in FOLDER/leaf.pem is none of an authority",
		"ca: {certificate: past.pem, key: {file: past.key}}":   "egress.ca: the certificate in FOLDER/past.pem is not valid now",
		"ca: {certificate: loose.pem, key: {file: loose.key}}": "egress.ca: others may use FOLDER/loose.key",
		`upstream_proxy: {url: "http://p:3128", credential: {file: login}}`: "egress.upstream_proxy.credential: the credential is not " +
			"user:password",
		`upstream_proxy: {url: "http://p:3128", credential: {file: gone}}`: "egress.upstream_proxy.credential: " +
			"there is no file FOLDER/gone",
		"ca: {certificate: chain.pem, key: {file: issued.key}}": "",
		"ca: {certificate: issued.pem, key: {file: issued.key}}": "egress.ca: the last certificate in FOLDER/issued.pem " +
			"is issued by CN=root",
	} {
		path := filepath.Join(folder, "bailiff.yaml")
		must(t, os.WriteFile(path, []byte("state_dir: state\negress:\n  "+text+"\n"), 0o600))
		_, o, err := Check(path, catalogue.All())
		must(t, err)
		var found []string
		for _, f := range o.Faults {
			if strings.Contains(f.Error(), ": egress.") {
				found = append(found, f.Error())
			}
		}
		got := strings.Join(found, "\n")
		if want != "" {
			want = path + ":3: " + strings.ReplaceAll(want, "FOLDER", folder)
		}
		if !strings.HasPrefix(got, want) || (want == "") != (got == "") || len(found) > 1 {
			t.Errorf("of %s it says\n%s, want\n%s", text, got, want)
		}
	}
}
