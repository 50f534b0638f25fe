package docker

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/runner"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

func TestConformanceByTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: the suite once more, over TLS")
	}
	all := newAuthority(t)
	relay := startRelayTLS(t, all.engine(t))
	conform(t, Config{Host: relay.host(), TLS: all.files})
}

// conform tries what rests on the stream on the test engine, reached in another way.
func conform(t *testing.T, cfg Config) {
	t.Helper()
	spec := testSpec(t)
	spec.PIDs, spec.MemoryMB = 512, 512
	backendtest.Run(t, backendtest.Config{
		Open: func(t testing.TB) backends.Backend {
			return testBackend(t, func(c *Config) { c.Host, c.TLS, c.SSH, c.StateDir = cfg.Host, cfg.TLS, cfg.SSH, t.TempDir() })
		},
		Spec:  spec,
		Tries: backendtest.OnStream,
	})
}

func TestAnEngineBehindTLSIsTheOneThatIsMeantAndKnowsUs(t *testing.T) {
	ours, others := newAuthority(t), newAuthority(t)
	open := startRelayTLS(t, ours.engine(t))
	elsewhere := ours.engine(t)
	elsewhere.Certificates[0] = ours.issue(t, "engine.test", time.Hour)
	misnamed := startRelayTLS(t, elsewhere)
	plain := "tcp://" + serveNothing(t)
	expired := ours.files
	expired.Cert, expired.Key = ours.write(t, "expired", ours.issue(t, "client", -time.Hour))
	foreign := others.files
	foreign.CA = ours.files.CA
	readable := ours.files
	readable.Cert, readable.Key = ours.write(t, "readable", ours.issue(t, "client", time.Hour))
	backendtest.Must(t, os.Chmod(readable.Key, 0o644))
	for _, c := range []struct {
		name, host string
		files      TLS
		says       string
	}{
		{"as it should be", open.host(), ours.files, ""},
		{"another authority's engine", open.host(), TLS{CA: others.files.CA, Cert: ours.files.Cert, Key: ours.files.Key},
			"signed by nobody in " + others.files.CA},
		{"an engine of nobody whom this machine trusts", open.host(), TLS{Cert: ours.files.Cert, Key: ours.files.Key},
			"signed by nobody in this machine's authorities"},
		{"another engine of the authority", misnamed.host(), ours.files, "its certificate is not good"},
		{"no certificate of ours", open.host(), TLS{CA: ours.files.CA}, "set backends.docker.tls.cert and key"},
		{"another authority's certificate", open.host(), foreign, "does not accept the certificate in " + foreign.Cert},
		{"an expired certificate of ours", open.host(), expired, "has expired: renew it"},
		{"a key that others may read", open.host(), readable, "chmod g-w,o= " + readable.Key},
		{"a certificate without a file", open.host(), TLS{CA: "/nowhere/ca.pem"}, "/nowhere/ca.pem"},
		{"a file without a certificate", open.host(), TLS{CA: ours.files.Key}, "no certificate"},
		{"an engine that speaks no TLS", plain, ours.files, "it does not speak TLS"},
		{"nobody", "tcp://" + porttest.Address(t), ours.files, "nothing listens there: start it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := remoteBackend(t, Config{Host: c.host, TLS: c.files})
			err := b.Ready(t.Context())
			if c.says == "" && err == nil {
				return
			}
			if !errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), c.host) || strings.Contains(err.Error(), "\n") {
				t.Errorf("Ready says %v, want one sentence with %q that names the engine", err, c.says)
			}
		})
	}
}

func TestRenewedCertificatesAreReadAtTheNextConnection(t *testing.T) {
	old, renewed := newAuthority(t), newAuthority(t)
	relay := startRelayTLS(t, old.engine(t))
	b := remoteBackend(t, Config{Host: relay.host(), TLS: old.files})
	backendtest.Must(t, b.Ready(t.Context()))
	relay.stop()
	relay.certificates = renewed.engine(t)
	relay.start(t)
	if err := b.Ready(t.Context()); err == nil {
		t.Fatal("an engine with another authority's certificate is ready")
	}
	for from, to := range map[string]string{renewed.files.CA: old.files.CA, renewed.files.Cert: old.files.Cert,
		renewed.files.Key: old.files.Key} {
		backendtest.Must(t, os.Rename(from, to))
	}
	if err := b.Ready(t.Context()); err != nil {
		t.Errorf("with renewed files Ready says %v", err)
	}
}

func TestCertificatesAreFoundWhereOtherClientsFindThem(t *testing.T) {
	all := newAuthority(t)
	relay := startRelayTLS(t, all.engine(t))
	t.Setenv("DOCKER_HOST", relay.host())
	t.Setenv("DOCKER_CERT_PATH", filepath.Dir(all.files.CA))
	backendtest.NoError(t, remoteBackend(t, Config{}).Ready(t.Context()))
	others := newAuthority(t)
	t.Setenv("DOCKER_CERT_PATH", filepath.Dir(others.files.CA))
	b, err := New(Config{Image: testImage, Runner: backendtest.Runner(t)})
	backendtest.Must(t, err)
	if err := b.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without DOCKER_TLS_VERIFY any engine will do: %v", err)
	}
}

func TestAnEngineIsNotSpokenToInTheClearButOnThisMachine(t *testing.T) {
	t.Setenv("DOCKER_CERT_PATH", "")
	t.Setenv("DOCKER_TLS_VERIFY", "")
	for host, fine := range map[string]bool{
		"tcp://127.0.0.1:2375": true, "tcp://[::1]:2375": true, "tcp://localhost:2375": true, "tcp://127.0.0.1:2375/path": true,
		"tcp://engine:2375": false, "tcp://10.0.0.1:2375": false, "tcp://localhost.test:2375": false, "tcp://127.0.0.1.test:2375": false,
	} {
		cfg := Config{Host: host, Runner: "r"}
		_, err := New(cfg)
		if fine != (err == nil) || fine != (cfg.Check() == nil) {
			t.Errorf("New says %v and Check %v to %s", err, cfg.Check(), host)
		}
		if err != nil && !strings.Contains(err.Error(), "set tls with ca, cert and key") {
			t.Errorf("New says %v, want what to set", err)
		}
	}
}

func TestNothingOfThisMachineIsShownOnARemoteEngine(t *testing.T) {
	folder := t.TempDir()
	all := newAuthority(t)
	b := remoteBackend(t, Config{Host: startRelayTLS(t, all.engine(t)).host(), TLS: all.files, MountsAllowed: []string{folder}})
	shown := testSpec(t)
	shown.Mounts = []bailiff.Mount{{Source: folder, Target: "/data"}}
	bounded := testSpec(t)
	bounded.Workspace, bounded.DiskMB = "w", 64
	for field, spec := range map[string]backends.Spec{"mounts": shown, "disk_mb": bounded} {
		sandbox, err := b.Open(t.Context(), spec)
		if err == nil {
			sandbox.Close(context.Background())
		}
		backendtest.Fault(t, err, backends.ErrUnsupported, field+": ")
	}
	if files, err := os.ReadDir(b.cfg.StateDir); err == nil && len(files) > 0 {
		t.Errorf("%v was made for an engine that cannot see it", files)
	}
}

func TestASandboxWhoseEngineCannotBeReachedAnyMoreIsLost(t *testing.T) {
	all := newAuthority(t)
	relay := startRelayTLS(t, all.engine(t))
	b := remoteBackend(t, Config{Host: relay.host(), TLS: all.files})
	sandbox, err := b.Open(t.Context(), testSpec(t))
	backendtest.Must(t, err)
	defer func() { _ = sandbox.Close(context.Background()) }() // by its owner at the end, if not now
	ran := runForLong(sandbox)
	relay.stop()
	<-sandbox.Done()
	if err := <-ran; err == nil {
		t.Error("a command whose sandbox was lost ended well")
	}
}

// runForLong returns when the command runs.
func runForLong(sandbox backends.Sandbox) <-chan error {
	runs, ran := make(chan struct{}), make(chan error, 1)
	go func() {
		cmd := runner.Shell("echo; exec sleep 60")
		cmd.Timeout, cmd.HeadBytes = time.Minute, 1
		_, err := sandbox.Run(context.Background(), cmd, func([]byte) { close(runs) })
		ran <- err
	}()
	select {
	case <-runs:
	case err := <-ran:
		ran <- err
	}
	return ran
}

// remoteBackend is a backend whose owner's things are removed at the end.
func remoteBackend(t *testing.T, cfg Config) *Backend {
	t.Helper()
	testEngine(t)
	cfg.Runner, cfg.Image, cfg.Log, cfg.StateDir = backendtest.Runner(t), testImage, slog.New(slog.DiscardHandler), t.TempDir()
	b, err := New(cfg)
	backendtest.Must(t, err)
	t.Cleanup(func() { removeAll(t, owner(t)) })
	return b
}

// serveNothing answers with one line that is not TLS.
func serveNothing(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	backendtest.Must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			_, _ = conn.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\n"))
		}
	}()
	return listener.Addr().String()
}

// authority signs the certificates of an engine and of who may use it.
type authority struct {
	folder string
	own    tls.Certificate
	files  TLS
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{folder: t.TempDir()}
	a.own = a.issue(t, "authority", time.Hour)
	cert, key := a.write(t, "cert", a.issue(t, "client", time.Hour))
	ca, _ := a.write(t, "ca", a.own)
	for from, to := range map[string]string{cert: "cert.pem", key: "key.pem", ca: "ca.pem"} {
		backendtest.Must(t, os.Rename(from, filepath.Join(a.folder, to)))
	}
	a.files = TLS{filepath.Join(a.folder, "ca.pem"), filepath.Join(a.folder, "cert.pem"), filepath.Join(a.folder, "key.pem")}
	return a
}

// issue makes a certificate, the authority's own where it has none yet.
func (a *authority) issue(t testing.TB, name string, lasts time.Duration) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	backendtest.Must(t, err)
	about := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		DNSNames:  []string{name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(lasts), BasicConstraintsValid: true, IsCA: name == "authority",
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth,
			x509.ExtKeyUsageServerAuth}}
	if name == "engine" {
		about.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	}
	signer, by := about, any(key)
	if a.own.Leaf != nil {
		signer, by = a.own.Leaf, a.own.PrivateKey
	}
	text, err := x509.CreateCertificate(rand.Reader, about, signer, key.Public(), by)
	backendtest.Must(t, err)
	leaf, err := x509.ParseCertificate(text)
	backendtest.Must(t, err)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key, Leaf: leaf}
}

func (a *authority) write(t testing.TB, name string, c tls.Certificate) (cert, key string) {
	t.Helper()
	text, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	backendtest.Must(t, err)
	cert, key = filepath.Join(a.folder, name+".crt"), filepath.Join(a.folder, name+".key")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: c.Certificate[0]},
		key: {Type: "PRIVATE KEY", Bytes: text}} {
		backendtest.Must(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	}
	return cert, key
}

// engine is what an engine with --tlsverify shows and wants.
func (a *authority) engine(t testing.TB) *tls.Config {
	t.Helper()
	trusted := x509.NewCertPool()
	trusted.AddCert(a.own.Leaf)
	return &tls.Config{Certificates: []tls.Certificate{a.issue(t, "engine", time.Hour)}, ClientCAs: trusted,
		ClientAuth: tls.RequireAndVerifyClientCert}
}
