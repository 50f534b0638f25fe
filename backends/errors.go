package backends

import "errors"

var (
	// ErrUnavailable wraps the reason why a backend cannot make a sandbox now.
	ErrUnavailable = errors.New("backend unavailable")
	// ErrUnsupported wraps what of a spec the technology cannot do, ever or on
	// this machine.
	ErrUnsupported = errors.New("backend cannot do this")
	// ErrNotStarted wraps a fault that came before the command was started.
	ErrNotStarted = errors.New("command not started")
	// ErrUnfit wraps, with ErrNotStarted, a fault of the command itself: its
	// folder or program is not there, or it is nothing that can be run.
	ErrUnfit = errors.New("command cannot be run")
	// ErrFull wraps, with ErrNotStarted, that the sandbox has no room for another
	// process now; it is well otherwise.
	ErrFull = errors.New("sandbox is full")
	// ErrSuperseded wraps, with ErrNotStarted, that a later run of the sidecar has the
	// sandbox, which is that one's to remove.
	ErrSuperseded = errors.New("sandbox is a later run's")
	// ErrOwnerUnknown wraps that a sandbox was not removed, since a later run of the sidecar may have it. A sweep by the run that
	// has the sidecar's name removes it.
	ErrOwnerUnknown = errors.New("sandbox may be a later run's")
)
