package enforcer

import (
	"context"
	"errors"
	"fmt"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/enforcer/answers"
	"github.com/bailiff-dev/bailiff/enforcer/guard"
	"github.com/bailiff-dev/bailiff/enforcer/lease"
	"github.com/bailiff-dev/bailiff/enforcer/process"
	"github.com/bailiff-dev/bailiff/enforcer/supply"
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
		return answer{Answer: answers.Interruption()}.at(d.Backend.Name)
	case errors.Is(err, errApproval):
		return failure(bailiff.Unavailable, bailiff.CodeApproval, err)
	case errors.As(err, new(lease.Evicted)):
		return failure(bailiff.Unavailable, bailiff.CodeBackend, fmt.Errorf("%w before the command was started", err)).at(d.Backend.Name)
	case errors.Is(err, process.ErrUnknown):
		return failure(bailiff.Failed, bailiff.CodeProcess, err)
	case errors.Is(err, lease.ErrNoRoom), errors.Is(err, process.ErrTooMany):
		return failure(bailiff.Unavailable, bailiff.CodeLimit, err).at(d.Backend.Name)
	case errors.Is(err, errVariable), errors.Is(err, errFiles), errors.Is(err, guard.ErrProtected), errors.Is(err, lease.ErrBeside):
		return failure(bailiff.Unavailable, bailiff.CodeCommand, err)
	case errors.Is(err, lease.ErrOccupied):
		return failure(bailiff.Unavailable, bailiff.CodeOccupied, err).at(d.Backend.Name)
	case errors.As(err, new(supply.Unready)):
		return failure(bailiff.Unavailable, bailiff.CodeBackend, err).at(d.Backend.Name)
	}
	e.leases.OpenFailed(d.Backend.Name)
	e.config.Log.ErrorContext(ctx, "opening a sandbox", "backend", d.Backend.Name, "error", err)
	return failure(bailiff.Unavailable, bailiff.CodeBackend, fmt.Errorf("opening a %s sandbox: %w", d.Backend.Name, err)).at(d.Backend.Name)
}
