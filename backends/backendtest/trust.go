package backendtest

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/runner"
)

// TrustsWithoutVariables has programs that were given no variable speak TLS by the outlet of
// a sandbox that has none yet, and see that they trust its certificate as the image's own.
func TrustsWithoutVariables(t *testing.T, sandbox backends.Sandbox) {
	t.Helper()
	authority, leaf := certificates(t, "name.test")
	facts, err := sandbox.(backends.Outlet).OpenOutlet(t.Context(), backends.OutletTerms{MostConnections: 16, CA: authority},
		func(c backends.OutletConn) { answerInTLS(c, leaf) })
	Must(t, err)
	const asks = `import http.client
c = http.client.HTTPSConnection("127.0.0.1", %d)
c.set_tunnel("name.test", 443)
c.request("GET", "/")
print(c.getresponse().read().decode(), end="")`
	for _, c := range []struct{ script, want string }{
		{fmt.Sprintf("curl -sS --proxy http://127.0.0.1:%d https://name.test/", facts.Port), "by name.test"},
		{fmt.Sprintf("python3 -c '"+asks+"'", facts.Port), "by name.test"},
		{"openssl verify " + facts.CAFile, facts.CAFile + ": OK\n"},
		{"[ $(grep -c BEGIN /etc/ssl/certs/ca-certificates.crt) -gt 100 ] && echo with the others", "with the others\n"},
	} {
		cmd := runner.Shell("exec env -i PATH=\"$PATH\" bash <<'END'\n" + c.script + "\nEND\n")
		cmd.Timeout, cmd.HeadBytes = time.Minute, 1<<16
		var said strings.Builder
		if _, err := sandbox.Run(t.Context(), cmd, func(p []byte) { said.Write(p) }); err != nil || said.String() != c.want {
			t.Errorf("%s\nsays %q, %v, want %q", c.script, said.String(), err, c.want)
		}
	}
}

// answerInTLS is a proxy that is every server itself.
func answerInTLS(c backends.OutletConn, leaf tls.Certificate) {
	defer c.Close()
	asked, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil || asked.Method != http.MethodConnect {
		return
	}
	_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
	inside := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{leaf}, MinVersion: tls.VersionTLS12})
	defer inside.Close()
	if asked, err := http.ReadRequest(bufio.NewReader(inside)); err == nil {
		text := "by " + asked.Host
		fmt.Fprintf(inside, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(text), text)
	}
}

// certificates are an authority, in PEM, and one of its certificates.
func certificates(t *testing.T, name string) (authority []byte, leaf tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Must(t, err)
	above := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the tests' authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour)}
	below := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, NotBefore: above.NotBefore, NotAfter: above.NotAfter}
	root, err := x509.CreateCertificate(rand.Reader, above, above, key.Public(), key)
	Must(t, err)
	end, err := x509.CreateCertificate(rand.Reader, below, above, key.Public(), key)
	Must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}), tls.Certificate{Certificate: [][]byte{end}, PrivateKey: key}
}
