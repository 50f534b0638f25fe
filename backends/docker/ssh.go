package docker

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/bailiff-dev/bailiff/internal/remote"
)

// SSH is how the machine of an engine is reached by ssh. Nothing has to be installed
// there: the connection ends at the engine's socket.
type SSH struct {
	// Keys are files of private keys, Agent is the socket of a program that holds
	// further ones; one of them is needed.
	Keys  []string
	Agent string
	// KnownHosts are files that name the machine's key.
	KnownHosts []string
	// Jump is another machine on the way, as user@host; empty means that there is none.
	Jump string
}

func (s SSH) dialer(at location) (dialer, error) {
	way, err := s.way(at.host())
	if err == nil && s.Jump != "" {
		var jump remote.Config
		jump, err = s.way(s.Jump)
		way.Jump = &jump
	}
	if err != nil {
		return nil, err
	}
	host, err := remote.New(way)
	if err != nil {
		return nil, fmt.Errorf("reaching the Docker engine at %s: %w (set it in backends.docker.ssh)", at, err)
	}
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := host.Open(ctx, "unix", at.socket())
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, context.Canceled):
			return nil, err
		}
		return nil, unreachable{fmt.Sprintf("%v: see that this user may log in there and open the socket, and that the engine runs", err), err}
	}, nil
}

func (s SSH) way(to string) (remote.Config, error) {
	user, address, err := remote.Parse(to)
	return remote.Config{Address: address, User: user, Keys: s.Keys, Agent: s.Agent, KnownHosts: s.KnownHosts}, err
}
