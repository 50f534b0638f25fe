package peers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/bailiff-dev/bailiff/internal/host/trust/certificates"
)

const (
	// authorityLife is for how long an authority vouches.
	authorityLife = 10 * 365 * 24 * time.Hour
	// early is how much earlier than now a certificate holds, for clocks that are late.
	early = time.Hour
	// serialBits are those of a serial number, which none has twice.
	serialBits = 120
)

// Authority vouches for the sidecars of a fleet. Its certificate and its key are files of a folder.
type Authority struct {
	// Certificate and Key are the paths of its files.
	Certificate, Key string
	// Made says that it was not there before.
	Made bool

	folder string
	about  *x509.Certificate
	key    *ecdsa.PrivateKey
}

// OpenAuthority reads the authority of a folder, or makes one there where none is.
func OpenAuthority(folder string) (*Authority, error) {
	a := &Authority{Certificate: filepath.Join(folder, "peers-ca.pem"), Key: filepath.Join(folder, "peers-ca.key"), folder: folder}
	if free(a.Certificate) == nil && free(a.Key) == nil {
		a.Made = true
		return a, a.make()
	}
	pair, err := certificates.KeyPair(a.Certificate, a.Key)
	if err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	key, isOurs := pair.PrivateKey.(*ecdsa.PrivateKey)
	if a.about, err = x509.ParseCertificate(pair.Certificate[0]); err != nil {
		return nil, fmt.Errorf("reading the authority: %w", err)
	}
	if !isOurs || !a.about.IsCA {
		return nil, fmt.Errorf("%s is no authority that this command made", a.Certificate)
	}
	a.key = key
	return a, nil
}

func (a *Authority) make() (err error) {
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	if a.about, err = certificate("sidecars of bailiff", authorityLife); err != nil {
		return err
	}
	a.about.IsCA, a.about.KeyUsage = true, x509.KeyUsageCertSign
	a.about.MaxPathLenZero = true
	return a.sign(a.about, a.key, a.Certificate, a.Key)
}

// Peer is a sidecar that gets a certificate.
type Peer struct {
	// Name is the sidecar's, by which its files are called.
	Name string
	// Hosts are the names and addresses where others reach it.
	Hosts []string
}

// Issue makes the certificates of sidecars, and the keys to them. Where a file is there already nothing is made.
func (a *Authority) Issue(peers []Peer, life time.Duration) error {
	for _, p := range peers {
		for _, path := range a.files(p) {
			if err := free(path); err != nil {
				return err
			}
		}
	}
	for _, p := range peers {
		if err := a.issue(p, life); err != nil {
			return fmt.Errorf("making the certificate of %s: %w", p.Name, err)
		}
	}
	return nil
}

// files are where the certificate of a sidecar goes, and its key.
func (a *Authority) files(p Peer) [2]string {
	return [2]string{filepath.Join(a.folder, p.Name+".pem"), filepath.Join(a.folder, p.Name+".key")}
}

// issue makes a certificate by which a sidecar both asks others and answers them.
func (a *Authority) issue(p Peer, life time.Duration) error {
	about, err := certificate(p.Name, life)
	if err != nil {
		return err
	}
	if about.NotAfter.After(a.about.NotAfter) {
		return fmt.Errorf("it would last until %s, and the authority ends on %s", about.NotAfter.Format(time.DateOnly),
			a.about.NotAfter.Format(time.DateOnly))
	}
	about.KeyUsage = x509.KeyUsageDigitalSignature
	about.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, host := range p.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			about.IPAddresses = append(about.IPAddresses, ip)
		} else {
			about.DNSNames = append(about.DNSNames, host)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	files := a.files(p)
	return a.sign(about, key, files[0], files[1])
}

// certificate is what all of them have.
func certificate(name string, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-early),
		NotAfter: now.Add(life), BasicConstraintsValid: true}, nil
}

// sign writes a certificate that the authority vouches for, and its key.
func (a *Authority) sign(about *x509.Certificate, key *ecdsa.PrivateKey, certificateFile, keyFile string) error {
	signed, err := x509.CreateCertificate(rand.Reader, about, a.about, key.Public(), a.key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writeNew(keyFile, "PRIVATE KEY", secret); err != nil {
		return err
	}
	return writeNew(certificateFile, "CERTIFICATE", signed)
}

// writeNew writes a file that is not there yet, for its owner alone.
func writeNew(path, kind string, bytes []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(file, &pem.Block{Type: kind, Bytes: bytes}), file.Sync(), file.Close())
}

// free is nil if there is nothing of a name.
func free(path string) error {
	_, err := os.Lstat(path)
	if err == nil {
		return fmt.Errorf("%s is there already, and is left as it is: nothing was made", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
