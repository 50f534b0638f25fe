package enforcer

import (
	"context"

	"github.com/bailiff-dev/bailiff/backends"
)

func (*room) Start(context.Context, backends.Command, string) (backends.Process, error) {
	return nil, errBoom
}

func (*room) Processes(context.Context) ([]backends.Process, error) { return nil, nil }

func (*room) Converse(context.Context, backends.Command, backends.Listener) (backends.Dialogue, error) {
	return nil, errBoom
}
