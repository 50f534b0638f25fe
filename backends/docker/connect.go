package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/client"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/remote"
)

// dialling is how long a connection may take to come about, certificates included.
const dialling = 10 * time.Second

// location is where an engine listens: on a socket of this machine, on a TCP port, or
// on a socket of another machine that is reached by ssh.
type location struct{ scheme, rest string }

func (l location) String() string { return l.scheme + "://" + l.rest }

// remote says that the engine need not be on this machine, so that its files are not
// this machine's: a loopback port may be a tunnel's.
func (l location) remote() bool { return l.scheme != "unix" }

const wantedAddresses = "want unix:///path, tcp://host:port or ssh://user@host"

func locate(host string) (location, error) {
	text := cmp.Or(host, os.Getenv(client.EnvOverrideHost), client.DefaultDockerHost)
	scheme, rest, _ := strings.Cut(text, "://")
	if scheme != "unix" && holdsPassword(strings.TrimPrefix(text, scheme+"://")) {
		return location{}, fmt.Errorf("reading the address of the Docker engine: %w", errPassword)
	}
	at := location{scheme, rest}
	if rest == "" || !slices.Contains([]string{"unix", "tcp", "ssh"}, scheme) {
		return at, fmt.Errorf("%s is no address of a Docker engine, %s", at, wantedAddresses)
	}
	var err error
	switch scheme {
	case "tcp":
		_, _, err = net.SplitHostPort(at.host())
	case "ssh":
		_, _, err = remote.Parse(at.host())
	}
	if err != nil {
		return at, fmt.Errorf("reading the address %s: %w", at, err)
	}
	return at, nil
}

// errPassword does not repeat the address.
var errPassword = errors.New("want an address without a password: log in by key, or by certificate where it is tcp://")

func holdsPassword(address string) bool {
	end := strings.LastIndex(address, "@")
	return end >= 0 && strings.Contains(address[:end], ":")
}

// host is a TCP address, or whom to log in as where, without the path that may follow.
func (l location) host() string {
	host, _, _ := strings.Cut(l.rest, "/")
	return host
}

// socket is the path of the engine's on its machine.
func (l location) socket() string {
	if l.scheme == "unix" {
		return l.rest
	}
	if _, path, _ := strings.Cut(l.rest, "/"); path != "" {
		return "/" + path
	}
	return strings.TrimPrefix(client.DefaultDockerHost, "unix://")
}

// spoken is the address as the engine's client is to know it, which calls a socket's
// engine by a name of its own.
func (l location) spoken() string {
	if l.scheme == "ssh" {
		return "unix://" + l.socket()
	}
	return l.String()
}

func (l location) loopback() bool {
	host, _, err := net.SplitHostPort(l.host())
	return err == nil && settings.IsLoopback(host)
}

// dialer is how a connection to the engine is made.
type dialer func(ctx context.Context) (net.Conn, error)

// dialer refuses a TCP port that a third party on the way could listen to, or answer in the
// place of: what runs in sandboxes and their variables travel there.
func (c Config) dialer(at location, machine *remote.Host) (dialer, error) {
	files := c.TLS.orFromEnv()
	switch {
	case at.scheme != "tcp" && c.TLS != (TLS{}):
		return nil, fmt.Errorf("tls is for an engine at tcp://host:port, not at %s", at)
	case at.scheme != "ssh" && c.SSH.IsSet():
		return nil, fmt.Errorf("ssh is for an engine at ssh://user@host, not at %s", at)
	case at.scheme == "unix":
		return at.dialSocket, nil
	case at.scheme == "ssh":
		return over(machine, at), nil
	case files != (TLS{}):
		return files.over(at), files.check()
	case !at.loopback():
		return nil, fmt.Errorf("the Docker engine at %s is spoken to without TLS: set tls with ca, cert and key, or DOCKER_CERT_PATH", at)
	}
	return at.dialPort, nil
}

func (l location) dialSocket(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: dialling}).DialContext(ctx, "unix", l.rest)
	if err != nil {
		return nil, unreachable{"start it, let this user open it, or set backends.docker.host", err}
	}
	return conn, nil
}

// dialPort has a peer that is gone noticed within half a minute: sandboxes there are
// lost, and each caller that waits for one is told.
func (l location) dialPort(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: dialling, Control: setKeepAlive,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}}
	conn, err := d.DialContext(ctx, "tcp", l.host())
	if err != nil {
		return nil, unreachable{reason(err) + ": start it, or set backends.docker.host", err}
	}
	return conn, nil
}

// reason is what the system said, without the addresses that stand in the sentence.
func reason(err error) string {
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there"
	case !errors.As(err, &op):
		return err.Error()
	case op.Timeout():
		return "it does not answer"
	}
	return fmt.Sprint(op.Err)
}

// unreachable says in words why there is no connection, and what to do. It shows the
// words to its own package only: the engine's client drops what it thinks it knows by
// the words of an error.
type unreachable struct {
	why   string
	cause error
}

func (unreachable) Error() string   { return "there is no connection" }
func (u unreachable) Unwrap() error { return u.cause }

// link is the way to an engine.
type link struct {
	at     location
	engine *client.Client
	// machine is where an engine runs that is reached by ssh, else nil.
	machine *remote.Host
}

// Close ends the connections. What runs in sandboxes is not ended by it.
func (l link) Close() error {
	err := l.engine.Close()
	if l.machine != nil {
		err = errors.Join(err, l.machine.Close())
	}
	return err
}

// connect makes the client of an engine; it does not connect yet. All connections, those
// of streams too, are made by one dialer: the client's own would wait without end for
// a stream by TLS.
func (c Config) connect() (l link, err error) {
	if l.at, err = locate(c.Host); err != nil {
		return l, err
	}
	if l.at.scheme == "ssh" {
		if l.machine, err = c.machine(l.at); err != nil {
			return l, err
		}
	}
	dial, err := c.dialer(l.at, l.machine)
	if err != nil {
		return l, err
	}
	transport := &http.Transport{
		DialContext:  func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConns: 6, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
	}
	l.engine, err = client.NewClientWithOpts(
		client.WithHost(l.at.spoken()),
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		client.WithVersionFromEnv(),
		client.WithAPIVersionNegotiation(),
	)
	if err != nil {
		return l, fmt.Errorf("reading the Docker engine's address: %w", err)
	}
	return l, nil
}
