package runner

import (
	"context"
	"errors"

	"github.com/bailiff-dev/bailiff/backends"
)

var errLiving = errors.New("the runner cannot do this yet")

// Start starts a command in the background, as [backends.Sandbox] says.
func (c *Client) Start(context.Context, backends.Command, string) (backends.Process, error) {
	return nil, errLiving
}

// Processes lists background commands, as [backends.Sandbox] says.
func (c *Client) Processes(context.Context) ([]backends.Process, error) { return nil, errLiving }

// Converse starts a command that talks, as [backends.Sandbox] says.
func (c *Client) Converse(context.Context, backends.Command, backends.Listener) (backends.Dialogue, error) {
	return nil, errLiving
}
