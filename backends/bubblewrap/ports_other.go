//go:build !linux

package bubblewrap

import (
	"context"
	"errors"
	"syscall"
)

func openLowPorts(context.Context, int, *syscall.Credential) error { return errors.ErrUnsupported }
