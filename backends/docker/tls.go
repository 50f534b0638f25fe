package docker

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/host/trust/certificates"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// TLS are the files by which an engine on a TCP port and this sidecar know each other.
// They are read at each connection, so that they can be renewed.
type TLS struct {
	// CA holds the authorities that may have signed the engine's certificate; empty
	// means those that this machine trusts.
	CA string
	// Cert and Key are the sidecar's own.
	Cert, Key string
}

// orFromEnv are the files in the folder that other clients of the engine use, where
// none are configured. Whatever DOCKER_TLS_VERIFY says, the engine is verified.
func (f TLS) orFromEnv() TLS {
	folder := os.Getenv(client.EnvOverrideCertPath)
	if home, err := os.UserHomeDir(); err == nil && folder == "" && os.Getenv(client.EnvTLSVerify) != "" {
		folder = filepath.Join(home, ".docker")
	}
	if f != (TLS{}) || folder == "" {
		return f
	}
	return TLS{filepath.Join(folder, "ca.pem"), filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")}
}

func (f TLS) check() error {
	if (f.Cert == "") != (f.Key == "") {
		return errors.New("tls names one of cert and key, want both")
	}
	return nil
}

// over makes a dialer that shows each side the other's certificate.
func (f TLS) over(at location) dialer {
	return func(ctx context.Context) (net.Conn, error) {
		cfg, err := f.read()
		if err != nil {
			return nil, unreachable{err.Error(), err}
		}
		cfg.ServerName, _, _ = net.SplitHostPort(at.host())
		conn, err := at.dialPort(ctx)
		if err != nil {
			return nil, err
		}
		return f.shake(ctx, tls.Client(conn, cfg))
	}
}

func (f TLS) shake(ctx context.Context, conn *tls.Conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialling)
	defer cancel()
	if err := conn.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, unreachable{f.mistake(err), err}
	}
	return conn, nil
}

func (f TLS) read() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if cfg.RootCAs, err = httpapi.Roots(f.CA); err != nil {
		return nil, fmt.Errorf("reading backends.docker.tls.ca: %w", err)
	}
	if f.Cert == "" {
		return cfg, nil
	}
	own, err := pair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("reading backends.docker.tls.cert and key: %w", err)
	}
	cfg.Certificates = []tls.Certificate{*own}
	return cfg, nil
}

func pair(cert, key string) (*tls.Certificate, error) {
	own, err := certificates.KeyPair(cert, key)
	if err == nil && time.Now().After(own.Leaf.NotAfter) {
		err = fmt.Errorf("the certificate in %s has expired: renew it", cert)
	}
	return own, err
}

// isKey says what is wrong with a key, alone and, where that is well, with the
// certificate.
func (f TLS) isKey(path string) error {
	if err := settings.IsSecret(path); err != nil || settings.IsPublic(f.Cert) != nil {
		return err
	}
	_, err := pair(f.Cert, path)
	return err
}

// mistake says what is wrong with a certificate, and where it can be put right.
func (f TLS) mistake(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var plain tls.RecordHeaderError
	switch {
	case errors.As(err, &unknown):
		return fmt.Sprintf("its certificate is signed by nobody in %s: set backends.docker.tls.ca",
			cmp.Or(f.CA, "this machine's authorities"))
	case errors.As(err, &name), errors.As(err, &invalid):
		return fmt.Sprintf("its certificate is not good: %s", strings.TrimPrefix(reason(err), "tls: failed to verify certificate: "))
	case errors.As(err, &plain):
		return "it does not speak TLS"
	case refused(err):
		return f.refusal()
	}
	return reason(err)
}

// refused says that the engine ended the conversation since it did not want this
// sidecar's certificate. In TLS 1.3 that shows in the first answer only.
func refused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

func (f TLS) refusal() string {
	if f.Cert == "" {
		return "it wants to be shown a certificate: set backends.docker.tls.cert and key"
	}
	return fmt.Sprintf("it does not accept the certificate in %s: set backends.docker.tls.cert and key", f.Cert)
}
