package config

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

	"github.com/bailiff-dev/bailiff/backends/catalogue"
)

// certificateIn writes a certificate and its key into two files of a folder.
func certificateIn(t *testing.T, folder, name string, isCA bool, until time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until, IsCA: isCA,
		BasicConstraintsValid: true}
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
