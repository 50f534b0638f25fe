package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/host/trust"
)

// terms are what we want of a host and show it. What they hold open is let go by
// done.
func (c Config) terms(ctx context.Context) (terms *ssh.ClientConfig, done func(), err error) {
	known, err := c.known()
	if err != nil {
		return nil, nil, err
	}
	signers, done, err := c.signers(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &ssh.ClientConfig{
		User: c.User, ClientVersion: "SSH-2.0-bailiff", Auth: []ssh.AuthMethod{ssh.PublicKeys(signers...)},
		HostKeyAlgorithms: known.algorithms(c.Address), HostKeyCallback: known.check,
	}, done, nil
}

// signers are the keys of files, then those of the agent.
func (c Config) signers(ctx context.Context) (list []ssh.Signer, done func(), err error) {
	for _, path := range c.Keys {
		key, err := readKey(path)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the key %s: %w", path, err)
		}
		list = append(list, key)
	}
	if c.Agent == "" {
		return list, func() {}, nil
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", c.Agent)
	if err != nil {
		return nil, nil, fmt.Errorf("reaching the agent that holds keys: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	done = func() { stop(); conn.Close() }
	held, err := agent.NewClient(conn).Signers()
	if err != nil {
		done()
		return nil, nil, fmt.Errorf("asking the agent %s for its keys: %w", c.Agent, inTime(ctx, err))
	}
	return append(list, held...), done, nil
}

func readKey(path string) (ssh.Signer, error) {
	text, err := trust.Secret(path)
	if err != nil {
		return nil, err
	}
	key, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, errors.New("it has a passphrase: give it to an agent, and name the agent's socket")
	}
	if err != nil {
		return nil, fmt.Errorf("want a private key: %w", err)
	}
	return key, nil
}

func isKey(path string) error {
	if err := settings.IsSecret(path); err != nil {
		return err
	}
	_, err := readKey(path)
	return err
}

func isKnownHosts(path string) error {
	if err := settings.IsPublic(path); err != nil {
		return err
	}
	_, err := knownhosts.New(path)
	return err
}

// known are the hosts whose keys are known.
type known struct {
	cfg   Config
	files []string
	look  ssh.HostKeyCallback
}

func (c Config) known() (*known, error) {
	k := &known{cfg: c}
	for _, path := range append(slices.Clone(c.KnownHosts), c.TrustFirst) {
		_, err := trust.Public(path)
		switch {
		case path == "" || errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("reading known hosts: %w", err)
		}
		k.files = append(k.files, path)
	}
	look, err := knownhosts.New(k.files...)
	if err != nil {
		return nil, fmt.Errorf("reading known hosts: %w", err)
	}
	k.look = look
	return k, nil
}

// noKey is no host's key.
type noKey struct{ ssh.PublicKey }

func (noKey) Type() string    { return "" }
func (noKey) Marshal() []byte { return nil }

// wanted are the lines that speak of an address.
func (k *known) wanted(address string) []knownhosts.KnownKey {
	var unlike *knownhosts.KeyError
	if errors.As(k.look(address, &net.TCPAddr{}, noKey{}), &unlike) {
		return unlike.Want
	}
	return nil
}

// algorithms are those in which a host can show a key that is known: a host that has
// several shows the first of these.
func (k *known) algorithms(address string) (list []string) {
	all := ssh.SupportedAlgorithms().HostKeys
	isCertificate := func(name string) bool { return strings.Contains(name, "-cert-") }
	wanted := k.wanted(address)
	if len(wanted) == 0 {
		return slices.DeleteFunc(all, isCertificate)
	}
	for _, algorithm := range all {
		if slices.ContainsFunc(wanted, func(line knownhosts.KnownKey) bool {
			if isAuthority(line) {
				return isCertificate(algorithm)
			}
			return algorithm == line.Key.Type() || line.Key.Type() == ssh.KeyAlgoRSA && strings.HasPrefix(algorithm, "rsa-sha2-") &&
				!isCertificate(algorithm)
		}) {
			list = append(list, algorithm)
		}
	}
	return list
}

// isAuthority says whether a line names who vouches for hosts.
func isAuthority(line knownhosts.KnownKey) bool {
	text, err := os.ReadFile(line.Filename)
	if err != nil {
		return false
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if n == line.Line {
			return strings.HasPrefix(strings.TrimSpace(lines.Text()), "@cert-authority")
		}
	}
	return false
}

// check is nil if a host shows the key that it should.
func (k *known) check(address string, from net.Addr, key ssh.PublicKey) error {
	err := k.look(address, from, key)
	var unlike *knownhosts.KeyError
	var revoked *knownhosts.RevokedError
	switch {
	case errors.As(err, &revoked):
		return fmt.Errorf("its key %s is revoked by %s:%d", ssh.FingerprintSHA256(key), revoked.Revoked.Filename, revoked.Revoked.Line)
	case errors.As(err, &unlike) && len(unlike.Want) > 0:
		line := unlike.Want[0]
		return fmt.Errorf("it is not the host that is known: its key is %s, but %s:%d says %s; if that is meant, replace this line",
			ssh.FingerprintSHA256(key), line.Filename, line.Line, ssh.FingerprintSHA256(line.Key))
	case errors.As(err, &unlike) && k.cfg.TrustFirst != "":
		return k.trust(address, key)
	case errors.As(err, &unlike):
		return fmt.Errorf("it is an unknown host: no line of %s names it, and its key is %s; if that is right, add its line there "+
			"(ssh-keyscan writes it)",
			strings.Join(k.cfg.KnownHosts, ", "), ssh.FingerprintSHA256(key))
	}
	return err
}

// trusting is held while a key is added to a file.
var trusting sync.Mutex

// trust adds the key of a host that was never seen, unless it was seen meanwhile.
func (k *known) trust(address string, key ssh.PublicKey) error {
	trusting.Lock()
	defer trusting.Unlock()
	again, err := k.cfg.known()
	if err != nil {
		return err
	}
	if len(again.wanted(address)) > 0 {
		return again.look(address, &net.TCPAddr{}, key)
	}
	if err := note(k.cfg.TrustFirst, knownhosts.Line([]string{address}, key)); err != nil {
		return fmt.Errorf("noting the key of a host that is seen first: %w", err)
	}
	return nil
}

// note adds a line to a file and sees to it that it stays there.
func note(path, line string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(line + "\n")
	return errors.Join(err, file.Sync(), file.Close())
}
