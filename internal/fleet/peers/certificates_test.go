package peers_test

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/fleet/peers"
)

func TestCertificatesAreForTheNamesOfTheirPeersAndAreNeverOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := peers.OpenAuthority(dir)
	backendtest.Must(t, err)
	if !a.Made {
		t.Error("it was there before")
	}
	one := peers.Peer{Name: "one", Hosts: []string{"one.example.com", "192.0.2.1"}}
	backendtest.Must(t, a.Issue([]peers.Peer{one}, time.Hour))

	authority, certificate := x509.NewCertPool(), parsed(t, filepath.Join(dir, "one.pem"))
	authority.AddCert(parsed(t, a.Certificate))
	for host, want := range map[string]bool{"one.example.com": true, "192.0.2.1": true, "two.example.com": false, "one": false} {
		for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
			_, err := certificate.Verify(x509.VerifyOptions{Roots: authority, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}})
			if (err == nil) != want {
				t.Errorf("for %s, usage %v: %v", host, usage, err)
			}
		}
	}
	files, err := os.ReadDir(dir)
	backendtest.Must(t, err)
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, %v", file.Name(), info.Mode(), err)
		}
	}

	again, err := peers.OpenAuthority(dir)
	if backendtest.Must(t, err); again.Made {
		t.Error("another authority was made")
	}
	two := peers.Peer{Name: "two", Hosts: []string{"two"}}
	if err := again.Issue([]peers.Peer{two, one}, time.Hour); err == nil || !strings.Contains(err.Error(), "one.pem is there already") {
		t.Errorf("a second time: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "two.pem")); err == nil {
		t.Error("some were made")
	}
	backendtest.Must(t, again.Issue([]peers.Peer{two}, time.Hour))
	if _, err := parsed(t, filepath.Join(dir, "two.pem")).Verify(x509.VerifyOptions{Roots: authority, DNSName: "two"}); err != nil {
		t.Errorf("one that was made later: %v", err)
	}
	if err := again.Issue([]peers.Peer{{Name: "three", Hosts: []string{"three"}}}, 20*365*24*time.Hour); err == nil {
		t.Error("one that outlives its authority is made")
	}
	backendtest.Must(t, os.Remove(a.Key))
	if _, err := peers.OpenAuthority(dir); err == nil {
		t.Error("an authority without its key is replaced")
	}
}

func parsed(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(path)
	backendtest.Must(t, err)
	block, _ := pem.Decode(text)
	one, err := x509.ParseCertificate(block.Bytes)
	backendtest.Must(t, err)
	return one
}
