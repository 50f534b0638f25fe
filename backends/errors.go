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
)
