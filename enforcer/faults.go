package enforcer

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailiff-dev/bailiff"
)

// The faults that keep a request from a sandbox but are not the backend's.
var (
	errApproval = errors.New("approvals")
	errVariable = errors.New("variables")
	errFiles    = errors.New("files")
)

// noSandbox is the answer of a request that got no sandbox.
func (e *Enforcer) noSandbox(ctx context.Context, d bailiff.Decision, err error) answer {
	switch {
	case ctx.Err() != nil:
		return interrupted(d.Backend.Name)
	case errors.Is(err, errApproval):
		return failed(bailiff.Unavailable, bailiff.CodeApproval, err)
	case errors.As(err, new(taking)):
		return failed(bailiff.Unavailable, bailiff.CodeBackend, fmt.Errorf("%w before the command was started", err)).at(d.Backend.Name)
	case errors.Is(err, errNoProcess):
		return failed(bailiff.Failed, bailiff.CodeProcess, err)
	case errors.Is(err, errNoRoom), errors.Is(err, errProcesses):
		return failed(bailiff.Unavailable, bailiff.CodeLimit, err).at(d.Backend.Name)
	case errors.Is(err, errVariable), errors.Is(err, errFiles), errors.Is(err, errBeside):
		return failed(bailiff.Unavailable, bailiff.CodeCommand, err)
	case errors.Is(err, errOccupied):
		return failed(bailiff.Unavailable, bailiff.CodeOccupied, err).at(d.Backend.Name)
	case errors.As(err, new(unready)):
		return failed(bailiff.Unavailable, bailiff.CodeBackend, err).at(d.Backend.Name)
	}
	e.readiness.reprobe(d.Backend.Name)
	e.images.expire(d.Backend.Name)
	e.config.Log.ErrorContext(ctx, "opening a sandbox", "backend", d.Backend.Name, "error", err)
	return failed(bailiff.Unavailable, bailiff.CodeBackend, fmt.Errorf("opening a %s sandbox: %w", d.Backend.Name, err)).at(d.Backend.Name)
}
