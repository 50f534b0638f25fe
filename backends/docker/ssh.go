package docker

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/bailiff-dev/bailiff/internal/network/remote"
)

// machine is where an engine that is reached by ssh runs.
func (c Config) machine(at location) (*remote.Host, error) {
	host, err := remote.To(c.SSH, at.host(), c.StateDir)
	if err != nil {
		return nil, fmt.Errorf("reaching the Docker engine at %s: %w (set it in ssh)", at, err)
	}
	return host, nil
}

// over makes a dialer to the engine's socket on a machine.
func over(host *remote.Host, at location) dialer {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := host.Open(ctx, "unix", at.socket())
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, context.Canceled):
			return nil, err
		}
		return nil, unreachable{fmt.Sprintf("%v: see that this user may log in there and open the socket, and that the engine runs", err),
			err}
	}
}
