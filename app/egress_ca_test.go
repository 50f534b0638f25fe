package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// organisation writes the certificate and key of an authority into a folder.
func organisation(t *testing.T) (section string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Organisation"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	must(t, err)
	folder := openDir(t)
	ca, secret := filepath.Join(folder, "ca.pem"), filepath.Join(folder, "ca.key")
	save(t, ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})))
	must(t, os.WriteFile(secret, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	return "ca: {certificate: " + ca + ", key: {file: " + secret + "}}"
}

func TestProgramsTrustTheOrganisationsAuthority(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "served "+r.URL.Path) }))
	t.Cleanup(server.Close)
	section, port := reaching(t, server)
	section = strings.TrimSuffix(section, "}") + ", " + organisation(t) + "}"
	for backend, backendSection := range isolated {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			s := startOffice(t, openDir(t), onePerson(t, backendSection, section,
				wayOut(t, "      repo.example.com: [{ports: ["+port+"], methods: [GET]}]\n")))
			req := inPython("s", `import subprocess, urllib.request
at = "https://repo.example.com:`+port+`/a"
print("urllib", urllib.request.urlopen(at, timeout=20).read().decode())
seen = subprocess.run(["curl", "-sSv", at], capture_output=True, text=True, timeout=60)
print("curl", seen.stdout, [line for line in seen.stderr.splitlines() if "issuer" in line])
`)
			a := ask(t, s.agent, req)
			wants(t, a, bailiff.Completed, "")
			if !strings.Contains(a.Output, "urllib served /a\ncurl served /a [") ||
				!strings.Contains(a.Output, "issuer: CN=Organisation'") {
				t.Errorf("it printed %q", a.Output)
			}
		})
	}
}
